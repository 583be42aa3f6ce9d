//! Hashes. Those of numbers, of tuples and frozensets of them and the like are CPython's, as the order of
//! sets follows from them. What needs a program's own `__hash__` is done by the prelude.

use num_bigint::BigInt;

use super::Vm;
use super::fault::Fault;
use super::iter::range_len;
use crate::cost;
use crate::heap::dict::{hash_bytes, mix};
use crate::heap::object::Obj;
use crate::heap::types::name;
use crate::heap::value::{Handle, Value};
use crate::limits::NESTING_MAX;

/// Python's numbers hash to their value modulo this prime.
const MODULUS: u64 = (1 << 61) - 1;
const NONE: u64 = 0x5eed;

pub(crate) fn hash_int(value: i64) -> u64 {
    let hash = (value.unsigned_abs() % MODULUS) as i64;
    let hash = if value < 0 { -hash } else { hash };
    (if hash == -1 { -2 } else { hash }) as u64
}

pub(crate) fn hash_big(value: &BigInt) -> u64 {
    // A limb up is a factor of 2^64, which is 8 modulo the prime.
    let step = |rest: u64, limb: u64| reduced(u128::from(rest) * 8 + u128::from(limb));
    let rest = value.magnitude().iter_u64_digits().rev().fold(0, step);
    signed_hash(rest, value.sign() == num_bigint::Sign::Minus)
}

/// Modulo the prime, below which 2^61 is one.
fn reduced(value: u128) -> u64 {
    let folded = (value & u128::from(MODULUS)) + (value >> 61);
    let folded = (folded & u128::from(MODULUS)) + (folded >> 61);
    folded as u64 % MODULUS
}

fn signed_hash(rest: u64, negative: bool) -> u64 {
    let hash = if negative { -(rest as i64) } else { rest as i64 };
    (if hash == -1 { -2 } else { hash }) as u64
}

fn hash_float(value: f64) -> u64 {
    if value.is_nan() {
        return mix(value.to_bits()) >> 3;
    }
    if value.is_infinite() {
        return if value > 0.0 { 314_159 } else { (-314_159i64) as u64 };
    }
    if value.abs() < 9e18 && libm::trunc(value) == value {
        return hash_int(value as i64);
    }
    // A mantissa and a power of two, of which every 61st is one.
    let bits = value.to_bits();
    let (mantissa, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) as i64 & 0x7ff);
    let (mantissa, exponent) =
        if exponent == 0 { (mantissa, 1) } else { (mantissa | 1 << 52, exponent) };
    let rest = reduced(u128::from(mantissa) << (exponent - 1075).rem_euclid(61));
    signed_hash(rest, value < 0.0)
}

/// The hash of a tuple on its way, and how many items it has seen.
struct TupleHash(u64, u64);

const TUPLE_PRIMES: [u64; 3] =
    [11_400_714_785_074_694_791, 14_029_467_366_897_019_727, 2_870_177_450_012_600_261];

impl TupleHash {
    fn new() -> Self {
        Self(TUPLE_PRIMES[2], 0)
    }

    fn item(&mut self, hash: u64) {
        let mixed = self.0.wrapping_add(hash.wrapping_mul(TUPLE_PRIMES[1]));
        self.0 = mixed.rotate_left(31).wrapping_mul(TUPLE_PRIMES[0]);
        self.1 += 1;
    }

    fn end(self) -> u64 {
        match self.0.wrapping_add(self.1 ^ (TUPLE_PRIMES[2] ^ 3_527_539)) {
            u64::MAX => 1_546_275_796,
            hash => hash,
        }
    }
}

/// The hash of a tuple, from those of its items.
pub(crate) fn hash_tuple(items: impl Iterator<Item = u64>) -> u64 {
    let mut all = TupleHash::new();
    items.for_each(|hash| all.item(hash));
    all.end()
}

/// The hash of a frozenset, from those of its items in any order.
pub(crate) fn hash_frozen(items: impl ExactSizeIterator<Item = u64>) -> u64 {
    let spread = |hash: u64| ((hash ^ 89_869_747) ^ (hash << 16)).wrapping_mul(3_644_798_167);
    let count = (items.len() as u64 + 1).wrapping_mul(1_927_868_237);
    let all = items.fold(0, |all, hash| all ^ spread(hash)) ^ count;
    let all = all ^ (all >> 11) ^ (all >> 25);
    match all.wrapping_mul(69_069).wrapping_add(907_133_923) {
        u64::MAX => 590_923_713,
        hash => hash,
    }
}

impl Vm {
    /// The hash of a value that needs no Python code.
    pub(crate) fn hash(&mut self, value: Value, depth: usize) -> Result<u64, Fault> {
        Ok(match value {
            Value::Int(int) => hash_int(int),
            Value::Bool(bool) => u64::from(bool),
            Value::Float(float) => hash_float(float),
            Value::Unbound | Value::None => NONE,
            Value::NotImplemented => 0x5eee,
            Value::Ellipsis => 0x5eef,
            Value::Native(id) => mix(u64::from(id)) >> 3,
            Value::Ref(handle) => match self.heap.get(handle) {
                Obj::Str(text) => text.hash,
                Obj::Big(big) => {
                    let (hash, limbs) = (hash_big(big), super::number::limbs(big));
                    self.charge(cost::limbs(limbs))?;
                    hash
                }
                Obj::Bytes(bytes) => {
                    let (hash, length) = (hash_bytes(bytes) >> 3, bytes.len());
                    self.charge(crate::cost::bytes(length))?;
                    hash
                }
                Obj::Tuple(items) => {
                    let count = items.len();
                    return self.hash_items(count, depth, |vm, place| vm.item_at(handle, place));
                }
                Obj::FrozenSet(set) => {
                    self.charge(set.len() as u64)?;
                    self.frozen_hash(handle)
                }
                Obj::Instance(instance) => {
                    let (payload, serial) = (instance.payload, instance.serial);
                    let class = instance.class;
                    return self.hash_instance(class, payload, serial, depth);
                }
                Obj::Exception(exception) => mix(exception.serial) >> 3,
                Obj::List(_) | Obj::Dict(_) | Obj::Set(_) | Obj::ByteArray(_) | Obj::Slice(_) => {
                    let kind = self.type_name(value);
                    return Err(self.type_error(format!("unhashable type: '{kind}'")));
                }
                Obj::Range { start, stop, step } => {
                    // Equal ranges have the same numbers, however they were written.
                    let length = range_len(*start, *stop, *step);
                    let start = if length > 0 { hash_int(*start) } else { NONE };
                    let step = if length > 1 { hash_int(*step) } else { NONE };
                    hash_tuple([length % MODULUS, start, step].into_iter())
                }
                Obj::Method { function, receiver } => {
                    let (function, receiver) = (*function, *receiver);
                    let parts = [function, receiver];
                    return self.hash_items(2, depth, |_, place| parts.get(place).copied());
                }
                // Objects without contents to hash.
                _ => mix(self.heap.identity(handle)) >> 3,
            },
        })
    }

    fn frozen_hash(&self, handle: Handle) -> u64 {
        match self.heap.get(handle) {
            Obj::FrozenSet(set) => hash_frozen(set.hashes()),
            _ => 0,
        }
    }

    fn hash_items(
        &mut self,
        count: usize,
        depth: usize,
        item: impl Fn(&Vm, usize) -> Option<Value>,
    ) -> Result<u64, Fault> {
        if depth > NESTING_MAX {
            return Err(self.too_deep(" while hashing"));
        }
        self.charge(2 + count as u64)?;
        let mut all = TupleHash::new();
        for place in 0..count {
            let Some(item) = item(self, place) else { break };
            all.item(self.hash(item, depth + 1)?);
        }
        Ok(all.end())
    }

    fn hash_instance(
        &mut self,
        class: Handle,
        payload: Value,
        serial: u64,
        depth: usize,
    ) -> Result<u64, Fault> {
        match self.class_attr(class, name::HASH) {
            Some(Value::Native(_)) | None => {}
            Some(Value::None) => {
                let kind = self.class_name(class);
                return Err(self.type_error(format!("unhashable type: '{kind}'")));
            }
            Some(_) => return Err(Fault::Fallback),
        }
        if payload.is_unbound() { Ok(mix(serial) >> 3) } else { self.hash(payload, depth + 1) }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::{MODULUS, hash_big, hash_float, hash_int};

    #[test]
    fn large_numbers_hash_to_their_value_modulo_the_prime() {
        let mut big = BigInt::from(1);
        for step in 0u64..2_000 {
            big = (&big * (step | 3) + step * 77) % (BigInt::from(1) << 4_096u32);
            for value in [big.clone(), -big.clone()] {
                let rest: i64 = (&value % MODULUS).try_into().unwrap();
                assert_eq!(hash_big(&value), hash_int(rest), "{value}");
            }
        }
        for exponent in 63..1_024 {
            let float = libm::scalbn(1.75, exponent);
            let big = BigInt::from(7) << (exponent - 2) as u32;
            assert_eq!(hash_float(float), hash_big(&big), "2^{exponent}");
            assert_eq!(hash_float(-float), hash_big(&-big), "2^{exponent}");
        }
    }
}
