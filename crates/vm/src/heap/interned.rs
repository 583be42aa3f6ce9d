//! Names that are one object each. Those of the image are shared by all machines.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::value::Handle;

#[derive(Clone, Debug, Default)]
pub(crate) struct Interned {
    image: Arc<BTreeMap<String, Handle>>,
    own: BTreeMap<String, Handle>,
}

impl Interned {
    pub(crate) fn get(&self, text: &str) -> Option<&Handle> {
        self.image.get(text).or_else(|| self.own.get(text))
    }

    /// Adds a name that is not there.
    pub(crate) fn insert(&mut self, text: String, handle: Handle) {
        self.own.insert(text, handle);
    }

    /// Everything that is here now becomes the image.
    pub(crate) fn share(&mut self) {
        self.image = Arc::new(std::mem::take(&mut self.own));
    }

    /// Forgets a name whose object is gone.
    pub(crate) fn remove(&mut self, text: &str) {
        self.own.remove(text);
    }
}
