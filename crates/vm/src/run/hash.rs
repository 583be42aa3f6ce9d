//! Hashes, and the tables that use them. What needs a program's own `__hash__` or `__eq__` is done by
//! the prelude: these functions say so and change nothing.

use num_bigint::BigInt;

use super::Vm;
use super::fault::{Fatal, Fault};
use super::iter::range_len;
use crate::cost;
use crate::heap::dict::{Dict, hash_bytes, mix};
use crate::heap::object::Obj;
use crate::heap::types::name;
use crate::heap::value::{Handle, Value};
use crate::limits::NESTING_MAX;

/// Python's numbers hash to their value modulo this prime.
const MODULUS: u64 = (1 << 61) - 1;

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
    if value.is_finite() && libm::trunc(value) == value {
        if value.abs() < 9e18 {
            return hash_int(value as i64);
        }
        // A mantissa and a power of two, of which every 61st is one.
        let bits = value.to_bits();
        let (mantissa, exponent) = (bits & ((1 << 52) - 1) | 1 << 52, (bits >> 52) & 0x7ff);
        let rest = reduced(u128::from(mantissa) << ((exponent - 1075) % 61));
        return signed_hash(rest, value < 0.0);
    }
    if value.is_infinite() {
        return if value > 0.0 { 314_159 } else { (-314_159i64) as u64 };
    }
    mix(value.to_bits()) >> 3
}

impl Vm {
    /// The hash of a value that needs no Python code.
    pub(crate) fn hash(&mut self, value: Value, depth: usize) -> Result<u64, Fault> {
        Ok(match value {
            Value::Int(int) => hash_int(int),
            Value::Bool(bool) => u64::from(bool),
            Value::Float(float) => hash_float(float),
            Value::Unbound | Value::None => 0x5eed,
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
                    let hashes: Vec<u64> = set.iter().map(|entry| entry.hash).collect();
                    self.charge(hashes.len() as u64)?;
                    mix(hashes.iter().fold(hashes.len() as u64, |all, one| all ^ mix(*one))) >> 3
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
                    let start = if length > 0 { *start } else { 0 };
                    let step = if length > 1 { *step } else { 0 };
                    mix(mix(mix(start as u64) ^ length) ^ step as u64) >> 3
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
        let mut all = 0x7a91_u64.wrapping_add(count as u64);
        for place in 0..count {
            let Some(item) = item(self, place) else { break };
            all = mix(all ^ self.hash(item, depth + 1)?);
        }
        Ok(all >> 3)
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

    pub(crate) fn table(&self, handle: Handle) -> Option<&Dict> {
        match self.heap.get(handle) {
            Obj::Dict(table) | Obj::Set(table) | Obj::FrozenSet(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn table_mut(&mut self, handle: Handle) -> Option<&mut Dict> {
        match self.heap.get_mut(handle) {
            Obj::Dict(table) | Obj::Set(table) | Obj::FrozenSet(table) => Some(table),
            _ => None,
        }
    }

    /// The place of a key in a dict or set.
    pub(crate) fn find(
        &mut self,
        table: Handle,
        key: Value,
        hash: u64,
    ) -> Result<Option<usize>, Fault> {
        self.find_within(table, key, hash, 0)
    }

    /// The same in a table that is `depth` deep in what is compared: keys can be sets of sets.
    pub(super) fn find_within(
        &mut self,
        table: Handle,
        key: Value,
        hash: u64,
        depth: usize,
    ) -> Result<Option<usize>, Fault> {
        // Keys with the same hash that are not plainly equal or different are compared one by one.
        let mut unsure: Vec<(usize, Value)> = Vec::new();
        let Some(dict) = self.table(table) else { return Err(Fatal::Internal.into()) };
        let mut place = None;
        let probes = {
            let mut seen = 0;
            let found = dict.find(hash, |place, entry| {
                seen += 1;
                match self.quick_same(entry.key, key) {
                    Some(same) => Ok::<bool, ()>(same),
                    None => {
                        unsure.push((place, entry.key));
                        Ok(false)
                    }
                }
            });
            match found {
                Ok((at, probes)) => {
                    place = at;
                    probes
                }
                Err(()) => seen,
            }
        };
        if probes > 2 {
            self.charge(probes as u64 * 2)?;
        }
        if unsure.is_empty() || place.is_some() {
            return Ok(place);
        }
        // No Python code runs in between, so places stay what they are.
        for (place, candidate) in unsure {
            if self.equal(candidate, key, depth + 1)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Equality of the common keys; None for those that need a closer look.
    #[inline]
    fn quick_same(&self, a: Value, b: Value) -> Option<bool> {
        if a.is(b) {
            return Some(true);
        }
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => Some(a == b),
            (Value::Ref(a), Value::Ref(b)) => match (self.heap.get(a), self.heap.get(b)) {
                (Obj::Str(a), Obj::Str(b)) if a.text.len() != b.text.len() => Some(false),
                // Long ones are paid for where they are compared.
                (Obj::Str(a), Obj::Str(b)) if cost::long(a.text.len()) == 0 => {
                    Some(a.text == b.text)
                }
                _ => None,
            },
            (Value::Int(_), Value::Ref(b)) => match self.heap.get(b) {
                Obj::Str(_) => Some(false),
                _ => None,
            },
            (Value::Ref(a), Value::Int(_)) => match self.heap.get(a) {
                Obj::Str(_) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn dict_get(&mut self, dict: Handle, key: Value) -> Result<Option<Value>, Fault> {
        let hash = self.hash(key, 0)?;
        let place = self.find(dict, key, hash)?;
        Ok(place.and_then(|place| self.table(dict).map(|table| table.value_at(place))))
    }

    pub(crate) fn dict_insert(
        &mut self,
        dict: Handle,
        key: Value,
        value: Value,
    ) -> Result<(), Fault> {
        let hash = self.hash(key, 0)?;
        let place = self.find(dict, key, hash)?;
        self.dict_put(dict, place, hash, key, value)
    }

    /// Writes an entry whose place is known, or adds one.
    pub(crate) fn dict_put(
        &mut self,
        dict: Handle,
        place: Option<usize>,
        hash: u64,
        key: Value,
        value: Value,
    ) -> Result<(), Fault> {
        let Some(table) = self.table_mut(dict) else { return Err(Fatal::Internal.into()) };
        match place {
            Some(place) => table.set_value_at(place, value),
            None => {
                let steps = table.push(hash, key, value);
                self.heap.resized(dict)?;
                self.charge(steps as u64)?;
            }
        }
        Ok(())
    }

    pub(crate) fn dict_remove(&mut self, dict: Handle, key: Value) -> Result<bool, Fault> {
        Ok(self.dict_take(dict, key)?.is_some())
    }

    pub(crate) fn dict_take(&mut self, dict: Handle, key: Value) -> Result<Option<Value>, Fault> {
        let hash = self.hash(key, 0)?;
        let place = self.find(dict, key, hash)?;
        let Some(place) = place else { return Ok(None) };
        let Some(table) = self.table_mut(dict) else { return Err(Fatal::Internal.into()) };
        let (value, steps) = table.remove_at(place);
        self.heap.resized(dict)?;
        self.charge(steps as u64)?;
        Ok(Some(value))
    }

    /// Adds to a set; says whether it was new.
    pub(crate) fn set_add(&mut self, set: Value, item: Value) -> Result<bool, Fault> {
        let Value::Ref(handle) = self.inner(set) else { return Err(Fatal::Internal.into()) };
        let hash = self.hash(item, 0)?;
        if self.find(handle, item, hash)?.is_some() {
            return Ok(false);
        }
        self.dict_put(handle, None, hash, item, Value::None)?;
        Ok(true)
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
