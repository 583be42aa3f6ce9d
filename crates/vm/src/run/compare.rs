//! Comparisons and membership.

use std::cmp::Ordering;

use super::Vm;
use super::fault::{Fatal, Fault, Outcome, tail_after};
use super::frame::After;
use crate::code::CmpOp;
use crate::cost;
use crate::heap::object::{Obj, View};
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};
use crate::limits::NESTING_MAX;
use crate::types::operators;

/// Added to the stage of a `!=` that asks `__eq__` and turns its answer round.
pub(crate) const NEGATED: u8 = 100;

fn method_name(op: CmpOp) -> Handle {
    [name::LT, name::LE, name::EQ, name::NE, name::GT, name::GE][op as usize]
}

impl Vm {
    pub(crate) fn compare(&mut self, op: CmpOp, left: Value, right: Value) -> Outcome {
        if self.has_compare(left) || self.has_compare(right) {
            return self.compare_stage(op, left, right, 0);
        }
        self.compare_plain(op, left, right)
    }

    fn has_compare(&self, value: Value) -> bool {
        match self.obj(value) {
            Some(Obj::Instance(_) | Obj::Exception(_)) => true,
            // Its metaclass may say how.
            Some(Obj::Class(class)) => class.meta != Type::Type.handle(),
            _ => false,
        }
    }

    fn compare_plain(&mut self, op: CmpOp, left: Value, right: Value) -> Outcome {
        let result = match op {
            CmpOp::Eq => self.equal(left, right, 0),
            CmpOp::Ne => self.equal(left, right, 0).map(|same| !same),
            _ => self.order(op, left, right, 0),
        };
        match result {
            Ok(truth) => Ok(Value::Bool(truth)),
            Err(Fault::Fallback) => {
                let name = ["_lt", "_le", "_eq", "_ne", "_gt", "_ge"][op as usize];
                Err(self.prelude_tail(name, vec![left, right]))
            }
            Err(fault) => Err(fault),
        }
    }

    /// One operand after the other: the left one's method, the right one's mirrored, then the default.
    /// A subclass on the right goes first.
    pub(crate) fn compare_stage(
        &mut self,
        op: CmpOp,
        left: Value,
        right: Value,
        mut stage: u8,
    ) -> Outcome {
        if stage > NEGATED {
            stage -= NEGATED;
        }
        let (l, r) = (self.class_of(left), self.class_of(right));
        let flip = l != r && self.is_subclass(r, l);
        loop {
            let mirrored = match stage {
                0 => flip,
                1 => !flip,
                _ => break,
            };
            let (receiver, other, method) =
                if mirrored { (right, left, op.swapped()) } else { (left, right, op) };
            if mirrored && !flip && self.compares_itself(op, left, right) {
                break;
            }
            if let Some(method) = self.user_method(receiver, method_name(method)) {
                let after = After::Compare { op, left, right, stage };
                return Err(tail_after(method, vec![receiver, other], after));
            }
            // Builtin types have a `!=` of their own, which their subclasses keep.
            if op == CmpOp::Ne
                && self.inner(receiver).is(receiver)
                && let Some(method) = self.user_method(receiver, name::EQ)
            {
                let after = After::Compare { op, left, right, stage: NEGATED + stage };
                return Err(tail_after(method, vec![receiver, other], after));
            }
            stage += 1;
        }
        let (inner_left, inner_right) = (self.inner(left), self.inner(right));
        if !inner_left.is(left) || !inner_right.is(right) {
            return self.compare(op, inner_left, inner_right);
        }
        match op {
            CmpOp::Eq => Ok(Value::Bool(left.is(right))),
            CmpOp::Ne => Ok(Value::Bool(!left.is(right))),
            _ => Err(self.unordered(op, left, right)),
        }
    }

    /// Whether the left operand is a builtin value that can tell: the right one is not asked then.
    fn compares_itself(&mut self, op: CmpOp, left: Value, right: Value) -> bool {
        let own = self.user_method(left, method_name(op)).is_some();
        !own && operators::compares(self, op, self.inner(left), self.inner(right))
    }

    fn unordered(&mut self, op: CmpOp, left: Value, right: Value) -> Fault {
        let (a, b) = (self.type_name(left), self.type_name(right));
        let symbol = op.symbol();
        self.type_error(format!("'{symbol}' not supported between instances of '{a}' and '{b}'"))
    }

    /// Equality that needs no Python code.
    pub(crate) fn equal(&mut self, left: Value, right: Value, depth: usize) -> Result<bool, Fault> {
        if let (Value::Int(a), Value::Int(b)) = (left, right) {
            return Ok(a == b);
        }
        if let Some(ordering) = self.number_order(left, right)? {
            return Ok(ordering == Some(Ordering::Equal));
        }
        let (Value::Ref(a), Value::Ref(b)) = (left, right) else {
            if self.python_eq(left) || self.python_eq(right) {
                return Err(Fault::Fallback);
            }
            let (l, r) = (self.inner(left), self.inner(right));
            if !l.is(left) || !r.is(right) {
                return self.equal(l, r, depth);
            }
            return Ok(left.is(right));
        };
        if depth > NESTING_MAX {
            return Err(self.too_deep(" in comparison"));
        }
        let pair = (self.heap.get(a), self.heap.get(b));
        match pair {
            (Obj::Str(x), Obj::Str(_)) => {
                let length = x.text.len();
                self.charge(cost::bytes(length))?;
                let pair = (self.heap.get(a), self.heap.get(b));
                let (Obj::Str(x), Obj::Str(y)) = pair else { return Err(Fatal::Internal.into()) };
                Ok(x.hash == y.hash && x.text == y.text)
            }
            (Obj::Bytes(_) | Obj::ByteArray(_), Obj::Bytes(_) | Obj::ByteArray(_)) => {
                let length = byte_slice(pair.0).len();
                self.charge(cost::bytes(length))?;
                Ok(byte_slice(self.heap.get(a)) == byte_slice(self.heap.get(b)))
            }
            (Obj::List(x), Obj::List(y)) => {
                if a == b {
                    return Ok(true);
                }
                let lengths = (x.len(), y.len());
                self.equal_items(a, b, lengths, depth)
            }
            (Obj::Tuple(x), Obj::Tuple(y)) => {
                let lengths = (x.len(), y.len());
                self.equal_items(a, b, lengths, depth)
            }
            (Obj::Dict(x), Obj::Dict(y)) => {
                if a == b {
                    return Ok(true);
                }
                if x.len() != y.len() {
                    return Ok(false);
                }
                let (places, count) = (x.places(), x.len());
                self.charge(cost::entries(count) + cost::values(places - count))?;
                for place in 0..places {
                    let Some(entry) = self.table(a).and_then(|table| table.entry(place).copied())
                    else {
                        continue;
                    };
                    let Some(place) = self.find_within(b, entry.key, entry.hash, depth)? else {
                        return Ok(false);
                    };
                    let other = self.table(b).map_or(Value::Unbound, |table| table.value_at(place));
                    if !entry.value.is(other) && !self.equal(entry.value, other, depth + 1)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Obj::Set(x) | Obj::FrozenSet(x), Obj::Set(y) | Obj::FrozenSet(y)) => {
                if x.len() != y.len() {
                    return Ok(false);
                }
                self.is_subset(a, b, depth)
            }
            (Obj::Range { .. }, Obj::Range { .. }) => {
                let (x, y) = (self.range_items(a), self.range_items(b));
                Ok(x == y)
            }
            (Obj::Slice(x), Obj::Slice(y)) => {
                let (x, y) = (*x, *y);
                self.charge(3)?;
                for (x, y) in x.into_iter().zip(y) {
                    if !x.is(y) && !self.equal(x, y, depth + 1)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (
                Obj::Method { function: f, receiver: r },
                Obj::Method { function: g, receiver: s },
            ) => Ok(f.is(*g) && r.is(*s)),
            (Obj::DictView { dict: d, view }, other) if *view != View::Values => {
                let (d, view) = (*d, *view);
                match other {
                    Obj::DictView { dict, view: second }
                        if view == *second && view == View::Keys =>
                    {
                        let dict = *dict;
                        Ok(self.extent(d).0 == self.extent(dict).0
                            && self.is_subset(d, dict, depth)?)
                    }
                    Obj::Set(_) | Obj::FrozenSet(_) if view == View::Keys => {
                        Ok(self.extent(d).0 == self.extent(b).0 && self.is_subset(d, b, depth)?)
                    }
                    _ => Err(Fault::Fallback),
                }
            }
            (_, Obj::DictView { view, .. }) if *view != View::Values => {
                self.equal(right, left, depth + 1)
            }
            _ => {
                if self.python_eq(left) || self.python_eq(right) {
                    return Err(Fault::Fallback);
                }
                let (l, r) = (self.inner(left), self.inner(right));
                if !l.is(left) || !r.is(right) {
                    return self.equal(l, r, depth + 1);
                }
                Ok(a == b)
            }
        }
    }

    fn python_eq(&mut self, value: Value) -> bool {
        self.user_method(value, name::EQ).is_some()
    }

    /// Lists or tuples, item by item: no Python code runs in between, so neither changes.
    fn equal_items(
        &mut self,
        a: Handle,
        b: Handle,
        lengths: (usize, usize),
        depth: usize,
    ) -> Result<bool, Fault> {
        if lengths.0 != lengths.1 {
            return Ok(false);
        }
        self.charge(lengths.0 as u64)?;
        for place in 0..lengths.0 {
            let (x, y) = self.items_at(a, b, place);
            if !x.is(y) && !self.equal(x, y, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn items_at(&self, a: Handle, b: Handle, place: usize) -> (Value, Value) {
        let item = |handle| self.item_at(handle, place).unwrap_or(Value::Unbound);
        (item(a), item(b))
    }

    /// Whether every key of one table is in the other; both are `depth` deep in what is compared.
    fn is_subset(&mut self, a: Handle, b: Handle, depth: usize) -> Result<bool, Fault> {
        let (_, places) = self.extent(a);
        self.charge_walk(a)?;
        for place in 0..places {
            let Some((hash, key)) = self.hashed_at(a, place) else { continue };
            if self.find_within(b, key, hash, depth)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `<` and its like, for values that need no Python code.
    pub(crate) fn order(
        &mut self,
        op: CmpOp,
        left: Value,
        right: Value,
        depth: usize,
    ) -> Result<bool, Fault> {
        if let Some(ordering) = self.number_order(left, right)? {
            return Ok(ordering.is_some_and(|ordering| op.holds(ordering)));
        }
        if depth > NESTING_MAX {
            return Err(self.too_deep(" in comparison"));
        }
        let (Value::Ref(a), Value::Ref(b)) = (left, right) else {
            return self.order_other(op, left, right, depth);
        };
        let pair = (self.heap.get(a), self.heap.get(b));
        match pair {
            (Obj::Str(x), Obj::Str(y)) => {
                let (ordering, length) = (x.text.cmp(&y.text), x.text.len().min(y.text.len()));
                self.charge(cost::bytes(length))?;
                Ok(op.holds(ordering))
            }
            (Obj::Bytes(_) | Obj::ByteArray(_), Obj::Bytes(_) | Obj::ByteArray(_)) => {
                let (x, y) = (byte_slice(pair.0), byte_slice(pair.1));
                let (ordering, length) = (x.cmp(y), x.len().min(y.len()));
                self.charge(cost::bytes(length))?;
                Ok(op.holds(ordering))
            }
            (Obj::List(x), Obj::List(y)) => {
                let lengths = (x.len(), y.len());
                self.order_items(op, (a, b), lengths, depth)
            }
            (Obj::Tuple(x), Obj::Tuple(y)) => {
                let lengths = (x.len(), y.len());
                self.order_items(op, (a, b), lengths, depth)
            }
            (Obj::Set(x) | Obj::FrozenSet(x), Obj::Set(y) | Obj::FrozenSet(y)) => {
                let (x, y) = (x.len(), y.len());
                match op {
                    CmpOp::Le => Ok(x <= y && self.is_subset(a, b, depth)?),
                    CmpOp::Lt => Ok(x < y && self.is_subset(a, b, depth)?),
                    CmpOp::Ge => Ok(y <= x && self.is_subset(b, a, depth)?),
                    _ => Ok(y < x && self.is_subset(b, a, depth)?),
                }
            }
            _ => self.order_other(op, left, right, depth),
        }
    }

    fn order_other(
        &mut self,
        op: CmpOp,
        left: Value,
        right: Value,
        depth: usize,
    ) -> Result<bool, Fault> {
        if self.user_method(left, method_name(op)).is_some()
            || self.user_method(right, method_name(op.swapped())).is_some()
        {
            return Err(Fault::Fallback);
        }
        let (l, r) = (self.inner(left), self.inner(right));
        if !l.is(left) || !r.is(right) {
            return self.order(op, l, r, depth + 1);
        }
        // Keys and items of dicts compare like sets.
        let view = |value| match self.obj(value) {
            Some(Obj::DictView { view, .. }) => Some(*view != View::Values),
            Some(Obj::Set(_) | Obj::FrozenSet(_)) => Some(true),
            _ => None,
        };
        if let (Some(true), Some(true)) = (view(left), view(right)) {
            return Err(Fault::Fallback);
        }
        Err(self.unordered(op, left, right))
    }

    fn order_items(
        &mut self,
        op: CmpOp,
        (a, b): (Handle, Handle),
        lengths: (usize, usize),
        depth: usize,
    ) -> Result<bool, Fault> {
        let shorter = lengths.0.min(lengths.1);
        self.charge(shorter as u64)?;
        for place in 0..shorter {
            let (x, y) = self.items_at(a, b, place);
            if !x.is(y) && !self.equal(x, y, depth + 1)? {
                return self.order(op, x, y, depth + 1);
            }
        }
        Ok(op.holds(lengths.0.cmp(&lengths.1)))
    }
}

pub(crate) fn byte_slice(obj: &Obj) -> &[u8] {
    match obj {
        Obj::Bytes(bytes) => bytes,
        Obj::ByteArray(bytes) => bytes,
        _ => &[],
    }
}
