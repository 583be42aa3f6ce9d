//! Binary operators on everything that is not just a number.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome, tail_after};
use super::frame::After;
use crate::code::BinOp;
use crate::cost;
use crate::heap::object::{Obj, View};
use crate::heap::types::name;
use crate::heap::value::{Handle, Value};
use crate::types::operators;

/// The stage before the first one.
const IN_PLACE: u8 = u8::MAX;

/// What the prelude does where a program's own `__eq__` is needed.
const SET_OPERATORS: [&str; 4] =
    ["_set_intersection", "_set_union", "_set_symmetric", "_set_difference"];
const VIEW_OPERATORS: [&str; 4] = ["_view_and", "_view_or", "_view_xor", "_view_sub"];
const SET_UPDATES: [&str; 4] = ["_set_iand", "_set_ior", "_set_ixor", "_set_isub"];

fn set_operator(op: BinOp) -> usize {
    match op {
        BinOp::And => 0,
        BinOp::Or => 1,
        BinOp::Xor => 2,
        _ => 3,
    }
}

fn method(op: BinOp, family: Handle) -> Handle {
    Handle(family.0 + op as u32)
}

impl Vm {
    pub(crate) fn binary(&mut self, op: BinOp, left: Value, right: Value) -> Outcome {
        if self.may_overload(left) || self.may_overload(right) {
            return self.binary_stage(op, left, right, 0);
        }
        self.binary_plain(op, left, right)
    }

    fn may_overload(&self, value: Value) -> bool {
        matches!(self.obj(value), Some(Obj::Instance(_) | Obj::Class(_) | Obj::Exception(_)))
    }

    /// The left operand's method, then the right one's reflected; a subclass on the right goes first.
    pub(crate) fn binary_stage(
        &mut self,
        op: BinOp,
        left: Value,
        right: Value,
        mut stage: u8,
    ) -> Outcome {
        let (l, r) = (self.class_of(left), self.class_of(right));
        let flip = l != r && self.is_subclass(r, l) && self.overloads(op, r, l);
        loop {
            let reflected = match stage {
                0 => flip,
                1 => !flip,
                _ => break,
            };
            let (receiver, other, family) =
                if reflected { (right, left, name::RADD) } else { (left, right, name::ADD) };
            if reflected && !flip && self.operates_itself(op, left, right) {
                break;
            }
            if !(reflected && l == r)
                && let Some(function) = self.user_method(receiver, method(op, family))
            {
                let after = After::Binary { op, left, right, stage };
                return Err(tail_after(function, vec![receiver, other], after));
            }
            stage += 1;
        }
        let inner = self.inner(left);
        if op == BinOp::Mod && self.text(inner).is_some() {
            // What is formatted keeps its own __str__ and __repr__.
            return self.binary_plain(op, inner, right);
        }
        self.binary_plain(op, inner, self.inner(right))
    }

    /// Whether a class has another reflected method than its base.
    fn overloads(&mut self, op: BinOp, class: Handle, base: Handle) -> bool {
        let reflected = method(op, name::RADD);
        match (self.class_attr(class, reflected), self.class_attr(base, reflected)) {
            (Some(own), Some(other)) => !own.is(other),
            (own, _) => own.is_some(),
        }
    }

    /// Whether the left operand is a builtin value that knows the right one: that is not asked then.
    fn operates_itself(&mut self, op: BinOp, left: Value, right: Value) -> bool {
        let own = self.user_method(left, method(op, name::ADD)).is_some();
        !own && operators::operates(self, op, self.inner(left), self.inner(right))
    }

    fn binary_plain(&mut self, op: BinOp, left: Value, right: Value) -> Outcome {
        if let Some(result) = self.arithmetic(op, left, right) {
            return result;
        }
        match op {
            BinOp::Add => self.concatenate(left, right),
            BinOp::Mul => {
                if let Some(count) = self.as_index(right) {
                    self.repeat(left, count, right, left)
                } else if let Some(count) = self.as_index(left) {
                    self.repeat(right, count, right, left)
                } else {
                    Err(self.bad_repeat(left, right))
                }
            }
            BinOp::Mod if self.text(left).is_some() => {
                Err(self.prelude_tail("_percent", vec![left, right]))
            }
            BinOp::Mod if matches!(self.obj(left), Some(Obj::Bytes(_) | Obj::ByteArray(_))) => {
                Err(self.prelude_tail("_percent_bytes", vec![left, right]))
            }
            BinOp::Or | BinOp::And | BinOp::Sub | BinOp::Xor => self.set_operator(op, left, right),
            _ => Err(self.unsupported(op, left, right)),
        }
    }

    fn unsupported(&mut self, op: BinOp, left: Value, right: Value) -> Fault {
        let (a, b) = (self.type_name(left), self.type_name(right));
        let symbol = op.symbol();
        if op == BinOp::Add {
            if self.text(left).is_some() {
                return self.type_error(format!("can only concatenate str (not \"{b}\") to str"));
            }
            if matches!(self.obj(left), Some(Obj::List(_))) {
                return self.type_error(format!("can only concatenate list (not \"{b}\") to list"));
            }
            if matches!(self.obj(left), Some(Obj::Tuple(_))) {
                return self
                    .type_error(format!("can only concatenate tuple (not \"{b}\") to tuple"));
            }
        }
        if symbol == "+" && matches!(self.obj(left), Some(Obj::Bytes(_) | Obj::ByteArray(_))) {
            return self.type_error(format!("can't concat {b} to {a}"));
        }
        self.type_error(format!("unsupported operand type(s) for {symbol}: '{a}' and '{b}'"))
    }

    fn concatenate(&mut self, left: Value, right: Value) -> Outcome {
        let (Value::Ref(a), Value::Ref(b)) = (left, right) else {
            return Err(self.unsupported(BinOp::Add, left, right));
        };
        let pair = (self.heap.get(a), self.heap.get(b));
        match pair {
            (Obj::Str(x), Obj::Str(y)) => {
                let length = x.text.len() + y.text.len();
                self.reserve(length)?;
                let mut text = String::with_capacity(length);
                text.push_str(self.text(left).unwrap_or(""));
                text.push_str(self.text(right).unwrap_or(""));
                self.charge(cost::OBJECT)?;
                Ok(self.heap.str(text)?.into())
            }
            (Obj::List(x), Obj::List(y)) => {
                let items: Vec<Value> = x.iter().chain(y).copied().collect();
                self.heap.check(items.len() * 16)?;
                self.list(items)
            }
            (Obj::Tuple(x), Obj::Tuple(y)) => {
                let items: Vec<Value> = x.iter().chain(y.iter()).copied().collect();
                self.heap.check(items.len() * 16)?;
                self.tuple(items)
            }
            (Obj::Bytes(_) | Obj::ByteArray(_), Obj::Bytes(_) | Obj::ByteArray(_)) => {
                let array = matches!(pair.0, Obj::ByteArray(_));
                let (x, y) =
                    (super::compare::byte_slice(pair.0), super::compare::byte_slice(pair.1));
                let bytes = [x, y].concat();
                self.reserve(bytes.len())?;
                if array { self.alloc(Obj::ByteArray(bytes)) } else { self.bytes(bytes) }
            }
            _ => Err(self.unsupported(BinOp::Add, left, right)),
        }
    }

    fn bad_repeat(&mut self, left: Value, right: Value) -> Fault {
        let sequence = |vm: &Vm, value| {
            let obj = vm.obj(value);
            matches!(obj, Some(Obj::Str(_) | Obj::List(_) | Obj::Tuple(_) | Obj::Bytes(_)))
        };
        let other = if sequence(self, left) {
            right
        } else if sequence(self, right) {
            left
        } else {
            return self.unsupported(BinOp::Mul, left, right);
        };
        if self.user_method(other, name::INDEX).is_some() {
            return self
                .prelude_tail("_repeat", vec![if other.is(right) { left } else { right }, other]);
        }
        let kind = self.type_name(other);
        self.type_error(format!("can't multiply sequence by non-int of type '{kind}'"))
    }

    fn repeat(&mut self, sequence: Value, count: i64, right: Value, left: Value) -> Outcome {
        let count = usize::try_from(count).unwrap_or(0);
        let Value::Ref(handle) = sequence else {
            return Err(self.unsupported(BinOp::Mul, left, right));
        };
        let length = match self.heap.get(handle) {
            Obj::Str(text) => text.text.len(),
            Obj::List(items) => items.len() * 16,
            Obj::Tuple(items) => items.len() * 16,
            Obj::Bytes(bytes) => bytes.len(),
            Obj::ByteArray(bytes) => bytes.len(),
            _ => return Err(self.unsupported(BinOp::Mul, left, right)),
        };
        let count = if length == 0 { 0 } else { count };
        // Checked before a byte of it is made.
        self.reserve(length.saturating_mul(count))?;
        match self.heap.get(handle) {
            Obj::Str(text) => {
                let text = text.text.repeat(count);
                self.charge(cost::OBJECT)?;
                Ok(self.heap.str(text)?.into())
            }
            Obj::List(items) => {
                let items = items.repeat(count);
                self.alloc(Obj::List(items))
            }
            Obj::Tuple(items) => {
                let items = items.repeat(count).into_boxed_slice();
                self.alloc(Obj::Tuple(items))
            }
            Obj::Bytes(bytes) => {
                let bytes = bytes.repeat(count).into_boxed_slice();
                self.alloc(Obj::Bytes(bytes))
            }
            Obj::ByteArray(bytes) => {
                let bytes = bytes.repeat(count);
                self.alloc(Obj::ByteArray(bytes))
            }
            _ => Err(Fatal::Internal.into()),
        }
    }

    /// `|`, `&`, `-`, `^` of sets and key views; `|` of dicts.
    fn set_operator(&mut self, op: BinOp, left: Value, right: Value) -> Outcome {
        if !(self.set_like(left) && self.set_like(right)) {
            if op == BinOp::Or
                && let (Some(Obj::Dict(_)), Some(Obj::Dict(_))) = (self.obj(left), self.obj(right))
            {
                return Err(self.prelude_tail("_dict_or", vec![left, right]));
            }
            if op == BinOp::Or && self.are_types(left, right) {
                return Err(self.prelude_tail("_union", vec![left, right]));
            }
            if self.is_view(left) || self.is_view(right) {
                let name = VIEW_OPERATORS[set_operator(op)];
                return Err(self.prelude_tail(name, vec![left, right]));
            }
            return Err(self.unsupported(op, left, right));
        }
        match self.set_binary(op, left, right) {
            Err(Fault::Fallback) => {
                let views = self.is_view(left) || self.is_view(right);
                let names = if views { VIEW_OPERATORS } else { SET_OPERATORS };
                Err(self.prelude_tail(names[set_operator(op)], vec![left, right]))
            }
            other => other,
        }
    }

    fn is_view(&self, value: Value) -> bool {
        matches!(self.obj(value), Some(Obj::DictView { .. }))
    }

    /// Two classes, or one and None.
    fn are_types(&self, left: Value, right: Value) -> bool {
        let class = |value| matches!(self.obj(value), Some(Obj::Class(_)));
        (class(left) && (class(right) || right.is_none())) || (left.is_none() && class(right))
    }

    fn set_like(&self, value: Value) -> bool {
        let inner = self.inner(value);
        let keys = matches!(self.obj(inner), Some(Obj::DictView { view: View::Keys, .. }));
        keys || self.is_set(inner)
    }

    pub(crate) fn in_place(&mut self, op: BinOp, left: Value, right: Value) -> Outcome {
        if let Some(function) = self.user_method(left, method(op, name::IADD)) {
            let after = After::Binary { op, left, right, stage: IN_PLACE };
            return Err(tail_after(function, vec![left, right], after));
        }
        let inner = self.inner(left);
        let own_add = self.user_method(left, name::ADD).is_some();
        match (op, self.obj(inner)) {
            (BinOp::Add, Some(Obj::List(_))) if !own_add => match self.plain_items(right)? {
                Some(items) => {
                    for item in items {
                        self.list_push(inner, item)?;
                    }
                    Ok(left)
                }
                None => Err(self.prelude_tail("_list_iadd", vec![left, right])),
            },
            (BinOp::Mul, Some(Obj::List(_))) if self.as_index(right).is_some() => {
                let count = self.as_index(right).unwrap_or(0);
                let Value::Ref(made) = self.repeat(inner, count, right, left)? else {
                    return Err(Fatal::Internal.into());
                };
                let Value::Ref(target) = inner else { return Err(Fatal::Internal.into()) };
                let items = match self.heap.get_mut(made) {
                    Obj::List(items) => std::mem::take(items),
                    _ => Vec::new(),
                };
                self.heap.resized(made)?;
                if let Obj::List(list) = self.heap.get_mut(target) {
                    *list = items;
                }
                self.heap.resized(target)?;
                Ok(left)
            }
            (BinOp::Or, Some(Obj::Dict(_))) => {
                Err(self.prelude_tail("_dict_ior", vec![left, right]))
            }
            (BinOp::Or | BinOp::And | BinOp::Sub | BinOp::Xor, Some(Obj::Set(_)))
                if self.is_set(self.inner(right)) =>
            {
                let Value::Ref(target) = inner else { return Err(Fatal::Internal.into()) };
                match self.set_in_place(op, target, right) {
                    Err(Fault::Fallback) => {
                        let name = SET_UPDATES[set_operator(op)];
                        Err(self.prelude_tail(name, vec![left, right]))
                    }
                    done => done.map(|()| left),
                }
            }
            (BinOp::Add, Some(Obj::ByteArray(_))) => {
                let Some(more) = self.byte_vec(right) else {
                    return Err(self.unsupported(op, left, right));
                };
                self.reserve(more.len())?;
                if let Value::Ref(handle) = inner {
                    if let Obj::ByteArray(bytes) = self.heap.get_mut(handle) {
                        bytes.extend(more);
                    }
                    self.heap.resized(handle)?;
                }
                Ok(left)
            }
            _ => match self.binary(op, left, right) {
                Err(Fault::Raise(error)) => Err(self.said_in_place(op, error)),
                other => other,
            },
        }
    }

    #[inline]
    pub(crate) fn list_push(&mut self, list: Value, item: Value) -> Result<(), Fault> {
        let Value::Ref(handle) = list else { return Err(Fatal::Internal.into()) };
        match self.heap.get_mut(handle) {
            Obj::List(items) => {
                items.push(item);
                self.heap.grown(handle, 16)?;
                Ok(())
            }
            _ => Err(Fatal::Internal.into()),
        }
    }
}
