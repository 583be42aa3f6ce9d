//! Canonical CBOR for programs: what it costs is paid before bytes or values are made.

use num_bigint::BigInt;

use crate::cbor::{self, CborError, DEPTH_MAX, Form, Sink, major};
use crate::cost;
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::value::{Value, float};
use crate::run::Vm;
use crate::run::fault::{Fatal, Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("_cbor", "encode", encode, ""),
    ("_cbor", "decode", decode, ""),
    ("_cbor", "payload", payload, ""),
    ("_cbor", "answer", answer, ""),
];

fn encode(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "encode", ["value"], 1)?;
    let bytes = vm.cbor_encode(value)?;
    vm.alloc(Obj::Bytes(bytes.into_boxed_slice()))
}

fn decode(vm: &mut Vm, args: Args) -> Outcome {
    let [data] = vm.take(args, "decode", ["data"], 1)?;
    let length = match vm.obj(vm.inner(data)) {
        Some(Obj::Bytes(bytes)) => bytes.len(),
        Some(Obj::ByteArray(bytes)) => bytes.len(),
        _ => {
            let kind = vm.type_name(data);
            return Err(vm.type_error(format!("a bytes-like object is required, not '{kind}'")));
        }
    };
    vm.reserve(length)?;
    let bytes = vm.byte_vec(data).unwrap_or_default();
    match vm.cbor_decode(&bytes, Form::Any)? {
        Ok(value) => Ok(value),
        Err(error) => Err(vm.value_error(error.to_string())),
    }
}

/// The form in which a value is sent to another actor: that of a method's result.
fn payload(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "payload", ["value"], 1)?;
    let bytes = vm.message_bytes(value)?;
    vm.alloc(Obj::Bytes(bytes.into_boxed_slice()))
}

/// What a method of another actor returned: its value if the bytes are canonical CBOR, else the bytes.
fn answer(vm: &mut Vm, args: Args) -> Outcome {
    let [data] = vm.take(args, "answer", ["data"], 1)?;
    let length = match vm.obj(vm.inner(data)) {
        Some(Obj::Bytes(bytes)) => bytes.len(),
        _ => return Ok(data),
    };
    if length == 0 {
        return Ok(Value::None);
    }
    vm.reserve(length)?;
    let bytes = vm.byte_vec(data).unwrap_or_default();
    Ok(vm.cbor_decode(&bytes, Form::Canonical)?.unwrap_or(data))
}

enum CodecError {
    Cbor(CborError),
    Vm(Fault),
}

impl From<CborError> for CodecError {
    fn from(error: CborError) -> Self {
        CodecError::Cbor(error)
    }
}

impl From<Fault> for CodecError {
    fn from(fault: Fault) -> Self {
        CodecError::Vm(fault)
    }
}

impl Vm {
    /// The bytes of a value; a ValueError or TypeError if it has none.
    pub(crate) fn cbor_encode(&mut self, value: Value) -> Result<Vec<u8>, Fault> {
        let size = self.cbor_size(value, 0)?;
        self.reserve(size)?;
        let mut out = Vec::with_capacity(size);
        match self.cbor_put(&mut out, value) {
            Ok(()) => Ok(out),
            Err(error) => Err(self.value_error(error.to_string())),
        }
    }

    /// Bytes as they are, None as none, everything else as CBOR.
    pub(crate) fn message_bytes(&mut self, value: Value) -> Result<Vec<u8>, Fault> {
        if value.is_none() {
            return Ok(Vec::new());
        }
        let length = match self.obj(self.inner(value)) {
            Some(Obj::Bytes(bytes)) => bytes.len(),
            Some(Obj::ByteArray(bytes)) => bytes.len(),
            _ => return self.cbor_encode(value),
        };
        self.reserve(length)?;
        Ok(self.byte_vec(value).unwrap_or_default())
    }

    /// Bytes that a value takes, at most; everything that is visited is paid for.
    fn cbor_size(&mut self, value: Value, depth: usize) -> Result<usize, Fault> {
        self.charge(2)?;
        if depth > DEPTH_MAX {
            return Err(self.value_error(CborError::Depth.to_string()));
        }
        let inner = self.inner(value);
        let Value::Ref(handle) = inner else {
            return match inner {
                Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(9),
                _ => Err(self.no_cbor(value)),
            };
        };
        let children = match self.heap.get(handle) {
            Obj::Str(text) => return Ok(9 + text.text.len()),
            Obj::Bytes(bytes) => return Ok(9 + bytes.len()),
            Obj::ByteArray(bytes) => return Ok(9 + bytes.len()),
            Obj::Big(big) => return Ok(12 + big.bits() as usize / 8),
            Obj::List(items) => {
                let count = items.len();
                self.charge(cost::values(count))?;
                self.plain_items(inner)?.unwrap_or_default()
            }
            Obj::Tuple(items) => {
                let count = items.len();
                self.charge(cost::values(count))?;
                self.plain_items(inner)?.unwrap_or_default()
            }
            Obj::Dict(table) => {
                let count = table.len();
                self.charge(cost::entries(count) + cost::sort(count))?;
                let Obj::Dict(table) = self.heap.get(handle) else {
                    return Err(Fatal::Internal.into());
                };
                table.iter().flat_map(|entry| [entry.key, entry.value]).collect()
            }
            _ => return Err(self.no_cbor(value)),
        };
        let mut size = 9_usize;
        for child in children {
            size = size.saturating_add(self.cbor_size(child, depth + 1)?);
        }
        Ok(size)
    }

    /// After `cbor_size`, which has seen that it can be done.
    fn cbor_put(&self, out: &mut Vec<u8>, value: Value) -> Result<(), CborError> {
        match self.inner(value) {
            Value::Bool(truth) => out.push(0xf4 + u8::from(truth)),
            Value::Int(int) => cbor::put_int(out, i128::from(int)),
            Value::Float(float) => cbor::put_float(out, float),
            Value::Ref(handle) => match self.heap.get(handle) {
                Obj::Str(text) => cbor::put_text(out, &text.text),
                Obj::Bytes(bytes) => cbor::put_bytes(out, bytes),
                Obj::ByteArray(bytes) => cbor::put_bytes(out, bytes),
                Obj::Big(big) => cbor::put_big(out, big)?,
                Obj::List(items) => self.cbor_put_list(out, items)?,
                Obj::Tuple(items) => self.cbor_put_list(out, items)?,
                Obj::Dict(table) => {
                    let mut entries = Vec::with_capacity(table.len());
                    for entry in table.iter() {
                        let mut key = Vec::new();
                        self.cbor_put(&mut key, entry.key)?;
                        if key.first().is_some_and(|first| matches!(first >> 5, 4 | 5)) {
                            return Err(CborError::Key);
                        }
                        entries.push((key, entry.value));
                    }
                    cbor::sort_keys(&mut entries)?;
                    cbor::put_head(out, major::MAP, entries.len() as u64);
                    for (key, value) in entries {
                        out.extend(key);
                        self.cbor_put(out, value)?;
                    }
                }
                _ => return Err(CborError::Unsupported),
            },
            _ => out.push(0xf6),
        }
        Ok(())
    }

    fn cbor_put_list(&self, out: &mut Vec<u8>, items: &[Value]) -> Result<(), CborError> {
        cbor::put_head(out, major::LIST, items.len() as u64);
        items.iter().try_for_each(|item| self.cbor_put(out, *item))
    }

    fn no_cbor(&mut self, value: Value) -> Fault {
        let kind = self.type_name(value);
        self.value_error(format!("a value of type '{kind}' has no CBOR form"))
    }

    /// The value of bytes that are paid for, or why they are none.
    pub(crate) fn cbor_decode(
        &mut self,
        bytes: &[u8],
        form: Form,
    ) -> Result<Result<Value, CborError>, Fault> {
        match cbor::read(bytes, form, &mut Objects { vm: self }) {
            Ok(value) => Ok(Ok(value)),
            Err(CodecError::Cbor(error)) => Ok(Err(error)),
            Err(CodecError::Vm(fault)) => Err(fault),
        }
    }
}

/// Makes values of the heap. Nothing is collected meanwhile.
struct Objects<'a> {
    vm: &'a mut Vm,
}

impl Sink for Objects<'_> {
    type Item = Value;
    type Fault = CodecError;

    fn pay(&mut self, bytes: usize) -> Result<(), CodecError> {
        Ok(self.vm.reserve(bytes)?)
    }
    fn none(&mut self) -> Value {
        Value::None
    }
    fn truth(&mut self, truth: bool) -> Value {
        Value::Bool(truth)
    }
    fn float(&mut self, value: f64) -> Value {
        float(value)
    }
    fn int(&mut self, int: i128) -> Result<Value, CodecError> {
        self.vm.charge(2)?;
        match i64::try_from(int) {
            Ok(int) => Ok(Value::Int(int)),
            Err(_) => self.big(BigInt::from(int)),
        }
    }
    fn big(&mut self, big: BigInt) -> Result<Value, CodecError> {
        Ok(self.vm.int(big)?)
    }
    fn text(&mut self, text: &str) -> Result<Value, CodecError> {
        Ok(self.vm.string(text)?)
    }
    fn bytes(&mut self, bytes: &[u8]) -> Result<Value, CodecError> {
        Ok(self.vm.bytes(bytes.to_vec())?)
    }
    fn list(&mut self, items: Vec<Value>) -> Result<Value, CodecError> {
        Ok(self.vm.list(items)?)
    }
    fn map(&mut self, pairs: Vec<(Value, Value)>) -> Result<Value, CodecError> {
        self.vm.charge(cost::entries(pairs.len()))?;
        let dict = self.vm.alloc(Obj::Dict(Dict::default()))?;
        if let Value::Ref(handle) = dict {
            for (key, value) in pairs {
                self.vm.dict_insert(handle, key, value)?;
            }
        }
        Ok(dict)
    }
}
