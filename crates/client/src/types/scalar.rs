//! Numbers and bytes as JSON can carry them.
//!
//! A JavaScript reader loses digits beyond 53 bits, so a number that may have more is written as a
//! decimal string: [`BigUint`] always, [`Uint`] from 2^53 on. Bytes, hashes and addresses are
//! `0x`-prefixed hex, lower case on the way out, any case on the way in.

use alloy_primitives::{Address, B256, hex};
use core::fmt;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::str::FromStr;
use thiserror::Error;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{OneOfBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The largest number that every JSON reader keeps.
pub const SAFE_MAX: u64 = (1 << 53) - 1;

/// Why a text is no number or no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ScalarError {
    /// Not a decimal number of the type.
    #[error("write an unsigned whole number below 2^{0}, in decimal digits")]
    NotANumber(u32),
    /// Not a place in a list of jobs.
    #[error("write a place as it stands in `next` of the page before, such as 12-0")]
    NotAPlace,
    /// An address in upper and lower case whose checksum does not hold.
    #[error(
        "the address is mistyped: its upper and lower case are a checksum, which does not hold"
    )]
    Checksum,
    #[error("write bytes as hex with 0x in front")]
    NoPrefix,
    /// Not hex, or an odd number of digits.
    #[error("after 0x there is something that is no pair of hex digits")]
    NotHex,
    #[error("write {0} bytes, that is 0x and {n} hex digits", n = 2 * .0)]
    WrongLength(usize),
}

/// Hex digits after 0x.
fn digits(text: &str) -> Result<&str, ScalarError> {
    text.strip_prefix("0x").ok_or(ScalarError::NoPrefix)
}

fn fixed<const N: usize>(text: &str) -> Result<[u8; N], ScalarError> {
    let digits = digits(text)?;
    if digits.len() != 2 * N {
        return Err(ScalarError::WrongLength(N));
    }
    let mut bytes = [0; N];
    hex::decode_to_slice(digits, &mut bytes).map_err(|_| ScalarError::NotHex)?;
    Ok(bytes)
}

fn plain_digits(text: &str) -> bool {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits && (text.len() == 1 || !text.starts_with('0'))
}

pub(super) fn string_schema(about: &str, pattern: &str) -> RefOr<Schema> {
    let object = ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
    object.description(Some(about)).pattern(Some(pattern)).build().into()
}

/// The traits of a type that is a string in JSON.
macro_rules! string_scalar {
    ($name:ident, $about:literal, $pattern:literal) => {
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text =
                    <::std::borrow::Cow<'de, str> as ::serde::Deserialize>::deserialize(from)?;
                text.parse().map_err(::serde::de::Error::custom)
            }
        }
        impl ::utoipa::PartialSchema for $name {
            fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                $crate::types::scalar::string_schema($about, $pattern)
            }
        }
        impl ::utoipa::ToSchema for $name {}
    };
}

pub(super) use string_scalar;

/// An address: 20 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexAddress(pub Address);
string_scalar!(HexAddress, "20 bytes as hex", "^0x[0-9a-fA-F]{40}$");

impl fmt::Display for HexAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not alloy's own form: that mixes upper and lower case as a checksum.
        write!(f, "0x{}", hex::encode(self.0))
    }
}
impl FromStr for HexAddress {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let address = Address::new(fixed(text)?);
        let digits = text.trim_start_matches("0x");
        let mixed = digits.bytes().any(|digit| digit.is_ascii_uppercase())
            && digits.bytes().any(|digit| digit.is_ascii_lowercase());
        // Mixed case is an EIP-55 checksum. A wrong one is a typing error that would misdirect money.
        if mixed && !address.to_checksum(None).ends_with(digits) {
            return Err(ScalarError::Checksum);
        }
        Ok(Self(address))
    }
}
impl From<Address> for HexAddress {
    fn from(address: Address) -> Self {
        Self(address)
    }
}

/// A hash, an identity key or a job's id: 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexHash(pub B256);
string_scalar!(HexHash, "32 bytes as hex", "^0x[0-9a-fA-F]{64}$");

impl fmt::Display for HexHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}
impl FromStr for HexHash {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        fixed(text).map(|bytes| Self(B256::new(bytes)))
    }
}
impl From<B256> for HexHash {
    fn from(hash: B256) -> Self {
        Self(hash)
    }
}

/// Any bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HexBytes(pub Vec<u8>);
string_scalar!(HexBytes, "bytes as hex", "^0x([0-9a-fA-F]{2})*$");

impl fmt::Display for HexBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(&self.0))
    }
}
impl FromStr for HexBytes {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let digits = digits(text)?;
        // The decoder would take a second prefix.
        if digits.starts_with("0x") {
            return Err(ScalarError::NotHex);
        }
        // What it allocates is half of what is there already.
        hex::decode(digits).map(Self).map_err(|_| ScalarError::NotHex)
    }
}
impl From<Vec<u8>> for HexBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

/// Where a job was submitted: the height, and its place among the submissions of that block. Later
/// ones are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobPlace {
    /// Height of the block.
    pub height: u64,
    /// Its number there.
    pub index: u32,
}
string_scalar!(JobPlace, "a height and a number, joined by a hyphen", "^[0-9]+-[0-9]+$");

impl fmt::Display for JobPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.height, self.index)
    }
}
impl FromStr for JobPlace {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let (height, index) = text.split_once('-').ok_or(ScalarError::NotAPlace)?;
        let index = plain_digits(index).then(|| index.parse().ok()).flatten();
        let Uint(height) = height.parse().map_err(|_| ScalarError::NotAPlace)?;
        Ok(Self { height, index: index.ok_or(ScalarError::NotAPlace)? })
    }
}

/// A number of up to 128 bits, always a decimal string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BigUint(pub u128);

impl fmt::Display for BigUint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl FromStr for BigUint {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let number = plain_digits(text).then(|| text.parse().ok()).flatten();
        number.map(Self).ok_or(ScalarError::NotANumber(128))
    }
}
impl Serialize for BigUint {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for BigUint {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        number_text(from)?.parse().map_err(D::Error::custom)
    }
}
impl PartialSchema for BigUint {
    fn schema() -> RefOr<Schema> {
        string_schema("an unsigned number below 2^128 in decimal digits", "^(0|[1-9][0-9]*)$")
    }
}
impl ToSchema for BigUint {}

/// A number of up to 64 bits: a JSON number, and a decimal string from 2^53 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uint(pub u64);

impl fmt::Display for Uint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl FromStr for Uint {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let number = plain_digits(text).then(|| text.parse().ok()).flatten();
        number.map(Self).ok_or(ScalarError::NotANumber(64))
    }
}
impl Serialize for Uint {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0 <= SAFE_MAX { to.serialize_u64(self.0) } else { to.collect_str(self) }
    }
}
impl<'de> Deserialize<'de> for Uint {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        number_text(from)?.parse().map_err(D::Error::custom)
    }
}
impl PartialSchema for Uint {
    fn schema() -> RefOr<Schema> {
        let number = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::Integer))
            .minimum(Some(0))
            .description(Some("up to 2^53 - 1"));
        let text = string_schema("from 2^53 on, in decimal digits", "^[1-9][0-9]{15,19}$");
        Schema::from(OneOfBuilder::new().item(number).item(text).build()).into()
    }
}
impl ToSchema for Uint {}

/// The digits of a number, whether it stands in quotes or not. Through `Value`, because numbers
/// reach a visitor in another shape when somebody in the build turns on `arbitrary_precision`.
pub(super) fn number_text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    match Value::deserialize(from)? {
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) => Ok(text),
        _ => Err(D::Error::custom("write a number, or its decimal digits as a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_both_cases_must_have_its_checksum() {
        let right = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        assert!(right.parse::<HexAddress>().is_ok());
        assert!(right.to_lowercase().parse::<HexAddress>().is_ok());
        let shouted = right.to_uppercase().replace("0X", "0x");
        assert!(shouted.parse::<HexAddress>().is_ok());
        let wrong = right.replace("5aA", "5AA").parse::<HexAddress>();
        assert_eq!(wrong, Err(ScalarError::Checksum));
    }
}
