//! A sorted set whose versions share what did not change, edited many items at a time.
//!
//! A B-tree with the items in its leaves. Every branch knows the least key and a *summary* of each
//! child, so a search can leave out whole subtrees. Edits come sorted and in one pass: a node that
//! many of them concern is copied once, not once for each, and what no edit concerns is shared with
//! the version before. That is what blocks do: they read one version and make the next.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

/// What a set holds.
pub(crate) trait Item: Clone + Debug {
    /// What it is sorted by; no two items of a set share it.
    type Key: Ord + Clone + Debug;
    /// What a branch knows of the items below.
    type Summary: Clone + Debug;
    /// Items of a leaf, and children of a branch, at most.
    const WIDTH: usize;

    /// Its key.
    fn key(&self) -> Self::Key;
    /// How its key compares with another.
    fn cmp_key(&self, key: &Self::Key) -> Ordering {
        self.key().cmp(key)
    }
    /// The summary of this item alone.
    fn summary(&self) -> Self::Summary;
    /// The summary of two parts.
    fn join(summary: &mut Self::Summary, other: &Self::Summary);
}

/// A change: an item to put in, or `None` to take out what is under the key.
pub(crate) type Edit<T> = (<T as Item>::Key, Option<T>);

/// Edits in the order of their keys, while they are applied.
type Edits<T> = std::iter::Peekable<std::vec::IntoIter<Edit<T>>>;

/// Items or children.
#[derive(Clone, Debug)]
pub(crate) enum Node<T: Item> {
    Leaf(Vec<T>),
    Branch(Vec<Child<T>>),
}

/// A subtree.
#[derive(Clone, Debug)]
pub(crate) struct Child<T: Item> {
    pub(crate) summary: T::Summary,
    pub(crate) node: Arc<Node<T>>,
    least: T::Key,
}

/// The set.
#[derive(Clone, Debug)]
pub(crate) struct Sorted<T: Item> {
    root: Option<Child<T>>,
    len: usize,
}

impl<T: Item> Default for Sorted<T> {
    fn default() -> Self {
        Self { root: None, len: 0 }
    }
}

impl<T: Item> Sorted<T> {
    /// How many items there are.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn root(&self) -> Option<&Child<T>> {
        self.root.as_ref()
    }

    /// What is known of all items together.
    pub(crate) fn summary(&self) -> Option<&T::Summary> {
        self.root.as_ref().map(|root| &root.summary)
    }

    /// The item under a key.
    pub(crate) fn get(&self, key: &T::Key) -> Option<&T> {
        let mut node = &*self.root.as_ref()?.node;
        loop {
            match node {
                Node::Leaf(items) => {
                    return items
                        .binary_search_by(|item| item.cmp_key(key))
                        .ok()
                        .map(|at| &items[at]);
                }
                Node::Branch(children) => {
                    let after = children.partition_point(|child| child.least <= *key);
                    node = &children.get(after.checked_sub(1)?)?.node;
                }
            }
        }
    }

    /// Puts one item in; what was under its key is gone.
    pub(crate) fn put(&mut self, item: T) {
        self.edit(vec![(item.key(), Some(item))]);
    }

    /// Applies edits, which must be ascending by key, each key once.
    pub(crate) fn edit(&mut self, edits: Vec<Edit<T>>) {
        debug_assert!(edits.windows(2).all(|pair| pair[0].0 < pair[1].0), "edits out of order");
        let mut pass = Pass { edits: edits.into_iter().peekable(), added: 0, removed: 0 };
        let mut nodes = Vec::new();
        match self.root.take() {
            Some(root) => pass.edit(root.node, None, &mut nodes),
            None => pass.edit(Arc::new(Node::Leaf(Vec::new())), None, &mut nodes),
        }
        while nodes.len() > 1 {
            nodes = cut(nodes, Node::Branch);
        }
        self.root = nodes.pop().map(lowered);
        self.len = self.len + pass.added - pass.removed;
    }

    /// All items, ascending.
    pub(crate) fn iter(&self) -> Iter<'_, T> {
        Iter { open: self.root.iter().map(|root| (&*root.node, 0)).collect() }
    }

    /// The items whose keys are not below a key, ascending.
    pub(crate) fn iter_from(&self, key: &T::Key) -> Iter<'_, T> {
        let mut open: Vec<(&Node<T>, usize)> = Vec::new();
        let mut next = self.root.as_ref().map(|root| &*root.node);
        while let Some(node) = next {
            let at = match node {
                Node::Leaf(items) => items.partition_point(|item| item.cmp_key(key).is_lt()),
                Node::Branch(children) => {
                    children.partition_point(|child| child.least <= *key).saturating_sub(1)
                }
            };
            next = match node {
                Node::Leaf(_) => None,
                Node::Branch(children) => Some(&*children[at].node),
            };
            // A branch goes on after the child that is open below it.
            open.push((node, at + usize::from(next.is_some())));
        }
        Iter { open }
    }
}

impl<T: Item> FromIterator<T> for Sorted<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut edits: Vec<Edit<T>> =
            items.into_iter().map(|item| (item.key(), Some(item))).collect();
        // Stable, so that of several items with one key the last is kept.
        edits.sort_by(|a, b| a.0.cmp(&b.0));
        edits.reverse();
        edits.dedup_by(|a, b| a.0 == b.0);
        edits.reverse();
        let mut set = Self::default();
        set.edit(edits);
        set
    }
}

/// See [`Sorted::iter`].
#[derive(Clone, Debug)]
pub(crate) struct Iter<'a, T: Item> {
    open: Vec<(&'a Node<T>, usize)>,
}

impl<'a, T: Item> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        loop {
            let (node, at) = self.open.last_mut()?;
            let found = match node {
                Node::Leaf(items) => items.get(*at).map(Ok),
                Node::Branch(children) => children.get(*at).map(Err),
            };
            *at += 1;
            match found {
                Some(Ok(item)) => return Some(item),
                Some(Err(child)) => self.open.push((&child.node, 0)),
                None => {
                    self.open.pop();
                }
            }
        }
    }
}

/// One pass of edits over a set.
struct Pass<T: Item> {
    edits: Edits<T>,
    added: usize,
    removed: usize,
}

impl<T: Item> Pass<T> {
    /// Whether the next edit is below a bound.
    fn concerns(&mut self, below: Option<&T::Key>) -> bool {
        self.edits.peek().is_some_and(|(key, _)| below.is_none_or(|below| key < below))
    }

    /// Applies the edits below a bound to a subtree; what becomes of it goes to `out`.
    fn edit(&mut self, node: Arc<Node<T>>, below: Option<&T::Key>, out: &mut Vec<Child<T>>) {
        match Arc::unwrap_or_clone(node) {
            Node::Leaf(items) => {
                let items = self.edit_leaf(items, below);
                out.extend(cut(items, Node::Leaf));
            }
            Node::Branch(children) => {
                let mut edited = Vec::with_capacity(children.len() + 1);
                let mut children = children.into_iter().peekable();
                while let Some(child) = children.next() {
                    let bound = children.peek().map(|next| next.least.clone());
                    let bound = bound.as_ref().or(below);
                    match self.concerns(bound) {
                        true => self.edit(child.node, bound, &mut edited),
                        false => edited.push(child),
                    }
                }
                join_thin(&mut edited);
                out.extend(cut(edited, Node::Branch));
            }
        }
    }

    fn edit_leaf(&mut self, items: Vec<T>, below: Option<&T::Key>) -> Vec<T> {
        let mut edited = Vec::with_capacity(items.len() + 1);
        for item in items {
            let mut kept = true;
            while let Some((key, _)) = self.edits.peek() {
                let order = item.cmp_key(key);
                if order.is_lt() {
                    break;
                }
                if order.is_eq() {
                    kept = false;
                    self.removed += 1;
                }
                self.take_edit(&mut edited);
            }
            if kept {
                edited.push(item);
            }
        }
        while self.concerns(below) {
            self.take_edit(&mut edited);
        }
        edited
    }

    fn take_edit(&mut self, edited: &mut Vec<T>) {
        if let Some((_, Some(item))) = self.edits.next() {
            self.added += 1;
            edited.push(item);
        }
    }
}

impl<T: Item> Node<T> {
    fn len(&self) -> usize {
        match self {
            Self::Leaf(items) => items.len(),
            Self::Branch(children) => children.len(),
        }
    }
}

impl<T: Item> Child<T> {
    /// `None` for a node without anything.
    fn new(node: Node<T>) -> Option<Self> {
        let (least, summary) = match &node {
            Node::Leaf(items) => {
                let (first, rest) = items.split_first()?;
                let mut summary = first.summary();
                rest.iter().for_each(|item| T::join(&mut summary, &item.summary()));
                (first.key(), summary)
            }
            Node::Branch(children) => {
                let (first, rest) = children.split_first()?;
                let mut summary = first.summary.clone();
                rest.iter().for_each(|child| T::join(&mut summary, &child.summary));
                (first.least.clone(), summary)
            }
        };
        Some(Self { summary, node: Arc::new(node), least })
    }
}

/// Nodes of about equal size, none wider than allowed. Where more than one is needed they are three
/// quarters full, so that the next edit does not cut again.
fn cut<T: Item, P>(parts: Vec<P>, node: impl Fn(Vec<P>) -> Node<T>) -> Vec<Child<T>> {
    if parts.len() <= T::WIDTH {
        return Child::new(node(parts)).into_iter().collect();
    }
    let (total, pieces) = (parts.len(), parts.len().div_ceil(T::WIDTH * 3 / 4));
    let mut parts = parts.into_iter();
    let size = |piece: usize| total * (piece + 1) / pieces - total * piece / pieces;
    (0..pieces)
        .filter_map(|piece| Child::new(node(parts.by_ref().take(size(piece)).collect())))
        .collect()
}

/// Joins neighbours of which one is less than a quarter full, if both fit into one node.
fn join_thin<T: Item>(children: &mut Vec<Child<T>>) {
    let mut at = 1;
    while at < children.len() {
        let (a, b) = (children[at - 1].node.len(), children[at].node.len());
        if a.min(b) >= T::WIDTH / 4 || a + b > T::WIDTH {
            at += 1;
            continue;
        }
        let right = Arc::unwrap_or_clone(children.remove(at).node);
        let left = &mut children[at - 1];
        match (Arc::make_mut(&mut left.node), right) {
            (Node::Leaf(items), Node::Leaf(more)) => {
                more.iter().for_each(|item| T::join(&mut left.summary, &item.summary()));
                items.extend(more);
            }
            (Node::Branch(below), Node::Branch(more)) => {
                more.iter().for_each(|child| T::join(&mut left.summary, &child.summary));
                below.extend(more);
            }
            // All leaves are equally deep.
            _ => unreachable!("neighbours are of one kind"),
        }
    }
}

/// A root with a single child is not needed.
fn lowered<T: Item>(mut root: Child<T>) -> Child<T> {
    while let Node::Branch(children) = &*root.node {
        let [only] = &children[..] else { break };
        root = only.clone();
    }
    root
}

#[cfg(test)]
mod tests;
