//! The operator's resolvers: each an address, none twice.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use thiserror::Error;

/// As many as a job may ask for.
const RESOLVERS_MAX: usize = 16;
const PORT: u16 = 53;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resolver {
    pub address: SocketAddr,
}

/// Why a list of resolvers cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResolverError {
    #[error("no resolvers; name at least one")]
    None,
    /// More than any job asks for.
    #[error("{0} resolvers; name at most {RESOLVERS_MAX}")]
    TooMany(usize),
    #[error("{0:?} is not a resolver address: write 9.9.9.9, 10.0.0.1:5353 or [2620:fe::fe]:53")]
    NotAnAddress(String),
    #[error("resolver {0:?} is named twice and would count twice; remove one")]
    Twice(String),
}

pub(super) fn read(texts: &[String]) -> Result<Vec<Resolver>, ResolverError> {
    if texts.is_empty() {
        return Err(ResolverError::None);
    }
    if texts.len() > RESOLVERS_MAX {
        return Err(ResolverError::TooMany(texts.len()));
    }
    let mut known = BTreeSet::new();
    let mut resolvers = Vec::new();
    for text in texts {
        let address = address(text).ok_or_else(|| ResolverError::NotAnAddress(text.clone()))?;
        // One machine is one witness, also on two ports.
        if !known.insert(address.ip()) {
            return Err(ResolverError::Twice(text.clone()));
        }
        resolvers.push(Resolver { address });
    }
    Ok(resolvers)
}

fn address(text: &str) -> Option<SocketAddr> {
    let unbracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let parsed = match unbracketed.unwrap_or(text).parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, PORT),
        Err(_) => text.parse().ok()?,
    };
    let ip = plain(parsed.ip());
    // The unspecified address means this machine.
    let usable = !ip.is_unspecified() && !ip.is_multicast() && parsed.port() != 0;
    usable.then_some(SocketAddr::new(ip, parsed.port()))
}

/// The IPv4 address that an IPv6 one stands for: mapped, or translated by NAT64.
fn plain(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) => match v6.segments() {
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)).into()
            }
            _ => IpAddr::V6(v6),
        },
        v4 => v4,
    }
}

impl fmt::Display for Resolver {
    /// One spelling for one resolver; the usual port goes without saying.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address.port() {
            PORT => self.address.ip().fmt(f),
            _ => self.address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> Result<Vec<String>, ResolverError> {
        let texts: Vec<_> = texts.iter().map(|text| text.to_string()).collect();
        Ok(read(&texts)?.iter().map(Resolver::to_string).collect())
    }

    #[test]
    fn a_resolver_has_one_spelling() {
        let spelled = list(&["9.9.9.9:53", "10.0.0.1:5353", "[2620:FE:0::fe]", "2620:fe::9"]);
        assert_eq!(spelled.unwrap(), ["9.9.9.9", "10.0.0.1:5353", "2620:fe::fe", "2620:fe::9"]);
        assert_eq!(list(&["::ffff:9.9.9.9"]).unwrap(), ["9.9.9.9"]);
    }

    #[test]
    fn a_resolver_counts_once_however_it_is_spelled() {
        for twice in [
            ["9.9.9.9", "9.9.9.9"],
            ["9.9.9.9", "9.9.9.9:53"],
            ["9.9.9.9", "9.9.9.9:5353"],
            ["9.9.9.9", "::ffff:9.9.9.9"],
            ["9.9.9.9", "[::ffff:909:909]:53"],
            ["9.9.9.9", "64:ff9b::909:909"],
            ["2620:fe::fe", "2620:00fe:0:0::00fe"],
        ] {
            assert_eq!(list(&twice), Err(ResolverError::Twice(twice[1].into())));
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in
            ["", "dns.google", "9.9.9.9:", "9.9.9.9:0", "0.0.0.0", "::", "224.0.0.1", "[9.9.9.9"]
        {
            assert_eq!(list(&[text]), Err(ResolverError::NotAnAddress(text.into())));
        }
        assert_eq!(list(&[]), Err(ResolverError::None));
        assert_eq!(list(&["x"; 17]), Err(ResolverError::TooMany(17)));
    }
}
