use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A number; the summary is the greatest payload.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair(u16, u8);

impl Item for Pair {
    type Key = u16;
    type Summary = u8;
    const WIDTH: usize = 4;

    fn key(&self) -> u16 {
        self.0
    }
    fn summary(&self) -> u8 {
        self.1
    }
    fn join(summary: &mut u8, other: &u8) {
        *summary = (*summary).max(*other);
    }
}

/// Widths, keys and summaries are right, and all leaves are equally deep. Returns the depth.
fn check(child: &Child<Pair>, top: bool) -> usize {
    let (least, summary, depth) = match &child.node {
        Node::Leaf(items) => {
            assert!((1..=Pair::WIDTH).contains(&items.len()));
            (items[0].0, items.iter().map(|item| item.1).max().unwrap(), 0)
        }
        Node::Branch(children) => {
            assert!((1 + usize::from(top)..=BRANCHES).contains(&children.len()));
            let depths: Vec<usize> = children.iter().map(|child| check(child, false)).collect();
            assert!(depths.windows(2).all(|pair| pair[0] == pair[1]));
            let summary = children.iter().map(|child| child.summary).max().unwrap();
            (children[0].least, summary, depths[0] + 1)
        }
    };
    assert_eq!((child.least, child.summary), (least, summary));
    depth
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Batches of edits do what a plain map does, and leave the versions before as they were.
    #[test]
    fn edits_do_what_a_map_does(
        batches in vec(vec((0..900u16, any::<u8>(), 0..5u8), 0..400), 1..12),
    ) {
        let (mut set, mut plain) = (Sorted::<Pair>::default(), BTreeMap::new());
        let mut versions = Vec::new();
        for batch in batches {
            let edits: BTreeMap<u16, Option<Pair>> = batch
                .into_iter()
                .map(|(key, value, dice)| (key, (dice > 1).then_some(Pair(key, value))))
                .collect();
            for (key, edit) in &edits {
                match edit {
                    Some(pair) => plain.insert(*key, pair.clone()),
                    None => plain.remove(key),
                };
            }
            set.edit(edits);
            versions.push((set.clone(), plain.clone()));
        }
        for (set, plain) in versions {
            prop_assert_eq!(set.len(), plain.len());
            prop_assert!(set.iter().eq(plain.values()));
            set.root().map(|root| check(root, true));
            let keys: Vec<u16> = (0..900).rev().collect();
            let found = set.get_many(&keys);
            prop_assert!(found.into_iter().eq(keys.iter().map(|key| plain.get(key))));
            for key in 0..900 {
                prop_assert_eq!(set.get(&key), plain.get(&key));
                prop_assert!(set.iter_from(&key).eq(plain.range(key..).map(|(_, pair)| pair)));
            }
        }
    }

    /// Of several items with one key the last is kept.
    #[test]
    fn collecting_does_what_a_map_does(items in vec((0..3_000u16, any::<u8>()), 0..3_000)) {
        let set: Sorted<Pair> = items.iter().map(|(key, value)| Pair(*key, *value)).collect();
        let plain: BTreeMap<u16, u8> = items.into_iter().collect();
        prop_assert!(set.iter().map(|pair| (pair.0, pair.1)).eq(plain));
    }
}
