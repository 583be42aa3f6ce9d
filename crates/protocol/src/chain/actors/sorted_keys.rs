//! The order of an actor's keys, so that a prefix can be read in order from a state that knows no order.
//!
//! A treap: a search tree by key in which every key has a smaller lot below it than its own,
//! `lot = keccak256(actor ‖ key)`. Its shape follows from the set of keys alone. An actor that grinds
//! keys can make its own tree deep, and alone pays for every key that is visited.

use crate::base::codec::Bytes;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, B256, keccak256};
use crate::base::state::{View, read};
use crate::chain::execute::Exec;
use crate::rules::actors::price;
use crate::rules::actors::record::KeyNode;
use crate::rules::key::StorageNodeKey;

fn lot(actor: Address, key: &[u8]) -> B256 {
    keccak256([actor.as_slice(), key].concat())
}

/// A place that points at a key.
enum Link {
    Root,
    Left(Bytes),
    Right(Bytes),
}

fn node(view: &(impl View + ?Sized), actor: Address, key: &[u8]) -> KeyNode {
    read(view, &StorageNodeKey { actor, key }).unwrap_or_default()
}

/// Keys after `after`, or from `prefix` on, while they have the prefix; `visit` is asked before each
/// step, and says whether to go on with a key that was found.
pub(super) fn scan<E>(
    view: &(impl View + ?Sized),
    actor: Address,
    root: Option<Bytes>,
    (prefix, after): (&[u8], Option<&[u8]>),
    mut step: impl FnMut() -> Result<(), E>,
    mut found: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<(), E> {
    let wanted = |key: &[u8]| key >= prefix && after.is_none_or(|after| key > after);
    // Keys whose smaller neighbours were looked at, nearest last.
    let mut path: Vec<(Bytes, Option<Bytes>)> = Vec::new();
    let mut next = root;
    loop {
        while let Some(key) = next {
            step()?;
            let node = node(view, actor, &key);
            if wanted(&key) {
                next = node.left;
                path.push((key, node.right));
            } else {
                next = node.right;
            }
        }
        let Some((key, right)) = path.pop() else { return Ok(()) };
        if !key.starts_with(prefix) || !found(&key)? {
            return Ok(());
        }
        next = right;
    }
}

impl Exec<'_> {
    fn visit_key(&mut self, actor: Address, key: &[u8]) -> Result<KeyNode, Refusal> {
        self.charge(price::READ_CYCLES, 0)?;
        Ok(node(&self.state, actor, key))
    }

    /// Lets a link point at a key. The root is the caller's to keep.
    fn link_key(
        &mut self,
        actor: Address,
        root: &mut Option<Bytes>,
        link: &Link,
        to: Option<Bytes>,
    ) -> Result<(), Refusal> {
        let (Link::Left(key) | Link::Right(key)) = link else {
            *root = to;
            return Ok(());
        };
        self.charge(price::WRITE_CYCLES, 0)?;
        let mut node = node(&self.state, actor, key);
        match link {
            Link::Left(_) => node.left = to,
            _ => node.right = to,
        }
        self.state.put(&StorageNodeKey { actor, key }, &node);
        Ok(())
    }

    /// Puts a new key into its place.
    pub(super) fn insert_key(
        &mut self,
        actor: Address,
        root: &mut Option<Bytes>,
        key: &[u8],
    ) -> Result<(), Refusal> {
        let own = lot(actor, key);
        let (mut link, mut next) = (Link::Root, root.clone());
        while let Some(at) = next.take_if(|at| lot(actor, at) > own) {
            let node = self.visit_key(actor, &at)?;
            (next, link) = if key < &at[..] {
                (node.left, Link::Left(at))
            } else {
                (node.right, Link::Right(at))
            };
        }
        let new = Bytes::from(key);
        self.charge(price::WRITE_CYCLES, 0)?;
        self.state.put(&StorageNodeKey { actor, key }, &KeyNode::default());
        self.link_key(actor, root, &link, Some(new.clone()))?;
        if next.is_none() {
            return Ok(());
        }
        // What was there is split: smaller keys to its left, greater ones to its right.
        let (mut smaller, mut greater) = (Link::Left(new.clone()), Link::Right(new));
        while let Some(at) = next {
            let node = self.visit_key(actor, &at)?;
            if &at[..] < key {
                self.link_key(actor, root, &smaller, Some(at.clone()))?;
                (next, smaller) = (node.right, Link::Right(at));
            } else {
                self.link_key(actor, root, &greater, Some(at.clone()))?;
                (next, greater) = (node.left, Link::Left(at));
            }
        }
        self.link_key(actor, root, &smaller, None)?;
        self.link_key(actor, root, &greater, None)
    }

    /// Takes a key that is there out of its place.
    pub(super) fn remove_key(
        &mut self,
        actor: Address,
        root: &mut Option<Bytes>,
        key: &[u8],
    ) -> Result<(), Refusal> {
        let (mut link, mut next) = (Link::Root, root.clone());
        while let Some(at) = next.take_if(|at| &at[..] != key) {
            let node = self.visit_key(actor, &at)?;
            (next, link) = if key < &at[..] {
                (node.left, Link::Left(at))
            } else {
                (node.right, Link::Right(at))
            };
        }
        let KeyNode { mut left, mut right } = self.visit_key(actor, key)?;
        self.charge(price::WRITE_CYCLES, 0)?;
        self.state.remove(&StorageNodeKey { actor, key });
        // What hung on it is merged, the greater lot first.
        loop {
            let from_left = match (&left, &right) {
                (Some(left), Some(right)) => lot(actor, left) > lot(actor, right),
                (left, _) => left.is_some(),
            };
            let upper = if from_left { left.clone() } else { right.clone() };
            let Some(at) = upper else { return self.link_key(actor, root, &link, None) };
            let node = self.visit_key(actor, &at)?;
            self.link_key(actor, root, &link, Some(at.clone()))?;
            if from_left {
                (left, link) = (node.right, Link::Right(at));
            } else {
                (right, link) = (node.left, Link::Left(at));
            }
        }
    }
}
