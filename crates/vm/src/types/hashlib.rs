//! Hashes and base64: bytes in, bytes out. The objects around them are the prelude's.

use crate::cost;
use crate::heap::object::Obj;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("_hashes", "sha256", sha256, ""),
    ("_hashes", "keccak256", keccak256, ""),
    ("_hashes", "sha3_256", sha3_256, ""),
    ("_hashes", "md5", |vm, args| digest::<md5::Md5>(vm, args, cost::HASH_BLOCK), ""),
    ("_hashes", "sha224", |vm, args| digest::<sha2::Sha224>(vm, args, cost::HASH_BLOCK), ""),
    ("_hashes", "sha384", |vm, args| digest::<sha2::Sha384>(vm, args, cost::HASH_BLOCK), ""),
    ("_hashes", "sha512", |vm, args| digest::<sha2::Sha512>(vm, args, cost::HASH_BLOCK), ""),
    ("_hashes", "sha3_224", |vm, args| digest::<sha3::Sha3_224>(vm, args, cost::SHA3_BLOCK), ""),
    (
        "_hashes",
        "sha3_384",
        |vm, args| digest::<sha3::Sha3_384>(vm, args, 2 * cost::SHA3_BLOCK),
        "",
    ),
    (
        "_hashes",
        "sha3_512",
        |vm, args| digest::<sha3::Sha3_512>(vm, args, 2 * cost::SHA3_BLOCK),
        "",
    ),
];

/// The bytes, paid for at so much for each 64 of them.
fn input(vm: &mut Vm, args: Args, block: u64) -> Result<Vec<u8>, Fault> {
    let [data] = vm.take(args, "hash", ["data"], 1)?;
    let length = match vm.obj(vm.inner(data)) {
        Some(Obj::Bytes(bytes)) => bytes.len(),
        Some(Obj::ByteArray(bytes)) => bytes.len(),
        _ => return Err(vm.type_error("Strings must be encoded before hashing")),
    };
    vm.charge((length as u64 / 64 + 2) * block)?;
    Ok(vm.byte_vec(data).unwrap_or_default())
}

fn sha256(vm: &mut Vm, args: Args) -> Outcome {
    use sha2::Digest;
    let bytes = input(vm, args, cost::HASH_BLOCK)?;
    let digest = sha2::Sha256::digest(&bytes).to_vec();
    vm.bytes(digest)
}

/// The chain's own: seven times as fast as the other's.
fn keccak256(vm: &mut Vm, args: Args) -> Outcome {
    let bytes = input(vm, args, cost::HASH_BLOCK)?;
    let digest = remuda_protocol::primitives::keccak256(&bytes);
    vm.bytes(digest.to_vec())
}

fn sha3_256(vm: &mut Vm, args: Args) -> Outcome {
    use sha3::Digest;
    let bytes = input(vm, args, cost::SHA3_BLOCK)?;
    let digest = sha3::Sha3_256::digest(&bytes).to_vec();
    vm.bytes(digest)
}

fn digest<D: sha2::Digest>(vm: &mut Vm, args: Args, block: u64) -> Outcome {
    let bytes = input(vm, args, block)?;
    let digest = D::digest(&bytes).to_vec();
    vm.bytes(digest)
}
