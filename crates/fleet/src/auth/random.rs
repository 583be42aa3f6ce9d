//! Secure randomness.

use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};

/// `N` random bytes, in hex.
///
/// # Panics
///
/// If the system has no randomness: nothing could be secret then.
pub fn random_hex<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    SystemRandom::new().fill(&mut bytes).expect("the system has randomness");
    HEXLOWER.encode(&bytes)
}

/// A new id: the prefix and 128 random bits.
pub fn random_id<T, E: std::fmt::Debug>(prefix: &str, new: impl Fn(&str) -> Result<T, E>) -> T {
    new(&format!("{prefix}{}", random_hex::<16>())).expect("a prefix and hex digits are an id")
}
