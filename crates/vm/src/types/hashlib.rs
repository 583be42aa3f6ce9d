//! Hashes and base64: bytes in, bytes out. The objects around them are the prelude's.

use crate::cost;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("_hashes", "sha256", sha256, ""),
    ("_hashes", "keccak256", keccak256, ""),
    ("_hashes", "sha3_256", sha3_256, ""),
];

fn input(vm: &mut Vm, args: Args) -> Result<Vec<u8>, Fault> {
    let [data] = vm.take(args, "hash", ["data"], 1)?;
    let Some(bytes) = vm.byte_vec(data) else {
        return Err(vm.type_error("Strings must be encoded before hashing"));
    };
    vm.charge((bytes.len() as u64 / 64 + 2) * cost::HASH_BLOCK)?;
    Ok(bytes)
}

fn sha256(vm: &mut Vm, args: Args) -> Outcome {
    use sha2::Digest;
    let bytes = input(vm, args)?;
    let digest = sha2::Sha256::digest(&bytes).to_vec();
    vm.bytes(digest)
}

fn keccak256(vm: &mut Vm, args: Args) -> Outcome {
    use sha3::Digest;
    let bytes = input(vm, args)?;
    let digest = sha3::Keccak256::digest(&bytes).to_vec();
    vm.bytes(digest)
}

fn sha3_256(vm: &mut Vm, args: Args) -> Outcome {
    use sha3::Digest;
    let bytes = input(vm, args)?;
    let digest = sha3::Sha3_256::digest(&bytes).to_vec();
    vm.bytes(digest)
}
