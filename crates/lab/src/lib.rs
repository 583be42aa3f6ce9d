//! What developers of Remuda measure and simulate with; users need none of it.
//!
//! - [`mod@bench`]: `remuda-lab bench`, figures beside the plain way of doing the same
//! - [`sim`]: `remuda-lab sim`, over [`consensus`]: whole networks from one seed, on a simulated network
//! - [`machine`]: networks on this machine's own clock and disks

pub mod bench;
pub mod consensus;
pub mod machine;
pub mod sim;
