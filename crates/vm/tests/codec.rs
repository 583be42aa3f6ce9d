//! Values and bytes at random: what is written reads back, what reads is what would be written, and a
//! program's codec does the same as the one in Rust.
//!
//! `REMUDA_SEED` to begin elsewhere.

use remuda_vm::{HostValue, Limits, Vm, cbor, compile};

const ROUNDS: usize = 3_000;

struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = std::env::var("REMUDA_SEED").ok().and_then(|text| text.parse().ok());
        let seed = seed.unwrap_or(20_261_116);
        println!("REMUDA_SEED={seed}");
        Self(seed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit.max(1)
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(40)).map(|_| self.next() as u8).collect()
    }

    fn scalar(&mut self) -> HostValue {
        match self.below(8) {
            0 => HostValue::None,
            1 => HostValue::Bool(self.below(2) == 1),
            2 => HostValue::Int((self.next() as i64) >> self.below(64)),
            3 => {
                // Beyond 64 bits: anything shorter is an Int.
                let mut bytes = vec![if self.below(2) == 0 { 0x01 } else { 0xfe }];
                bytes.extend((0..8 + self.below(30)).map(|_| self.next() as u8));
                HostValue::Big(bytes)
            }
            4 => HostValue::Float(f64::from_bits(self.next())).normal(),
            5 | 6 => HostValue::Str(String::from_utf8_lossy(&self.bytes()).into_owned()),
            _ => HostValue::Bytes(self.bytes()),
        }
    }

    fn value(&mut self, depth: usize) -> HostValue {
        match self.below(if depth > 4 { 1 } else { 4 }) {
            0 | 1 => self.scalar(),
            2 => HostValue::List((0..self.below(6)).map(|_| self.value(depth + 1)).collect()),
            _ => {
                let mut pairs: Vec<(HostValue, HostValue)> = Vec::new();
                for _ in 0..self.below(6) {
                    // Texts only: numbers and truth values can be equal in a dict and differ in bytes.
                    let key = HostValue::Str(format!("{}", self.next() >> self.below(64)));
                    if pairs.iter().all(|(other, _)| *other != key) {
                        pairs.push((key, self.value(depth + 1)));
                    }
                }
                HostValue::Dict(pairs)
            }
        }
    }
}

trait Normal {
    fn normal(self) -> Self;
}

impl Normal for HostValue {
    /// Without NaN, which is not equal to itself.
    fn normal(self) -> Self {
        match self {
            HostValue::Float(float) if float.is_nan() => HostValue::Float(0.5),
            other => other,
        }
    }
}

#[test]
fn values_read_back_and_programs_write_the_same_bytes() {
    let mut random = Random::new();
    let source = "import cowboy\n\
        def same(data):\n    value = cowboy.decode(data)\n    return [cowboy.encode(value), value]\n";
    let program = compile(source, "actor.py").unwrap();
    let mut vm = Vm::new(Limits::with_cycles(u64::MAX / 2));
    vm.run_module(&program).unwrap();
    for _ in 0..ROUNDS {
        let value = random.value(0);
        let bytes = cbor::encode(&value).unwrap();
        let again = cbor::decode(&bytes).unwrap();
        assert_eq!(cbor::encode(&again), Ok(bytes.clone()), "{value:?}");
        let ours = vm.call_handler("same", &[HostValue::Bytes(bytes.clone())]);
        assert_eq!(ours, Ok(HostValue::List(vec![HostValue::Bytes(bytes), again])));
    }
}

#[test]
fn damaged_bytes_are_refused_or_canonical() {
    let mut random = Random::new();
    let source = "import cowboy\n\
        def look(data):\n    try:\n        return cowboy.encode(cowboy.decode(data))\n    except ValueError:\n        return None\n";
    let program = compile(source, "actor.py").unwrap();
    let mut vm = Vm::new(Limits::with_cycles(u64::MAX / 2));
    vm.run_module(&program).unwrap();
    for _ in 0..ROUNDS {
        let mut bytes = cbor::encode(&random.value(0)).unwrap();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len() + 1);
            match random.below(3) {
                0 => bytes.insert(at, random.next() as u8),
                1 if at < bytes.len() => {
                    bytes.remove(at);
                }
                _ if at < bytes.len() => bytes[at] = random.next() as u8,
                _ => {}
            }
        }
        // What is canonical is written as it was read; programs read other forms as well, and write
        // what is canonical.
        let strict = cbor::decode(&bytes);
        if let Ok(value) = &strict {
            assert_eq!(cbor::encode(value), Ok(bytes.clone()));
        }
        match vm.call_handler("look", &[HostValue::Bytes(bytes.clone())]) {
            Ok(HostValue::Bytes(written)) => {
                let read = cbor::decode(&written);
                assert!(read.is_ok(), "{bytes:02x?} became {written:02x?}");
            }
            Ok(HostValue::None) => assert!(strict.is_err(), "{bytes:02x?}"),
            other => panic!("{bytes:02x?}: {other:?}"),
        }
    }
}
