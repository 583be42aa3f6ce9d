//! RecordCheck a DNS check claims, and whether it holds as one resolver sees it.

use super::ask::{NoAnswer, ask};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};
use remuda_protocol::verifier::check::VerifierCheck;
use std::net::SocketAddr;
use std::time::Duration;
use thiserror::Error;

/// CNAME records that are followed (CIP-2 §9.1.2).
const MAX_CNAME_HOPS: usize = 8;

/// A claim about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// Resolvers that have to be asked.
    pub least: u32,
    name: Name,
    what: RecordCheck,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RecordCheck {
    /// One of its TXT records is exactly this.
    Text(Vec<u8>),
    /// Its CNAME records lead to this name, which has none.
    EndsAt(Name),
}

/// A text that is no domain name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not an ASCII domain name")]
pub(super) struct NotAName(String);

impl Claim {
    /// RecordCheck a check claims, if it is about DNS.
    pub(super) fn of(check: &VerifierCheck) -> Result<Option<Self>, NotAName> {
        Ok(match check {
            VerifierCheck::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers } => {
                Some(Self {
                    least: *min_resolvers,
                    name: name(fqdn)?,
                    what: RecordCheck::Text(expected_value.clone().into_bytes()),
                })
            }
            VerifierCheck::DnsCnameMatch { fqdn, expected_target, min_resolvers } => Some(Self {
                least: *min_resolvers,
                name: name(fqdn)?,
                what: RecordCheck::EndsAt(name(expected_target)?),
            }),
            _ => None,
        })
    }

    /// Whether it holds, as a resolver sees it.
    pub(super) async fn holds(
        &self,
        resolver: SocketAddr,
        patience: Duration,
    ) -> Result<bool, NoAnswer> {
        match &self.what {
            RecordCheck::Text(expected) => {
                let records = ask(resolver, &self.name, RecordType::TXT, patience).await?;
                Ok(has_text(&records, &self.name, expected))
            }
            RecordCheck::EndsAt(target) => self.ends_at(target, resolver, patience).await,
        }
    }

    /// Follows the chain, asking for one link at a time: an answer may hold as much of it as the
    /// resolver likes.
    async fn ends_at(
        &self,
        target: &Name,
        resolver: SocketAddr,
        patience: Duration,
    ) -> Result<bool, NoAnswer> {
        let mut passed: Vec<Name> = Vec::new();
        let mut here = self.name.clone();
        while passed.len() <= MAX_CNAME_HOPS {
            let records = ask(resolver, &here, RecordType::CNAME, patience).await?;
            let next = match link(&records, &here) {
                Link::To(next) => next,
                Link::End => return Ok(!passed.is_empty() && here == *target),
                Link::Torn => return Ok(false),
            };
            passed.push(here);
            if passed.contains(&next) {
                return Ok(false);
            }
            here = next;
        }
        Ok(false)
    }
}

/// A name, with or without its last dot. Escapes would be further spellings of it.
fn name(text: &str) -> Result<Name, NotAName> {
    let refuse = || NotAName(text.to_owned());
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    if !text.bytes().all(plain) || text.trim_end_matches('.').is_empty() {
        return Err(refuse());
    }
    let mut name = Name::from_ascii(text).map_err(|_| refuse())?;
    name.set_fqdn(true);
    Ok(name)
}

/// Whether a TXT record at a name, or where the answer says that the name leads, is exactly some
/// bytes. The strings of one record are one text.
fn has_text(records: &[Record], name: &Name, expected: &[u8]) -> bool {
    let mut here = name.clone();
    for _ in 0..MAX_CNAME_HOPS {
        match link(records, &here) {
            Link::To(next) => here = next,
            Link::End => break,
            Link::Torn => return false,
        }
    }
    at(records, &here).any(|data| match data {
        RData::TXT(text) => text.txt_data.concat() == expected,
        _ => false,
    })
}

enum Link {
    End,
    To(Name),
    /// Several CNAME records, which are invalid and ambiguous.
    Torn,
}

fn link(records: &[Record], name: &Name) -> Link {
    let mut aliases = at(records, name).filter_map(|data| match data {
        RData::CNAME(target) => Some(&target.0),
        _ => None,
    });
    match aliases.next() {
        None => Link::End,
        Some(first) if aliases.all(|other| other == first) => Link::To(first.clone()),
        Some(_) => Link::Torn,
    }
}

fn at<'a>(records: &'a [Record], name: &'a Name) -> impl Iterator<Item = &'a RData> {
    let here = move |record: &&Record| record.dns_class == DNSClass::IN && record.name == *name;
    records.iter().filter(here).map(|record| &record.data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_whatever_their_capitals_and_last_dot() {
        assert_eq!(name("WWW.Example.com").unwrap(), name("www.example.COM.").unwrap());
        assert_eq!(name("_acme-challenge.x_.example").unwrap().num_labels(), 3);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let long = "a".repeat(64) + ".example";
        let longer = "a.".repeat(128);
        for text in ["", ".", "..", "a..b", ".a", "a b", "ä.example", "a\\046b", &long, &longer] {
            assert_eq!(name(text), Err(NotAName(text.into())), "{text}");
        }
    }
}
