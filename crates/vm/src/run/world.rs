//! Calls of the host: values out, values in. The machine stops at a call (`Fault::Ask`) and goes on
//! with the answer (`attend`).

use super::Vm;
use super::fault::{Fault, Outcome};
use super::frame::After;
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::types::Type;
use crate::heap::value::{Value, float};
use crate::host::{HostError, HostValue};

/// Containers in a value that crosses.
const DEPTH_MAX: usize = 32;

/// What the host is asked.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) name: String,
    pub(crate) args: Vec<HostValue>,
    /// What happens with the answer.
    pub(crate) after: After,
}

impl Vm {
    pub(crate) fn call_host(&mut self, name: &str, args: &[Value]) -> Outcome {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.host_value(*arg, 0)?);
        }
        self.asking = Some(Asking { name: name.to_owned(), args: values, after: After::Push });
        Err(Fault::Ask)
    }

    /// The exception that stands for the host's refusal.
    pub(crate) fn host_fault(&mut self, error: &HostError) -> Fault {
        let class = match self.prelude_function(error.kind.class()) {
            Ok(Value::Ref(class)) => class,
            _ => Type::RuntimeError.handle(),
        };
        let made = self
            .string(error.message.as_str())
            .and_then(|message| self.tuple(vec![message]))
            .and_then(|args| self.new_exception(class, args));
        match made {
            Ok(exception) => Fault::Raise(exception),
            Err(fault) => fault,
        }
    }

    /// Everything is counted as often as it is mentioned: one long text in a list a thousand times is a
    /// thousand texts for the host.
    fn pay_crossing(&mut self, value: Value, depth: usize) -> Result<(), Fault> {
        let bytes = match self.obj(self.inner(value)) {
            Some(Obj::Str(text)) => text.text.len(),
            Some(Obj::Bytes(bytes)) => bytes.len(),
            Some(Obj::ByteArray(bytes)) => bytes.len(),
            _ => 0,
        };
        self.charge(2 + crate::cost::bytes(bytes))?;
        if depth == 0 {
            self.host_room = crate::limits::HOST_BYTES_MAX;
        }
        match self.host_room.checked_sub(bytes + 32) {
            Some(left) => {
                self.host_room = left;
                Ok(())
            }
            None => Err(self.too_much_for_host()),
        }
    }

    fn too_much_for_host(&mut self) -> Fault {
        self.value_error("the host takes at most 1 MiB in one argument")
    }

    pub(crate) fn host_value(&mut self, value: Value, depth: usize) -> Result<HostValue, Fault> {
        self.pay_crossing(value, depth)?;
        if depth > DEPTH_MAX {
            return Err(self.value_error("the value is nested too deeply for the host"));
        }
        Ok(match self.inner(value) {
            Value::None => HostValue::None,
            Value::Bool(bool) => HostValue::Bool(bool),
            Value::Int(int) => HostValue::Int(int),
            Value::Float(float) => HostValue::Float(float),
            Value::Ref(handle) => match self.heap.get(handle) {
                Obj::Str(text) => HostValue::Str(text.text.to_string()),
                Obj::Big(big) => HostValue::Big(big.to_signed_bytes_be()),
                Obj::Bytes(bytes) => HostValue::Bytes(bytes.to_vec()),
                Obj::ByteArray(bytes) => HostValue::Bytes(bytes.clone()),
                Obj::List(_) | Obj::Tuple(_) => {
                    let items = self.plain_items(handle.into())?.unwrap_or_default();
                    let mut values = Vec::with_capacity(items.len());
                    for item in items {
                        values.push(self.host_value(item, depth + 1)?);
                    }
                    HostValue::List(values)
                }
                // Before anything is copied: as many as could fit, and no more.
                Obj::Dict(table) if table.len() > self.host_room / 64 => {
                    return Err(self.too_much_for_host());
                }
                Obj::Dict(table) => {
                    let count = table.len();
                    self.charge(crate::cost::many(count))?;
                    let Some(table) = self.table(handle) else { return Ok(HostValue::None) };
                    let entries: Vec<_> =
                        table.iter().map(|entry| (entry.key, entry.value)).collect();
                    let mut pairs = Vec::with_capacity(entries.len());
                    for (key, value) in entries {
                        pairs.push((
                            self.host_value(key, depth + 1)?,
                            self.host_value(value, depth + 1)?,
                        ));
                    }
                    HostValue::Dict(pairs)
                }
                _ => return Err(self.not_for_host(value)),
            },
            _ => return Err(self.not_for_host(value)),
        })
    }

    fn not_for_host(&mut self, value: Value) -> Fault {
        let kind = self.type_name(value);
        self.type_error(format!("the host does not take a value of type '{kind}'"))
    }

    /// The host's values are trusted to be finite, not to be small.
    pub(crate) fn value_of_host(&mut self, value: &HostValue) -> Outcome {
        Ok(match value {
            HostValue::None => Value::None,
            HostValue::Bool(bool) => Value::Bool(*bool),
            HostValue::Int(int) => Value::Int(*int),
            HostValue::Float(value) => float(*value),
            HostValue::Big(bytes) => self.int(num_bigint::BigInt::from_signed_bytes_be(bytes))?,
            HostValue::Str(text) => {
                self.reserve(text.len())?;
                self.string(text.as_str())?
            }
            HostValue::Bytes(bytes) => {
                self.reserve(bytes.len())?;
                self.bytes(bytes.clone())?
            }
            HostValue::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.value_of_host(item)?);
                }
                self.list(values)?
            }
            HostValue::Dict(pairs) => {
                let dict = self.alloc(Obj::Dict(Dict::default()))?;
                if let Value::Ref(handle) = dict {
                    for (key, value) in pairs {
                        let (key, value) = (self.value_of_host(key)?, self.value_of_host(value)?);
                        self.dict_insert(handle, key, value)?;
                    }
                }
                dict
            }
        })
    }

    /// Who answers the program's calls.
    pub fn set_host(&mut self, host: Box<dyn crate::host::Host>) {
        self.host = Some(host);
    }
}
