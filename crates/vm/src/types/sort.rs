//! Sorting: stable, by merging, with every comparison paid.

use crate::code::CmpOp;
use crate::cost;
use crate::heap::object::Obj;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("", "sorted", sorted, "_sorted"),
    ("list", "sort", list_sort, "_list_sort"),
    ("_", "_sort_by", sort_by, "_merge_sort"),
];

fn sorted(vm: &mut Vm, args: Args) -> Outcome {
    if args.keywords.is_some() || args.count != 1 {
        return Err(Fault::Fallback);
    }
    let source = vm.stack[args.base];
    if matches!(vm.obj(source), Some(Obj::Iter(_))) {
        return Err(Fault::Fallback);
    }
    let items = vm.items(source)?;
    let items = vm.sort(items, None, false)?;
    vm.list(items)
}

fn list_sort(vm: &mut Vm, args: Args) -> Outcome {
    if args.keywords.is_some() || args.count != 1 {
        return Err(Fault::Fallback);
    }
    let list = vm.stack[args.base];
    let items = vm.items(list)?;
    let items = vm.sort(items, None, false)?;
    if let Value::Ref(handle) = vm.inner(list)
        && let Obj::List(list) = vm.heap.get_mut(handle)
    {
        *list = items;
    }
    Ok(Value::None)
}

/// Items in the order of their keys: a new list.
fn sort_by(vm: &mut Vm, args: Args) -> Outcome {
    let [items, keys, reverse] = vm.take(args, "sort", ["items", "keys", "reverse"], 3)?;
    let (items, keys) = (vm.items(items)?, vm.items(keys)?);
    if items.len() != keys.len() {
        return Err(vm.value_error("list modified during sort"));
    }
    let reverse = vm.want_int(reverse)? != 0;
    let items = vm.sort(items, Some(keys), reverse)?;
    vm.list(items)
}

impl Vm {
    /// Sorts by keys, or by the items themselves. Fallback if a comparison needs Python code.
    fn sort(
        &mut self,
        items: Vec<Value>,
        keys: Option<Vec<Value>>,
        reverse: bool,
    ) -> Result<Vec<Value>, Fault> {
        self.charge(cost::sort(items.len()))?;
        self.heap.check(items.len() * 32)?;
        let keys = keys.unwrap_or_else(|| items.clone());
        // Reversing before and after keeps equal items in their order.
        let mut order: Vec<u32> = (0..items.len() as u32).collect();
        if reverse {
            order.reverse();
        }
        if keys.iter().all(|key| matches!(key, Value::Int(_))) {
            let int = |index: &u32| match keys[*index as usize] {
                Value::Int(int) => int,
                _ => 0,
            };
            order.sort_by_key(int);
        } else if keys.iter().all(|key| matches!(self.obj(*key), Some(Obj::Str(_)))) {
            let total: usize = keys.iter().filter_map(|key| self.text(*key)).map(str::len).sum();
            let rounds = usize::BITS - keys.len().leading_zeros();
            self.charge(cost::bytes(total) * u64::from(rounds))?;
            order.sort_by(|a, b| self.text(keys[*a as usize]).cmp(&self.text(keys[*b as usize])));
        } else {
            self.merge_sort(&mut order, &keys)?;
        }
        if reverse {
            order.reverse();
        }
        Ok(order.into_iter().map(|index| items[index as usize]).collect())
    }

    /// From below: runs of one, two, four … are merged.
    fn merge_sort(&mut self, order: &mut Vec<u32>, keys: &[Value]) -> Result<(), Fault> {
        let count = order.len();
        let mut merged = Vec::with_capacity(count);
        let mut width = 1;
        while width < count {
            merged.clear();
            let mut start = 0;
            while start < count {
                let middle = (start + width).min(count);
                let end = (start + 2 * width).min(count);
                let (mut left, mut right) = (start, middle);
                while left < middle && right < end {
                    let (a, b) = (keys[order[left] as usize], keys[order[right] as usize]);
                    if self.order(CmpOp::Lt, b, a, 0)? {
                        merged.push(order[right]);
                        right += 1;
                    } else {
                        merged.push(order[left]);
                        left += 1;
                    }
                }
                merged.extend_from_slice(&order[left..middle]);
                merged.extend_from_slice(&order[right..end]);
                start = end;
            }
            std::mem::swap(order, &mut merged);
            width *= 2;
        }
        Ok(())
    }
}
