//! Randomness for keys, from the operating system.

use rand::rngs::SysRng;
use rand_core::{SeedableRng as _, TryRng as _};

/// A generator seeded by the operating system.
///
/// # Panics
/// If the operating system has no randomness: there are no keys without.
pub fn from_os() -> rand::rngs::StdRng {
    let mut seed = [0; 32];
    SysRng.try_fill_bytes(&mut seed).expect("the operating system has randomness");
    rand::rngs::StdRng::from_seed(seed)
}
