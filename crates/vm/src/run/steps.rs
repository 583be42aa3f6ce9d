//! The instructions that are not in the loop itself.

use super::fault::{Fatal, Fault, tail_after};
use super::frame::{After, Wanted};
use super::{Loaded, Vm};
use crate::code::{Instr, Op};
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::types::name;
use crate::heap::value::Value;

/// What the loop does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    /// With whatever frame is on top.
    Frame,
}

type Stepped = Result<Flow, Fault>;

impl Vm {
    pub(crate) fn pop(&mut self) -> Result<Value, Fault> {
        self.stack.pop().ok_or(Fault::Fatal(Fatal::Internal))
    }

    fn pop_many(&mut self, count: usize) -> Vec<Value> {
        let at = self.stack.len().saturating_sub(count);
        self.stack.split_off(at)
    }

    pub(crate) fn step(&mut self, loaded: &Loaded, instr: Instr, base: usize) -> Stepped {
        let operand = instr.b as usize;
        match instr.op {
            Op::Rot3 => {
                let value = self.pop()?;
                let at = self.stack.len() - 2;
                self.stack.insert(at, value);
            }
            Op::DeleteLocal => {
                if self.stack[base + operand].is_unbound() {
                    return Err(self.unbound_local(loaded, instr.b));
                }
                self.stack[base + operand] = Value::Unbound;
            }
            Op::MakeCell => {
                let value = self.stack[base + operand];
                self.stack[base + operand] = self.alloc(Obj::Cell(value))?;
            }
            Op::LoadCell => {
                let value = self.cell(self.stack[base + operand])?;
                if value.is_unbound() {
                    return Err(self.unbound_local(loaded, instr.b));
                }
                self.stack.push(value);
            }
            Op::StoreCell => {
                let value = self.pop()?;
                self.set_cell(self.stack[base + operand], value)?;
            }
            Op::DeleteCell => self.set_cell(self.stack[base + operand], Value::Unbound)?,
            Op::LoadClosure => self.stack.push(self.stack[base + operand]),
            Op::LoadClassCell => {
                let found = self.namespace_get(loaded.names[operand]);
                let value = match found {
                    Some(value) => value,
                    None => self.cell(self.stack[base + instr.a as usize])?,
                };
                if value.is_unbound() {
                    return Err(self.undefined_name(loaded, instr.b));
                }
                self.stack.push(value);
            }
            Op::StoreGlobal => {
                let value = self.pop()?;
                let globals = self.frames.last().map(|frame| frame.globals);
                if let (Some(globals), Value::Ref(name)) = (globals, loaded.names[operand]) {
                    self.dict_set_name(globals, name, value)?;
                }
            }
            Op::DeleteGlobal => {
                let globals = self.frames.last().map(|frame| frame.globals);
                let Some(globals) = globals else { return Err(Fatal::Internal.into()) };
                if !self.dict_remove(globals, loaded.names[operand])? {
                    return Err(self.undefined_name(loaded, instr.b));
                }
            }
            Op::LoadName => {
                let name = loaded.names[operand];
                let globals = self.frames.last().map(|frame| frame.globals);
                let found = self.namespace_get(name).or_else(|| {
                    let (Some(globals), Value::Ref(name)) = (globals, name) else { return None };
                    let found = self.dict_get_name(globals, name);
                    found.or_else(|| self.dict_get_name(self.builtins, name))
                });
                match found {
                    Some(value) => self.stack.push(value),
                    None => return Err(self.undefined_name(loaded, instr.b)),
                }
            }
            Op::StoreName => {
                let value = self.pop()?;
                if let Some(Value::Ref(dict)) = self.frames.last().map(|frame| frame.namespace) {
                    self.dict_insert(dict, loaded.names[operand], value)?;
                }
            }
            Op::DeleteName => {
                if let Some(Value::Ref(dict)) = self.frames.last().map(|frame| frame.namespace)
                    && !self.dict_remove(dict, loaded.names[operand])?
                {
                    return Err(self.undefined_name(loaded, instr.b));
                }
            }
            Op::LoadPrelude => {
                let Value::Ref(name) = loaded.names[operand] else {
                    return Err(Fatal::Internal.into());
                };
                let found = self.dict_get_name(self.prelude, name);
                match found.or_else(|| self.dict_get_name(self.builtins, name)) {
                    Some(value) => self.stack.push(value),
                    None => return Err(Fatal::Internal.into()),
                }
            }
            Op::StoreAttr => {
                let object = self.pop()?;
                let value = self.pop()?;
                self.set_attr(object, loaded.names[operand], value)?;
            }
            Op::DeleteAttr => {
                let object = self.pop()?;
                self.delete_attr(object, loaded.names[operand])?;
            }
            Op::StoreIndex => {
                let key = self.pop()?;
                let object = self.pop()?;
                let value = self.pop()?;
                self.set_item(object, key, value)?;
            }
            Op::DeleteIndex => {
                let key = self.pop()?;
                let object = self.pop()?;
                self.delete_item(object, key)?;
            }
            Op::Is | Op::IsNot => {
                let right = self.pop()?;
                let left = self.pop()?;
                self.stack.push(Value::Bool(left.is(right) == (instr.op == Op::Is)));
            }
            Op::In | Op::NotIn => {
                let container = self.pop()?;
                let item = self.pop()?;
                let found = self.contains(container, item, instr.op == Op::NotIn)?;
                self.stack.push(Value::Bool(found == (instr.op == Op::In)));
            }
            Op::Positive | Op::Invert => {
                let value = self.pop()?;
                let positive = instr.op == Op::Positive;
                let result = if positive { self.positive(value) } else { self.invert(value) };
                self.stack.push(result?);
            }
            Op::Not => {
                let value = self.pop()?;
                match self.truth(value) {
                    Ok(truth) => self.stack.push(Value::Bool(!truth)),
                    Err(fault) => {
                        // Again, with what __bool__ said.
                        if let Some(frame) = self.frames.last_mut() {
                            frame.pc -= 1;
                        }
                        return Err(fault);
                    }
                }
            }
            Op::BuildList => {
                let items = self.pop_many(operand);
                let list = self.list(items)?;
                self.stack.push(list);
            }
            Op::BuildTuple => {
                let items = self.pop_many(operand);
                let tuple = self.tuple(items)?;
                self.stack.push(tuple);
            }
            Op::BuildMap => {
                let dict = self.alloc(Obj::Dict(Dict::default()))?;
                self.stack.push(dict);
            }
            Op::BuildSet if instr.a > 0 => {
                let Value::Ref(made) = self.pop()? else { return Err(Fatal::Internal.into()) };
                let constant = self.constant_set(made, instr.a == 1)?;
                self.stack.push(constant.into());
            }
            Op::BuildSet => {
                let set = self.new_set()?;
                self.stack.push(set.into());
            }
            Op::BuildString => {
                let parts = self.pop_many(operand);
                let length: usize =
                    parts.iter().filter_map(|part| self.text(*part)).map(str::len).sum();
                self.reserve(length)?;
                let mut text = String::with_capacity(length);
                for part in parts {
                    text.push_str(self.text(part).unwrap_or(""));
                }
                let value = self.string(text)?;
                self.stack.push(value);
            }
            Op::BuildSlice => {
                let parts = self.pop_many(3);
                let slice = self.alloc(Obj::Slice([parts[0], parts[1], parts[2]]))?;
                self.stack.push(slice);
            }
            Op::ListAppend => {
                let value = self.pop()?;
                let at = self.stack.len() - 1 - instr.a as usize;
                self.list_push(self.stack[at], value)?;
            }
            Op::SetAdd => {
                let value = self.pop()?;
                let set = self.stack[self.stack.len() - 1 - instr.a as usize];
                match self.set_add(set, value) {
                    Err(Fault::Fallback) => {
                        let function = self.prelude_function("_set_add")?;
                        return Err(tail_after(function, vec![set, value], After::Discard));
                    }
                    other => other?,
                };
            }
            Op::MapAdd => {
                let value = self.pop()?;
                let key = self.pop()?;
                let dict = self.stack[self.stack.len() - 1 - instr.a as usize];
                self.set_item(dict, key, value)?;
            }
            Op::ListExtend | Op::SetUpdate | Op::DictUpdate | Op::DictMerge => {
                let source = self.pop()?;
                let target = self.stack[self.stack.len() - 1];
                let function = match instr.op {
                    Op::ListExtend => "_list_extend",
                    Op::SetUpdate => "_set_update",
                    Op::DictUpdate => "_dict_update",
                    _ => "_dict_merge",
                };
                if instr.op == Op::ListExtend
                    && let Some(items) = self.plain_items(source)?
                {
                    for item in items {
                        self.list_push(target, item)?;
                    }
                    return Ok(Flow::Next);
                }
                if let (Op::SetUpdate, Value::Ref(set)) = (instr.op, target) {
                    match self.set_update(set, source) {
                        Err(Fault::Fallback) => {}
                        other => return other.map(|()| Flow::Next),
                    }
                }
                let function = self.prelude_function(function)?;
                return Err(tail_after(function, vec![target, source], After::Discard));
            }
            Op::ListToTuple => {
                let list = self.pop()?;
                let items = match self.obj(list) {
                    Some(Obj::List(items)) => items.clone(),
                    _ => Vec::new(),
                };
                let tuple = self.tuple(items)?;
                self.stack.push(tuple);
            }
            Op::FormatValue => return self.format_step(instr.a),
            Op::CallKw => {
                let names = loaded.consts[instr.a as usize];
                let callee = self.stack.len() - 1 - operand;
                return self.call(callee, operand, names.handle(), After::Push);
            }
            Op::CallEx => return self.call_unpacked(instr.a == 1),
            Op::MakeFunction => self.make_function(loaded, instr)?,
            Op::GetIter => {
                let value = self.pop()?;
                let iterator = self.iter(value)?;
                self.stack.push(iterator);
            }
            Op::DropIter => self.drop_iterator()?,
            Op::UnpackSequence => {
                let value = self.pop()?;
                let items = self.unpacked(value, operand, None)?;
                self.stack.extend(items.into_iter().rev());
            }
            Op::UnpackEx => {
                let value = self.pop()?;
                let items = self.unpacked(value, instr.a as usize, Some(operand))?;
                self.stack.extend(items.into_iter().rev());
            }
            Op::Raise => return Err(self.raise_step(instr.a)?),
            Op::Reraise => {
                let exception = self.pop()?;
                return Err(Fault::Raise(exception));
            }
            Op::EnterHandler => {
                let exception = self.pop()?;
                if let Some(frame) = self.frames.last_mut() {
                    let before = std::mem::replace(&mut frame.handling, exception);
                    self.stack.push(before);
                    self.stack.push(exception);
                }
            }
            Op::LeaveHandler => {
                let at = self.stack.len() - 1 - instr.a as usize;
                let before = self.stack.remove(at);
                if let Some(frame) = self.frames.last_mut() {
                    frame.handling = before;
                }
            }
            Op::MatchException => {
                let kind = self.pop()?;
                let exception = self.pop()?;
                let matches = self.exception_matches(exception, kind)?;
                self.stack.push(Value::Bool(matches));
            }
            Op::EnterWith => {
                let manager = self.pop()?;
                let (enter, exit) = self.with_methods(manager, instr.a == 1)?;
                self.stack.push(exit);
                let callee = self.stack.len();
                self.stack.push(enter);
                return self.call(callee, 0, None, After::Push);
            }
            Op::WithFailed => {
                let top = self.stack.len() - 1;
                let (exit, exception) = (self.stack[top - 2], self.stack[top]);
                let class = self.class_of(exception);
                self.stack.extend([exit, class.into(), exception, Value::None]);
                return self.call(top + 1, 3, None, After::Push);
            }
            Op::YieldFromIter => {
                let value = self.pop()?;
                let iterator = self.iter(value)?;
                self.stack.push(iterator);
            }
            Op::GetAwaitable => {
                let value = self.pop()?;
                let iterator = self.awaitable(value)?;
                self.stack.push(iterator);
            }
            Op::Send => return self.send_step(instr.b),
            Op::ImportName => return self.import_step(loaded.names[operand]),
            Op::ImportFrom => {
                let module = self.stack[self.stack.len() - 1];
                let value = self.import_from(module, loaded.names[operand])?;
                self.stack.push(value);
            }
            Op::MatchSequence => {
                let subject = self.inner(self.stack[self.stack.len() - 1]);
                let matches = matches!(
                    self.obj(subject),
                    Some(Obj::List(_) | Obj::Tuple(_) | Obj::Range { .. })
                ) || self.is_abstractly(subject, "Sequence")?;
                self.stack.push(Value::Bool(matches));
            }
            Op::MatchMapping => {
                let subject = self.inner(self.stack[self.stack.len() - 1]);
                let matches = matches!(self.obj(subject), Some(Obj::Dict(_)))
                    || self.is_abstractly(subject, "Mapping")?;
                self.stack.push(Value::Bool(matches));
            }
            Op::GetLen => {
                let subject = self.stack[self.stack.len() - 1];
                if let Some(method) = self.user_method(subject, name::LEN) {
                    let after = After::Checked(Wanted::Len);
                    return Err(tail_after(method, vec![subject], after));
                }
                let length = self.length(subject)?;
                self.stack.push(Value::Int(length as i64));
            }
            _ => return Err(Fatal::Internal.into()),
        }
        Ok(Flow::Next)
    }
}
