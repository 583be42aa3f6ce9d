//! The Merkle-sum trie of a snapshot (SPEC §4), as a persistent structure.
//!
//! Consensus: a change here forks the chain. Jobs store the roots of tries.
//!
//! Its shape depends on the set of candidates alone, and its order is ascending address. A new
//! version shares every node that did not change, so one trie serves all jobs of a class, a waiting
//! job keeps its version for the price of a pointer, and a block rehashes only the paths of the
//! runners that changed.

use crate::base::primitives::{Address, B256, Slot, keccak256};
use std::sync::Arc;
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub address: Address,
    pub slot: Slot,
    /// Its weight, at least 1.
    pub weight: u128,
}

/// The weights of the candidates do not fit into 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the sum of the weights does not fit into 128 bits")]
pub struct Overflow;

/// A new leaf for an address, or none.
pub type Change = (Address, Option<Leaf>);

/// One version of the trie.
#[derive(Clone, Debug, Default)]
pub struct Trie(Option<Arc<Node>>);

#[derive(Debug)]
struct Node {
    hash: B256,
    sum: u128,
    count: u32,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Leaf(Leaf),
    Inner {
        /// First bit at which the candidates below differ.
        bit: u8,
        /// Any address below: they all agree before `bit`.
        sample: Address,
        left: Arc<Node>,
        right: Arc<Node>,
    },
}

impl Trie {
    /// Builds a trie from candidates in ascending order of address, all different.
    pub fn build(leaves: &[Leaf]) -> Result<Self, Overflow> {
        Ok(Self(build(leaves)?))
    }

    /// Root hash; 32 zero bytes if there is no candidate.
    pub fn root(&self) -> B256 {
        self.0.as_ref().map_or(B256::ZERO, |node| node.hash)
    }

    pub fn sum(&self) -> u128 {
        self.0.as_ref().map_or(0, |node| node.sum)
    }

    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |node| node.count as usize)
    }

    /// Whether there is no candidate.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The version after `changes`, which are in ascending order of address, all different.
    pub fn update(&self, changes: &[Change]) -> Result<Self, Overflow> {
        Ok(Self(update(self.0.as_ref(), changes)?))
    }

    /// The candidate at a position of the order.
    pub fn nth(&self, position: usize) -> Option<Leaf> {
        let mut node = self.0.as_ref()?;
        let mut position = u32::try_from(position).ok()?;
        if position >= node.count {
            return None;
        }
        loop {
            match &node.body {
                Body::Leaf(leaf) => return Some(*leaf),
                Body::Inner { left, .. } if position < left.count => node = left,
                Body::Inner { left, right, .. } => {
                    position -= left.count;
                    node = right;
                }
            }
        }
    }

    /// Sum of the weights before a position.
    pub fn sum_before(&self, position: usize) -> u128 {
        let Some(mut node) = self.0.as_ref() else { return 0 };
        let Ok(mut position) = u32::try_from(position) else { return node.sum };
        if position >= node.count {
            return node.sum;
        }
        let mut sum = 0;
        loop {
            match &node.body {
                Body::Leaf(_) => return sum,
                Body::Inner { left, .. } if position < left.count => node = left,
                Body::Inner { left, right, .. } => {
                    position -= left.count;
                    sum += left.sum;
                    node = right;
                }
            }
        }
    }

    /// The first position at which the running sum of weights exceeds `r`.
    pub fn find(&self, mut r: u128) -> Option<usize> {
        let mut node = self.0.as_ref()?;
        if r >= node.sum {
            return None;
        }
        let mut position = 0;
        loop {
            match &node.body {
                Body::Leaf(_) => return Some(position),
                Body::Inner { left, .. } if r < left.sum => node = left,
                Body::Inner { left, right, .. } => {
                    r -= left.sum;
                    position += left.count as usize;
                    node = right;
                }
            }
        }
    }

    /// The position of an address.
    pub fn position(&self, address: &Address) -> Option<usize> {
        let mut node = self.0.as_ref()?;
        let mut position = 0;
        loop {
            match &node.body {
                Body::Leaf(leaf) => return (leaf.address == *address).then_some(position),
                Body::Inner { bit, left, right, .. } => {
                    if bit_of(address, *bit) {
                        position += left.count as usize;
                        node = right;
                    } else {
                        node = left;
                    }
                }
            }
        }
    }

    pub fn leaves(&self) -> Vec<Leaf> {
        let mut out = Vec::with_capacity(self.len());
        let mut stack: Vec<&Arc<Node>> = self.0.iter().collect();
        while let Some(node) = stack.pop() {
            match &node.body {
                Body::Leaf(leaf) => out.push(*leaf),
                Body::Inner { left, right, .. } => stack.extend([right, left]),
            }
        }
        out
    }
}

/// Bit 0 is the most significant.
fn bit_of(address: &Address, bit: u8) -> bool {
    address[usize::from(bit / 8)] >> (7 - bit % 8) & 1 == 1
}

/// How many leading bits two addresses share; 160 if they are the same.
fn common_bits(a: &Address, b: &Address) -> u8 {
    let mut bits = 0;
    for (x, y) in a.iter().zip(b.iter()) {
        if x != y {
            return bits + (x ^ y).leading_zeros() as u8;
        }
        bits += 8;
    }
    bits
}

fn leaf_node(leaf: Leaf) -> Arc<Node> {
    let mut bytes = [0; 41];
    bytes[1..21].copy_from_slice(leaf.address.as_slice());
    bytes[21..37].copy_from_slice(&leaf.weight.to_be_bytes());
    bytes[37..].copy_from_slice(&leaf.slot.get().to_be_bytes());
    let hash = keccak256(bytes);
    Arc::new(Node { hash, sum: leaf.weight, count: 1, body: Body::Leaf(leaf) })
}

fn inner_node(bit: u8, left: Arc<Node>, right: Arc<Node>) -> Result<Arc<Node>, Overflow> {
    let sum = left.sum.checked_add(right.sum).ok_or(Overflow)?;
    let mut bytes = [0; 98];
    bytes[0] = 1;
    bytes[1] = bit;
    bytes[2..34].copy_from_slice(left.hash.as_slice());
    bytes[34..50].copy_from_slice(&left.sum.to_be_bytes());
    bytes[50..82].copy_from_slice(right.hash.as_slice());
    bytes[82..].copy_from_slice(&right.sum.to_be_bytes());
    let sample = match &left.body {
        Body::Leaf(leaf) => leaf.address,
        Body::Inner { sample, .. } => *sample,
    };
    Ok(Arc::new(Node {
        hash: keccak256(bytes),
        sum,
        count: left.count + right.count,
        body: Body::Inner { bit, sample, left, right },
    }))
}

fn join(
    bit: u8,
    left: Option<Arc<Node>>,
    right: Option<Arc<Node>>,
) -> Result<Option<Arc<Node>>, Overflow> {
    match (left, right) {
        (Some(left), Some(right)) => inner_node(bit, left, right).map(Some),
        (one, other) => Ok(one.or(other)),
    }
}

type Subtree = Option<Arc<Node>>;

// Recursion below is as deep as an address has bits: 160.

fn build(leaves: &[Leaf]) -> Result<Option<Arc<Node>>, Overflow> {
    match leaves {
        [] => Ok(None),
        [leaf] => Ok(Some(leaf_node(*leaf))),
        [first, .., last] => {
            let bit = common_bits(&first.address, &last.address);
            let split = leaves.partition_point(|leaf| !bit_of(&leaf.address, bit));
            join(bit, build(&leaves[..split])?, build(&leaves[split..])?)
        }
    }
}

fn build_changes(changes: &[Change]) -> Result<Option<Arc<Node>>, Overflow> {
    let leaves: Vec<Leaf> = changes.iter().filter_map(|(_, leaf)| *leaf).collect();
    build(&leaves)
}

fn update(node: Option<&Arc<Node>>, changes: &[Change]) -> Result<Option<Arc<Node>>, Overflow> {
    let ([(first, _), ..], Some(old)) = (changes, node) else {
        return if changes.is_empty() { Ok(node.cloned()) } else { build_changes(changes) };
    };
    match &old.body {
        Body::Leaf(leaf) => update_leaf(old, leaf, changes),
        Body::Inner { bit, sample, left, right } => {
            let last = &changes[changes.len() - 1].0;
            let shared = common_bits(first, sample).min(common_bits(last, sample));
            if shared >= *bit {
                let (low, high) = split(changes, *bit);
                let new = update_both((left, low), (right, high))?;
                if same(&new.0, left) && same(&new.1, right) {
                    return Ok(Some(old.clone()));
                }
                return join(*bit, new.0, new.1);
            }
            // Some changes part from this subtree before its own bit: it moves one level down.
            let (low, high) = split(changes, shared);
            if bit_of(sample, shared) {
                join(shared, build_changes(low)?, update(Some(old), high)?)
            } else {
                join(shared, update(Some(old), low)?, build_changes(high)?)
            }
        }
    }
}

/// From this many changes on, two halves get a thread each; the result is the same. With 10^6 runners
/// and 10,000 changes on 2 cores a job cost 0.87 ms with and 1.2 to 1.4 ms without; the number itself
/// is not tuned.
const CHANGES_PER_THREAD: usize = 2_048;

/// A subtree, and what changes in it.
type Part<'a> = (&'a Arc<Node>, &'a [Change]);

fn update_both(left: Part<'_>, right: Part<'_>) -> Result<(Subtree, Subtree), Overflow> {
    let one = |(node, changes): Part<'_>| update(Some(node), changes);
    if left.1.len() < CHANGES_PER_THREAD || right.1.len() < CHANGES_PER_THREAD {
        return Ok((one(left)?, one(right)?));
    }
    std::thread::scope(|scope| {
        let aside = scope.spawn(|| one(left));
        let right = one(right)?;
        let left = aside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((left, right))
    })
}

fn same(new: &Option<Arc<Node>>, old: &Arc<Node>) -> bool {
    new.as_ref().is_some_and(|new| Arc::ptr_eq(new, old))
}

fn update_leaf(
    old: &Arc<Node>,
    leaf: &Leaf,
    changes: &[Change],
) -> Result<Option<Arc<Node>>, Overflow> {
    let mut leaves: Vec<Leaf> = changes.iter().filter_map(|(_, leaf)| *leaf).collect();
    if changes.binary_search_by_key(&leaf.address, |(address, _)| *address).is_err() {
        leaves.insert(leaves.partition_point(|new| new.address < leaf.address), *leaf);
    }
    if leaves == [*leaf] {
        return Ok(Some(old.clone()));
    }
    build(&leaves)
}

fn split(changes: &[Change], bit: u8) -> (&[Change], &[Change]) {
    changes.split_at(changes.partition_point(|(address, _)| !bit_of(address, bit)))
}

#[cfg(test)]
mod tests;
