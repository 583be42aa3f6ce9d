//! Names that are one object each. Those of the image are shared by all machines,
//! those of a program by all that run it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::value::Handle;

#[derive(Clone, Debug, Default)]
pub(crate) struct Interned {
    image: Arc<BTreeMap<String, Handle>>,
    program: Arc<BTreeMap<String, Handle>>,
    own: BTreeMap<String, Handle>,
}

impl Interned {
    pub(crate) fn get(&self, text: &str) -> Option<&Handle> {
        let shared = self.image.get(text).or_else(|| self.program.get(text));
        shared.or_else(|| self.own.get(text))
    }

    /// Adds a name that is not there.
    pub(crate) fn insert(&mut self, text: String, handle: Handle) {
        self.own.insert(text, handle);
    }

    /// Everything that is here now becomes the image.
    pub(crate) fn share(&mut self) {
        self.image = Arc::new(std::mem::take(&mut self.own));
    }

    /// Everything beyond the image, for other machines to take over.
    pub(crate) fn take_own(&mut self) -> Arc<BTreeMap<String, Handle>> {
        Arc::new(std::mem::take(&mut self.own))
    }

    pub(crate) fn set_program(&mut self, names: &Arc<BTreeMap<String, Handle>>) {
        self.program = Arc::clone(names);
    }

    /// Forgets a name whose object is gone.
    pub(crate) fn remove(&mut self, text: &str) {
        self.own.remove(text);
    }
}
