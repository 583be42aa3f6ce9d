//! What instructions share: cells, namespaces, functions that are made, names that are not there.

use super::fault::{Fatal, Fault};
use super::{Loaded, Vm};
use crate::code::Instr;
use crate::heap::object::{Function, Obj};
use crate::heap::types::{Type, name};
use crate::heap::value::Value;

impl Vm {
    pub(super) fn cell(&self, cell: Value) -> Result<Value, Fault> {
        match self.obj(cell) {
            Some(Obj::Cell(value)) => Ok(*value),
            _ => Err(Fatal::Internal.into()),
        }
    }

    pub(crate) fn set_cell(&mut self, cell: Value, value: Value) -> Result<(), Fault> {
        match cell.handle().map(|handle| self.heap.get_mut(handle)) {
            Some(Obj::Cell(inner)) => {
                *inner = value;
                Ok(())
            }
            _ => Err(Fatal::Internal.into()),
        }
    }

    pub(super) fn namespace_get(&mut self, name: Value) -> Option<Value> {
        let namespace = self.frames.last()?.namespace.handle()?;
        self.dict_get_name(namespace, name.handle()?)
    }

    pub(super) fn make_function(&mut self, loaded: &Loaded, instr: Instr) -> Result<(), Fault> {
        let take = |vm: &mut Vm, flag: u16| {
            if instr.a & flag != 0 { vm.pop() } else { Ok(Value::Unbound) }
        };
        let closure = take(self, 4)?;
        let annotations = match take(self, 8)? {
            Value::Unbound => Value::Unbound,
            pairs => self.annotations(pairs)?,
        };
        let keyword_defaults = take(self, 2)?;
        let defaults = take(self, 1)?;
        let code = loaded.first + instr.b;
        let codes = std::sync::Arc::clone(&self.codes);
        let made = &codes[code as usize];
        let (name, qualname) = (made.name, made.qualname);
        let Some(globals) = self.frames.last().map(|frame| frame.globals) else {
            return Err(Fatal::Internal.into());
        };
        let function = self.alloc(Obj::Function(Box::new(Function {
            code,
            globals,
            defaults,
            keyword_defaults,
            closure,
            name,
            qualname,
            annotations,
            dict: None,
        })))?;
        self.stack.push(function);
        Ok(())
    }

    pub(super) fn with_methods(
        &mut self,
        manager: Value,
        awaited: bool,
    ) -> Result<(Value, Value), Fault> {
        let class = self.class_of(manager);
        let (enter, exit) =
            if awaited { (name::AENTER, name::AEXIT) } else { (name::ENTER, name::EXIT) };
        let (enter, exit) = (self.class_attr(class, enter), self.class_attr(class, exit));
        let (Some(enter), Some(exit)) = (enter, exit) else {
            let kind = self.class_name(class);
            let word = if awaited { "asynchronous " } else { "" };
            let method = if awaited { "__aexit__" } else { "__exit__" };
            let missed = match enter {
                Some(_) => format!(" (missed {method} method)"),
                None => String::new(),
            };
            return Err(self.type_error(format!(
                "'{kind}' object does not support the {word}context manager protocol{missed}"
            )));
        };
        match (self.bind_method(enter, manager), self.bind_method(exit, manager)) {
            (Ok(enter), Ok(exit)) => Ok((enter, exit)),
            // Both must be there before either is called.
            (Err(Fault::Tail(_)), _) | (_, Err(Fault::Tail(_))) => {
                let kind = self.class_name(class);
                Err(self.type_error(format!(
                    "'{kind}' object has a descriptor as a method of a context manager: make it a function"
                )))
            }
            (Err(fault), _) | (_, Err(fault)) => Err(fault),
        }
    }

    pub(crate) fn unbound_local(&mut self, loaded: &Loaded, slot: u32) -> Fault {
        let name = loaded.code.slot_names.get(slot as usize).cloned().unwrap_or_default();
        let free = slot as usize >= loaded.code.slot_names.len() - loaded.code.free as usize;
        if free {
            let message = format!(
                "cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
            );
            return self.raise(Type::NameError, message);
        }
        let message = format!(
            "cannot access local variable '{name}' where it is not associated with a value"
        );
        self.raise(Type::UnboundLocalError, message)
    }

    pub(crate) fn undefined_name(&mut self, loaded: &Loaded, index: u32) -> Fault {
        let name = loaded.code.names.get(index as usize).cloned().unwrap_or_default();
        let advice = match &name[..] {
            "open" | "input" => {
                " (a program sees no files and no keyboard; use storage and payloads)"
            }
            "eval" | "exec" | "compile" | "__import__" | "breakpoint" | "locals" | "id" => {
                " (a program cannot look into the machine that runs it)"
            }
            "memoryview" => " (use bytes or bytearray)",
            _ => "",
        };
        self.raise(Type::NameError, format!("name '{name}' is not defined{advice}"))
    }

    /// One frame more; refuses at the limit.
    pub(crate) fn check_depth(&mut self) -> Result<(), Fault> {
        if self.frames.len() >= self.frame_depth {
            let message = "maximum recursion depth exceeded";
            return Err(self.raise(Type::RecursionError, message));
        }
        if self.stack.len() > crate::limits::STACK_VALUES_MAX {
            return Err(Fatal::Memory.into());
        }
        Ok(())
    }
}
