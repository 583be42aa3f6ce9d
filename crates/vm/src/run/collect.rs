//! What the garbage collector must leave alone, and when it runs.

use super::Vm;
use super::fault::Fault;
use crate::heap::value::Value;

impl Vm {
    pub(crate) fn collect_garbage(&mut self) -> Result<(), Fault> {
        let mut roots: Vec<Value> = self.stack.clone();
        for frame in &self.frames {
            frame.trace(|value| roots.push(value));
        }
        roots.extend(self.modules.values().copied());
        roots.extend(self.waiting.values().copied());
        // Programs loaded after the first one: its own constants are shared.
        for loaded in self.codes.after(self.pinned_codes) {
            let names = loaded.names.iter().chain(&loaded.slot_names);
            roots.extend(loaded.consts.iter().chain(names).copied());
            roots.extend([loaded.name, loaded.qualname]);
        }
        roots.push(self.builtins.into());
        roots.push(self.prelude.into());
        roots.extend(self.main.map(Value::Ref));
        roots.push(self.kept);
        let done = self.heap.collect(roots.into_iter());
        // Being interned keeps nothing alive.
        for name in &done.names {
            self.interned.remove(name);
        }
        // Places of classes that are gone may be taken by others.
        self.class_version += 1;
        self.charge(crate::cost::collect(done.objects, done.values))
    }

    /// Collects garbage if it is time, with operands that are on no stack.
    #[inline]
    pub(super) fn collect_holding(&mut self, left: Value, right: Value) -> Result<(), Fault> {
        if !self.heap.wants_collection() {
            return Ok(());
        }
        self.stack.extend([left, right]);
        let collected = self.collect_garbage();
        self.stack.truncate(self.stack.len() - 2);
        collected
    }
}
