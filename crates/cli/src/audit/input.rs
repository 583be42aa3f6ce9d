//! Reading a topic's input: kinds, lengths and ranges, with the path of whatever is wrong.

use super::Failure;
use alloy_primitives::hex;
use remuda_protocol::primitives::{Address, B256};
use serde_json::Value;
use std::collections::BTreeSet;

/// JSON numbers are exact below this in every reader; larger ones are written as strings.
const NUMBER_END: u128 = 1 << 53;

/// A value and its place in the document.
pub(super) struct Node<'a> {
    path: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { path: String::new(), value }
    }

    /// A failure at this place.
    pub(super) fn invalid(&self, what: impl std::fmt::Display) -> Failure {
        let path = if self.path.is_empty() { "the document" } else { &self.path };
        Failure::invalid(format!("{path}: {what}"))
    }

    /// The member of that name, which must be there.
    pub(super) fn get(&self, name: &str) -> Result<Node<'a>, Failure> {
        self.member(name)?.ok_or_else(|| self.invalid(format_args!("member {name:?} is missing")))
    }

    /// The member of that name, if it is there.
    pub(super) fn member(&self, name: &str) -> Result<Option<Node<'a>>, Failure> {
        let members = self.value.as_object().ok_or_else(|| self.invalid("must be an object"))?;
        Ok(members.get(name).map(|value| self.child(name, value)))
    }

    /// This value, unless it is null.
    pub(super) fn non_null(self) -> Option<Node<'a>> {
        (!self.value.is_null()).then_some(self)
    }

    /// The items of a list.
    pub(super) fn list(&self) -> Result<Vec<Node<'a>>, Failure> {
        let items = self.value.as_array().ok_or_else(|| self.invalid("must be a list"))?;
        let item = |(i, value)| Node { path: format!("{}[{i}]", self.path), value };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// The items of a list, each read by `read`.
    pub(super) fn each<T>(
        &self,
        read: impl Fn(&Node<'a>) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        self.list()?.iter().map(read).collect()
    }

    /// The members of an object, names and values.
    pub(super) fn members(&self) -> Result<Vec<(&'a str, Node<'a>)>, Failure> {
        let members = self.value.as_object().ok_or_else(|| self.invalid("must be an object"))?;
        Ok(members.iter().map(|(name, value)| (name.as_str(), self.child(name, value))).collect())
    }

    pub(super) fn text(&self) -> Result<&'a str, Failure> {
        self.value.as_str().ok_or_else(|| self.invalid("must be a string"))
    }

    /// A text that names one of a few things.
    pub(super) fn one_of<T: Copy>(&self, what: &str, named: &[(&str, T)]) -> Result<T, Failure> {
        let text = self.text()?;
        let found = named.iter().find(|(name, _)| *name == text);
        found.map(|(_, thing)| *thing).ok_or_else(|| {
            let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
            self.no_such(what, text, &names)
        })
    }

    /// A failure at this place: a name that nothing has, and the names that there are.
    pub(super) fn no_such(&self, what: &str, name: &str, allowed: &[&str]) -> Failure {
        self.invalid(format_args!("no {what} is called {name:?}; allowed: {}", allowed.join(", ")))
    }

    /// true or false.
    pub(super) fn flag(&self) -> Result<bool, Failure> {
        self.value.as_bool().ok_or_else(|| self.invalid("must be true or false"))
    }

    /// A whole number that is not negative: kinds `int` and `dec`. The type decides the width.
    pub(super) fn uint<T: TryFrom<u128>>(&self) -> Result<T, Failure> {
        let number = match self.value {
            Value::Number(number) => {
                digits(&number.to_string()).filter(|number| *number < NUMBER_END)
            }
            Value::String(text) => digits(text),
            _ => None,
        };
        let number = number.ok_or_else(|| {
            self.invalid("must be a whole number, written as a decimal string if it is 2^53 or more, and below 2^128")
        })?;
        T::try_from(number).map_err(|_| {
            let bits = 8 * size_of::<T>();
            self.invalid(format_args!("{number} does not fit into {bits} bits"))
        })
    }

    /// A whole number within bounds, both included.
    pub(super) fn uint_in<T>(&self, min: T, max: T) -> Result<T, Failure>
    where
        T: TryFrom<u128> + PartialOrd + std::fmt::Display,
    {
        let number = self.uint::<T>()?;
        if number < min || number > max {
            return Err(self.invalid(format_args!("{number} is not within {min} … {max}")));
        }
        Ok(number)
    }

    /// Bytes of any length.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, Failure> {
        bytes(self.text()?)
            .ok_or_else(|| self.invalid("must be 0x and an even number of lower-case hex digits"))
    }

    /// Bytes of exactly this length.
    pub(super) fn array<const N: usize>(&self) -> Result<[u8; N], Failure> {
        let bytes = self.bytes()?;
        let length = bytes.len();
        bytes
            .try_into()
            .map_err(|_| self.invalid(format_args!("must have {N} bytes, but has {length}")))
    }

    pub(super) fn address(&self) -> Result<Address, Failure> {
        self.array().map(Address::new)
    }

    pub(super) fn hash(&self) -> Result<B256, Failure> {
        self.array().map(B256::new)
    }

    /// Refuses a list that holds a thing twice.
    pub(super) fn distinct<T: Ord>(
        &self,
        things: impl IntoIterator<Item = T>,
        what: &str,
    ) -> Result<(), Failure> {
        let mut seen = BTreeSet::new();
        match things.into_iter().all(|thing| seen.insert(thing)) {
            true => Ok(()),
            false => Err(self.invalid(format_args!("holds the same {what} twice"))),
        }
    }

    fn child(&self, name: &str, value: &'a Value) -> Node<'a> {
        let path =
            if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Node { path, value }
    }
}

/// An address that is the name of a member.
pub(super) fn address_name(node: &Node<'_>, name: &str) -> Result<Address, Failure> {
    let bytes = bytes(name).and_then(|bytes| <[u8; 20]>::try_from(bytes).ok());
    bytes
        .map(Address::new)
        .ok_or_else(|| node.invalid("its name must be an address: 0x and 40 lower-case hex digits"))
}

/// Digits only and no needless zeros: the one way to write a number.
fn digits(text: &str) -> Option<u128> {
    let plain =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    let plain = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    // The decoder would take a second prefix.
    plain.then(|| hex::decode(digits).ok()).flatten()
}

/// Kind `dec` in output.
pub(super) fn dec(number: impl std::fmt::Display) -> Value {
    Value::String(number.to_string())
}

pub(super) fn hex_text(bytes: impl AsRef<[u8]>) -> String {
    hex::encode_prefixed(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uint<T: TryFrom<u128>>(json: &str) -> Option<T> {
        let value: Value = serde_json::from_str(json).expect("the test writes JSON");
        Node::root(&value).uint().ok()
    }

    #[test]
    fn whole_numbers_come_as_numbers_or_strings() {
        assert_eq!(uint::<u64>("0"), Some(0));
        assert_eq!(uint::<u64>("\"0\""), Some(0));
        assert_eq!(uint::<u64>("9007199254740991"), Some((1 << 53) - 1));
        assert_eq!(uint::<u64>("\"18446744073709551615\""), Some(u64::MAX));
        assert_eq!(uint::<u128>("\"340282366920938463463374607431768211455\""), Some(u128::MAX));
    }

    #[test]
    fn numbers_that_other_readers_round_are_refused() {
        assert_eq!(uint::<u64>("9007199254740992"), None);
        assert_eq!(uint::<u128>("1e3"), None);
        assert_eq!(uint::<u128>("1.0"), None);
    }

    #[test]
    fn odd_spellings_are_refused() {
        for json in [
            "\"\"", "\"+1\"", "\"-1\"", "-1", "\" 1\"", "\"01\"", "\"0x1\"", "\"1_0\"", "true",
            "null", "[1]",
        ] {
            assert_eq!(uint::<u128>(json), None, "{json}");
        }
    }

    #[test]
    fn type_decides_the_width() {
        assert_eq!(uint::<u32>("4294967295"), Some(u32::MAX));
        assert_eq!(uint::<u32>("4294967296"), None);
        assert_eq!(uint::<u64>("\"18446744073709551616\""), None);
        assert_eq!(uint::<u128>("\"340282366920938463463374607431768211456\""), None);
    }

    #[test]
    fn bytes_are_lower_case_hex_with_one_prefix() {
        assert_eq!(bytes("0x"), Some(vec![]));
        assert_eq!(bytes("0x00ff"), Some(vec![0, 255]));
        for text in ["", "00", "0X00", "0xFF", "0x0", "0x0x00", "0xgg", " 0x00"] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
