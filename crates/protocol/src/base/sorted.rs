//! A sorted set whose versions share what did not change, edited many items at a time.
//!
//! Local: a change here needs no agreement among validators. The tests compare every version
//! with a `BTreeMap`.
//!
//! A B-tree with the items in its leaves. Every branch knows the least key and a *summary* of each
//! child, so a search can leave out whole subtrees. Edits come sorted and in one pass: a node that
//! many of them concern is copied once, not once for each, and what no edit concerns is shared with
//! the version before. That is what blocks do: they read one version and make the next.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::iter::Peekable;
use std::sync::Arc;

/// Children of a branch at most.
pub(crate) const BRANCHES: usize = 16;

const TURNS: usize = 8;

pub(crate) trait Item: Clone + Debug {
    /// What it is sorted by; no two items of a set share it.
    type Key: Ord + Clone + Debug;
    /// What a branch knows of the items below.
    type Summary: Clone + Debug;
    /// Items of a leaf at most: wide enough to be worth a node, narrow enough to be copied.
    const WIDTH: usize;

    fn key(&self) -> Self::Key;
    /// How its key compares with another.
    fn cmp_key(&self, key: &Self::Key) -> Ordering {
        self.key().cmp(key)
    }
    /// A number that keys are in the order of, as far as it tells them apart.
    fn head(_key: &Self::Key) -> u64 {
        0
    }
    /// The head of the item's own key.
    fn own_head(&self) -> u64 {
        0
    }
    /// The summary of this item alone.
    fn summary(&self) -> Self::Summary;
    /// The summary of two parts.
    fn join(summary: &mut Self::Summary, other: &Self::Summary);
}

/// A change: an item to put in, or `None` to take out what is under the key.
pub(crate) type Edit<T> = (<T as Item>::Key, Option<T>);

/// Items or children, which are never changed: an edited node is a new one.
#[derive(Clone, Debug)]
pub(crate) enum Node<T: Item> {
    Leaf(Arc<[T]>),
    Branch(Arc<[Child<T>]>),
}

#[derive(Clone, Debug)]
pub(crate) struct Child<T: Item> {
    least: T::Key,
    pub(crate) summary: T::Summary,
    pub(crate) node: Node<T>,
}

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
        let mut node = &self.root.as_ref()?.node;
        while matches!(node, Node::Branch(_)) {
            node = &node.child(key)?.node;
        }
        node.item(key)
    }

    /// The items under several keys. The searches take turns, level by level: each waits for memory
    /// at every step, and so they wait together.
    pub(crate) fn get_many(&self, keys: &[T::Key]) -> Vec<Option<&T>> {
        let mut found = Vec::with_capacity(keys.len());
        let Some(root) = &self.root else { return vec![None; keys.len()] };
        for keys in keys.chunks(TURNS) {
            let mut nodes = [Some(&root.node); TURNS];
            let nodes = &mut nodes[..keys.len()];
            let mut leaf = matches!(root.node, Node::Leaf(_));
            while !leaf {
                for (node, key) in nodes.iter_mut().zip(keys) {
                    *node = node.and_then(|node| node.child(key)).map(|child| &child.node);
                }
                // All leaves are equally deep.
                leaf = nodes.iter().flatten().all(|node| matches!(node, Node::Leaf(_)));
            }
            found.extend(nodes.iter().zip(keys).map(|(node, key)| node.and_then(|n| n.item(key))));
        }
        found
    }

    /// Applies edits, which must be ascending by key, each key once.
    pub(crate) fn edit(&mut self, edits: impl IntoIterator<Item = Edit<T>>) {
        self.edit_in(edits, &mut Vec::new());
    }

    /// [`Self::edit`] with a scratch buffer, for callers that edit many small sets.
    pub(crate) fn edit_in(&mut self, edits: impl IntoIterator<Item = Edit<T>>, leaf: &mut Vec<T>) {
        leaf.clear();
        let edits = edits.into_iter().peekable();
        let mut pass = Pass { edits, items: leaf, added: 0, removed: 0 };
        let mut nodes = Vec::new();
        match self.root.as_ref().map(|root| &root.node) {
            Some(node @ Node::Branch(_)) => pass.edit(node, None, &mut nodes),
            Some(Node::Leaf(items)) => pass.edit_items(items, None),
            None => pass.edit_items(&[], None),
        }
        self.len = self.len + pass.added - pass.removed;
        if nodes.is_empty() && leaf.len() <= T::WIDTH {
            self.root = Child::new(Node::Leaf(leaf.drain(..).collect()));
            return;
        }
        cut(leaf, T::WIDTH, Node::Leaf, &mut nodes);
        while nodes.len() > 1 {
            let mut parts = core::mem::take(&mut nodes);
            cut(&mut parts, BRANCHES, Node::Branch, &mut nodes);
        }
        self.root = nodes.pop().map(lowered);
    }

    pub(crate) fn iter(&self) -> Iter<'_, T> {
        Iter { open: self.root.iter().map(|root| (&root.node, 0)).collect() }
    }

    /// The items whose keys are not below a key, ascending.
    pub(crate) fn iter_from(&self, key: &T::Key) -> Iter<'_, T> {
        let mut open: Vec<(&Node<T>, usize)> = Vec::new();
        let mut next = self.root.as_ref().map(|root| &root.node);
        while let Some(node) = next {
            let at = match node {
                Node::Leaf(items) => items.partition_point(|item| item.cmp_key(key).is_lt()),
                Node::Branch(children) => {
                    children.partition_point(|child| child.least <= *key).saturating_sub(1)
                }
            };
            next = match node {
                Node::Leaf(_) => None,
                Node::Branch(children) => Some(&children[at].node),
            };
            // A branch continues after the child that is open below it.
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
struct Pass<'l, T: Item, E: Iterator<Item = Edit<T>>> {
    edits: Peekable<E>,
    /// The leaf that is being put together.
    items: &'l mut Vec<T>,
    added: usize,
    removed: usize,
}

impl<T: Item, E: Iterator<Item = Edit<T>>> Pass<'_, T, E> {
    /// Whether the next edit is below a bound.
    fn concerns(&mut self, below: Option<&T::Key>) -> bool {
        self.edits.peek().is_some_and(|(key, _)| below.is_none_or(|below| key < below))
    }

    /// Applies the edits below a bound to a subtree; what becomes of it goes to `out`.
    fn edit(&mut self, node: &Node<T>, below: Option<&T::Key>, out: &mut Vec<Child<T>>) {
        let children = match node {
            Node::Leaf(items) => return self.edit_leaf(items, below, out),
            Node::Branch(children) => children,
        };
        let mut edited = Vec::with_capacity(children.len() + 1);
        for (at, child) in children.iter().enumerate() {
            let bound = children.get(at + 1).map(|next| &next.least).or(below);
            match self.concerns(bound) {
                true => self.edit(&child.node, bound, &mut edited),
                false => edited.push(child.clone()),
            }
        }
        join_thin(&mut edited);
        cut(&mut edited, BRANCHES, Node::Branch, out);
    }

    fn edit_leaf(&mut self, items: &[T], below: Option<&T::Key>, out: &mut Vec<Child<T>>) {
        self.edit_items(items, below);
        cut(self.items, T::WIDTH, Node::Leaf, out);
    }

    /// What becomes of a leaf is put together.
    fn edit_items(&mut self, mut items: &[T], below: Option<&T::Key>) {
        while let Some((key, _)) = self.edits.peek() {
            if below.is_some_and(|below| key >= below) {
                break;
            }
            let before = items.partition_point(|item| item.cmp_key(key).is_lt());
            self.items.extend_from_slice(&items[..before]);
            items = &items[before..];
            if let Some((_, rest)) =
                items.split_first().filter(|(item, _)| item.cmp_key(key).is_eq())
            {
                self.removed += 1;
                items = rest;
            }
            self.take_edit();
        }
        self.items.extend_from_slice(items);
    }

    fn take_edit(&mut self) {
        if let Some((_, Some(item))) = self.edits.next() {
            self.added += 1;
            self.items.push(item);
        }
    }
}

impl<T: Item> Node<T> {
    /// The child of a branch that may hold a key.
    fn child(&self, key: &T::Key) -> Option<&Child<T>> {
        let Self::Branch(children) = self else { return None };
        let below = count_below(children, T::head(key), |child| T::head(&child.least));
        let after = below + children[below..].partition_point(|child| child.least <= *key);
        children.get(after.checked_sub(1)?)
    }

    /// The item of a leaf under a key.
    fn item(&self, key: &T::Key) -> Option<&T> {
        let Self::Leaf(items) = self else { return None };
        let below = count_below(items, T::head(key), T::own_head);
        let level = &items[below..];
        level.get(level.binary_search_by(|item| item.cmp_key(key)).ok()?)
    }

    fn len(&self) -> usize {
        match self {
            Self::Leaf(items) => items.len(),
            Self::Branch(children) => children.len(),
        }
    }

    const fn width(&self) -> usize {
        match self {
            Self::Leaf(_) => T::WIDTH,
            Self::Branch(_) => BRANCHES,
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
        Some(Self { least, summary, node })
    }
}

/// How many of some sorted parts have a smaller head. Counted, not searched: without a branch to
/// guess, several searches are under way at once.
fn count_below<P>(parts: &[P], head: u64, head_of: impl Fn(&P) -> u64) -> usize {
    parts.iter().map(|part| usize::from(head_of(part) < head)).sum()
}

/// Makes nodes of about equal size, none wider than allowed. Where more than one is needed they are
/// three quarters full, so that the next edit does not cut again.
fn cut<T: Item, P>(
    parts: &mut Vec<P>,
    width: usize,
    node: impl Fn(Arc<[P]>) -> Node<T>,
    out: &mut Vec<Child<T>>,
) {
    let pieces = if parts.len() <= width { 1 } else { parts.len().div_ceil(width * 3 / 4) };
    let (total, before) = (parts.len(), out.len());
    // From the end, because that is where a list is shortened cheaply.
    for piece in (0..pieces).rev() {
        out.extend(Child::new(node(parts.drain(total * piece / pieces..).collect())));
    }
    out[before..].reverse();
}

/// Joins neighbours of which one is less than a quarter full, if both fit into one node.
fn join_thin<T: Item>(children: &mut Vec<Child<T>>) {
    let mut at = 1;
    while at < children.len() {
        let (a, b) = (&children[at - 1].node, &children[at].node);
        let (few, both, width) = (a.len().min(b.len()), a.len() + b.len(), a.width());
        if few >= width / 4 || both > width {
            at += 1;
            continue;
        }
        let joined = match (a, b) {
            (Node::Leaf(a), Node::Leaf(b)) => Node::Leaf(a.iter().chain(&**b).cloned().collect()),
            (Node::Branch(a), Node::Branch(b)) => {
                Node::Branch(a.iter().chain(&**b).cloned().collect())
            }
            _ => unreachable!("all leaves are equally deep"),
        };
        children.remove(at);
        children.splice(at - 1..at, Child::new(joined));
    }
}

/// A root with a single child is not needed.
fn lowered<T: Item>(mut root: Child<T>) -> Child<T> {
    while let Node::Branch(children) = &root.node {
        let [only] = &children[..] else { break };
        root = only.clone();
    }
    root
}

#[cfg(test)]
mod tests;
