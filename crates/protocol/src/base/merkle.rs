//! Binary Merkle roots over lists: a block's transactions and receipts.
//!
//! Consensus: a change here forks the chain.
//!
//! Leaf = keccak256(0x00 ‖ item), node = keccak256(0x01 ‖ left ‖ right); a node without a sibling
//! moves up as it is. The empty list has the root 0. Leaves and nodes cannot be mistaken for each
//! other, and no list shares its root with a longer one.

use crate::base::primitives::{B256, keccak256};

/// The root of a list of byte strings.
pub fn root<'a>(items: impl IntoIterator<Item = &'a [u8]>) -> B256 {
    let mut level: Vec<B256> = items.into_iter().map(leaf).collect();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [left, right] => node(left, right),
                _ => pair[0],
            })
            .collect();
    }
    level.first().copied().unwrap_or(B256::ZERO)
}

fn leaf(item: &[u8]) -> B256 {
    keccak256([&[0], item].concat())
}

fn node(left: &B256, right: &B256) -> B256 {
    let mut bytes = [1; 65];
    bytes[1..33].copy_from_slice(left.as_slice());
    bytes[33..].copy_from_slice(right.as_slice());
    keccak256(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_different_length_have_different_roots() {
        let items: Vec<[u8; 1]> = (0..9).map(|i| [i]).collect();
        let roots: std::collections::BTreeSet<B256> =
            (0..=9).map(|n| root(items[..n].iter().map(|i| &i[..]))).collect();
        assert_eq!(roots.len(), 10);
        assert_ne!(root([&[0u8][..], &[1][..], &[1][..]]), root([&[0u8][..], &[1][..]]));
    }
}
