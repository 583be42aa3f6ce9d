//! Programs into machines: their constants and names are brought into a heap once, for all machines that
//! run them. So a call costs what it does, however much its program mentions.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Codes, Loaded, Vm};
use crate::code::{Code, Const};
use crate::front::Program;
use crate::heap::Constants;
use crate::heap::dict::NameHash;
use crate::heap::object::Obj;
use crate::heap::value::{Handle, Value, float};
use crate::run::fault::Fault;

/// What a program is in every machine that loads it first.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    constants: Constants,
    names: Arc<BTreeMap<String, Handle>>,
    codes: Arc<Codes>,
}

impl Vm {
    /// Brings a program's constants and names into the heap; returns the place of its module code.
    pub(crate) fn load(&mut self, program: &Program, hidden: bool) -> Result<u32, Fault> {
        let first = self.codes.len() as u32;
        // The first program of a machine: its constants have the same places in every machine.
        let fresh = !hidden
            && self.heap.places() == self.heap.pinned()
            && self.codes.len() == self.pinned_codes;
        if !fresh {
            self.program = None;
            self.load_own(program, hidden)?;
            return Ok(first);
        }
        let prepared = match program.prepared.get() {
            Some(prepared) => prepared.clone(),
            None => {
                self.load_own(program, hidden)?;
                let prepared = Prepared {
                    constants: self.heap.take_constants(),
                    names: self.interned.take_own(),
                    codes: Arc::clone(&self.codes),
                };
                program.prepared.get_or_init(|| prepared).clone()
            }
        };
        self.heap.set_program(&prepared.constants)?;
        self.interned.set_program(&prepared.names);
        self.codes = prepared.codes;
        self.pinned_codes = self.codes.len();
        self.program = Some(program.hash);
        Ok(first)
    }

    fn load_own(&mut self, program: &Program, hidden: bool) -> Result<(), Fault> {
        let first = self.codes.len() as u32;
        let mut added = Vec::with_capacity(program.codes.len());
        for code in &program.codes {
            added.push(self.loaded(code, first, hidden)?);
        }
        match Arc::get_mut(&mut self.codes) {
            Some(codes) => codes.own.extend(added),
            None => {
                let mut own = self.codes.own.clone();
                own.extend(added);
                self.codes = Arc::new(Codes { image: Arc::clone(&self.codes.image), own });
            }
        }
        Ok(())
    }

    fn loaded(&mut self, code: &Arc<Code>, first: u32, hidden: bool) -> Result<Loaded, Fault> {
        let mut consts = Vec::with_capacity(code.consts.len());
        for constant in &code.consts {
            consts.push(self.constant(constant)?);
        }
        let names = self.interned_all(&code.names)?;
        // Names that the machine itself asks for while it runs.
        let name = self.intern(&code.name)?.into();
        let qualname = self.intern(&code.qualname)?.into();
        let slot_names = self.interned_all(&code.slot_names)?;
        let code = Arc::clone(code);
        let hashes = names.iter().map(|name| self.name_hash(*name)).collect();
        Ok(Loaded { code, consts, names, hashes, name, qualname, slot_names, first, hidden })
    }

    fn name_hash(&self, name: Value) -> NameHash {
        NameHash::new(match self.obj(name) {
            Some(Obj::Str(text)) => text.hash,
            _ => 0,
        })
    }

    fn constant(&mut self, constant: &Const) -> Result<Value, Fault> {
        Ok(match constant {
            Const::Ellipsis => Value::Ellipsis,
            Const::True => Value::Bool(true),
            Const::False => Value::Bool(false),
            Const::Int(int) => Value::Int(*int),
            Const::Float(bits) => float(f64::from_bits(*bits)),
            Const::Big(big) => self.heap.alloc(Obj::Big(big.clone()))?.into(),
            Const::Str(text) => self.intern(text)?.into(),
            Const::Bytes(bytes) => {
                self.heap.alloc(Obj::Bytes(bytes.clone().into_boxed_slice()))?.into()
            }
            Const::Names(names) => {
                let items = self.interned_all(names)?;
                self.heap.alloc(Obj::Tuple(items.into_boxed_slice()))?.into()
            }
        })
    }

    fn interned_all(&mut self, names: &[String]) -> Result<Vec<Value>, Fault> {
        let mut values = Vec::with_capacity(names.len());
        for name in names {
            values.push(self.intern(name)?.into());
        }
        Ok(values)
    }
}
