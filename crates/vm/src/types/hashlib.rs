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
    ("_hashes", "sha1", sha1, ""),
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

/// SHA-1 (FIPS 180-4), for programs that name things by it; nothing of the chain's does.
fn sha1(vm: &mut Vm, args: Args) -> Outcome {
    let mut bytes = input(vm, args, cost::HASH_BLOCK)?;
    let bits = (bytes.len() as u64).wrapping_mul(8);
    bytes.push(0x80);
    while bytes.len() % 64 != 56 {
        bytes.push(0);
    }
    bytes.extend(bits.to_be_bytes());
    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for block in bytes.chunks_exact(64) {
        let mut words = [0u32; 80];
        for (word, part) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = part.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for at in 16..80 {
            let mixed = words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16];
            words[at] = mixed.rotate_left(1);
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (at, word) in words.iter().enumerate() {
            let (choice, constant) = match at / 20 {
                0 => (b & c | !b & d, 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => (b & c | b & d | c & d, 0x8f1b_bcdc_u32),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let next = a.rotate_left(5).wrapping_add(choice).wrapping_add(e);
            let next = next.wrapping_add(constant).wrapping_add(*word);
            (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
        }
        for (word, more) in state.iter_mut().zip([a, b, c, d, e]) {
            *word = word.wrapping_add(more);
        }
    }
    vm.bytes(state.iter().flat_map(|word| word.to_be_bytes()).collect())
}
