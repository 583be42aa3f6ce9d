//! Arguments to parameters.

use super::fault::Fault;
use super::{Loaded, Vm};
use crate::code::Code;
use crate::cost;
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::value::{Handle, Value};

impl Vm {
    /// Turns the arguments from `base` on into the local slots of `code`.
    pub(crate) fn bind_arguments(
        &mut self,
        function: Handle,
        code: u32,
        base: usize,
        count: usize,
        keywords: Option<Handle>,
    ) -> Result<(), Fault> {
        let codes = std::sync::Arc::clone(&self.codes);
        let loaded = &codes[code as usize];
        let code = &loaded.code;
        let (defaults, keyword_defaults, closure) = match self.heap.get(function) {
            Obj::Function(f) => (f.defaults, f.keyword_defaults, f.closure),
            _ => (Value::Unbound, Value::Unbound, Value::Unbound),
        };
        let args = self.stack.split_off(base);
        self.charge(cost::values(args.len() + code.slots as usize))?;
        let names = match keywords.map(|names| self.heap.get(names)) {
            Some(Obj::Tuple(names)) => names.to_vec(),
            _ => Vec::new(),
        };
        let positional = code.positional as usize;
        let given = count - names.len();
        let mut slots = vec![Value::Unbound; code.slots as usize];
        let taken = given.min(positional);
        slots[..taken].copy_from_slice(&args[..taken]);
        let mut next = positional + code.keyword_only as usize;
        if code.var_args {
            slots[next] = self.tuple(args[taken..given].to_vec())?;
            next += 1;
        } else if given > positional {
            return Err(self.too_many(code, given, defaults));
        }
        let extra = if code.var_keywords {
            let dict = self.alloc(Obj::Dict(Dict::default()))?;
            slots[next] = dict;
            dict.handle()
        } else {
            None
        };
        for (name, value) in names.iter().zip(&args[given..]) {
            self.bind_keyword(code, &mut slots, *name, *value, extra)?;
        }
        self.fill_defaults(loaded, &mut slots, defaults, keyword_defaults)?;
        if let Some(Obj::Tuple(cells)) = self.obj(closure) {
            let start = code.slots as usize - code.free as usize;
            for (slot, cell) in slots[start..].iter_mut().zip(cells.iter()) {
                *slot = *cell;
            }
        }
        self.stack.extend(slots);
        Ok(())
    }

    fn bind_keyword(
        &mut self,
        code: &Code,
        slots: &mut [Value],
        name: Value,
        value: Value,
        extra: Option<Handle>,
    ) -> Result<(), Fault> {
        let text = self.text(name).unwrap_or("");
        let named = code.positional as usize + code.keyword_only as usize;
        let from = code.positional_only as usize;
        let found = code.slot_names[from..named].iter().position(|slot| *slot == text);
        self.charge((named - from) as u64)?;
        match (found, extra) {
            (Some(at), _) => {
                let slot = &mut slots[from + at];
                if !slot.is_unbound() {
                    let text = self.shown_name(name);
                    let message =
                        format!("{}() got multiple values for argument '{text}'", code.qualname);
                    return Err(self.type_error(message));
                }
                *slot = value;
                Ok(())
            }
            (None, Some(extra)) => self.dict_insert(extra, name, value),
            (None, None) => {
                let only = {
                    let text = self.text(name).unwrap_or("");
                    code.slot_names[..from].iter().any(|slot| *slot == text)
                };
                let text = self.shown_name(name);
                if only {
                    let message = format!(
                        "{}() got some positional-only arguments passed as keyword arguments: '{text}'",
                        code.qualname
                    );
                    return Err(self.type_error(message));
                }
                let message =
                    format!("{}() got an unexpected keyword argument '{text}'", code.qualname);
                Err(self.type_error(message))
            }
        }
    }

    fn fill_defaults(
        &mut self,
        loaded: &Loaded,
        slots: &mut [Value],
        defaults: Value,
        keyword_defaults: Value,
    ) -> Result<(), Fault> {
        let code = &loaded.code;
        self.charge(cost::entries(code.keyword_only as usize))?;
        let positional = code.positional as usize;
        let defaults = match self.obj(defaults) {
            Some(Obj::Tuple(values)) => values.to_vec(),
            _ => Vec::new(),
        };
        let mut missing = Vec::new();
        for (index, slot) in slots.iter_mut().enumerate().take(positional) {
            if slot.is_unbound() {
                match (index + defaults.len()).checked_sub(positional) {
                    Some(at) => *slot = defaults[at],
                    None => missing.push(code.slot_names[index].clone()),
                }
            }
        }
        if !missing.is_empty() {
            return Err(self.missing(code, "positional", &missing));
        }
        let keyword_only = slots.iter_mut().enumerate().skip(positional);
        for (index, slot) in keyword_only.take(code.keyword_only as usize) {
            if slot.is_unbound() {
                let default = match (keyword_defaults, loaded.slot_names[index]) {
                    (Value::Ref(dict), Value::Ref(name)) => self.dict_get_name(dict, name),
                    _ => None,
                };
                match default {
                    Some(value) => *slot = value,
                    None => missing.push(code.slot_names[index].clone()),
                }
            }
        }
        if !missing.is_empty() {
            return Err(self.missing(code, "keyword-only", &missing));
        }
        Ok(())
    }

    fn missing(&mut self, code: &Code, kind: &str, names: &[String]) -> Fault {
        let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        let list = match quoted.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            [first, second] => format!("{first} and {second}"),
            [first @ .., last] => format!("{}, and {last}", first.join(", ")),
        };
        let plural = if names.len() == 1 { "" } else { "s" };
        self.type_error(format!(
            "{}() missing {} required {kind} argument{plural}: {list}",
            code.qualname,
            names.len()
        ))
    }

    fn too_many(&mut self, code: &Code, given: usize, defaults: Value) -> Fault {
        let optional = match self.obj(defaults) {
            Some(Obj::Tuple(values)) => values.len(),
            _ => 0,
        };
        let most = code.positional as usize;
        let takes = if optional > 0 {
            // A program can give a function more defaults than it has parameters.
            let least = most.saturating_sub(optional);
            format!("from {least} to {most} positional arguments")
        } else {
            format!("{most} positional argument{}", if most == 1 { "" } else { "s" })
        };
        let were = if given == 1 { "was" } else { "were" };
        self.type_error(format!("{}() takes {takes} but {given} {were} given", code.qualname))
    }
}
