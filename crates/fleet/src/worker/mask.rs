//! Masks secrets in a stream, across chunk boundaries.
//!
//! A possible beginning of a secret is held back until the following bytes decide, or the stream ends. So
//! nothing is lost, and no part of a secret is sent.
//!
//! Jobs choose secrets and logs, so the cost per byte must not depend on them: an Aho-Corasick automaton
//! finds all secrets at once.
//!
//! Not the crate `aho-corasick`: it hides the depth of a state, which says how much to hold back, and it
//! copies all matches of a state's suffixes into the state, so a job could make it use memory quadratic in
//! its secrets.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

const MASK: &[u8] = b"***";
/// Shorter values are not masked: they occur everywhere.
pub(super) const SECRET_BYTES_MIN: usize = 4;

/// A prefix of secrets. The first node is the empty prefix.
#[derive(Debug, Default)]
struct Node {
    /// Length of the prefix.
    depth: usize,
    /// Node of the longest proper suffix that is a prefix of a secret.
    shorter: usize,
    /// Length of the longest secret that is a suffix. 0: none.
    secret: usize,
}

#[derive(Debug)]
struct Automaton {
    nodes: Vec<Node>,
    next: HashMap<(usize, u8), usize>,
    /// Nodes of depth 1 by byte: enough for most bytes of a log.
    first: [usize; 256],
}

impl Default for Automaton {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], next: HashMap::new(), first: [0; 256] }
    }
}

impl Automaton {
    fn new<'a>(secrets: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut made = Self::default();
        // Parent and byte of each node.
        let mut edges = vec![(0, 0)];
        for secret in secrets {
            let mut at = 0;
            for (index, byte) in secret.iter().enumerate() {
                let new = made.nodes.len();
                let next = *made.next.entry((at, *byte)).or_insert(new);
                if next == new {
                    made.nodes.push(Node { depth: index + 1, ..Node::default() });
                    edges.push((at, *byte));
                }
                at = next;
            }
            made.nodes[at].secret = secret.len();
        }
        let mut by_depth: Vec<usize> = (1..made.nodes.len()).collect();
        by_depth.sort_by_key(|node| made.nodes[*node].depth);
        for node in by_depth {
            let (before, byte) = edges[node];
            if before == 0 {
                made.first[usize::from(byte)] = node;
            } else {
                // By depth, so shorter prefixes are complete.
                made.nodes[node].shorter = made.step(made.nodes[before].shorter, byte);
            }
            if made.nodes[node].secret == 0 {
                made.nodes[node].secret = made.nodes[made.nodes[node].shorter].secret;
            }
        }
        made
    }

    /// The next node after a byte.
    fn step(&self, mut node: usize, byte: u8) -> usize {
        while node != 0 {
            if let Some(next) = self.next.get(&(node, byte)) {
                return *next;
            }
            node = self.nodes[node].shorter;
        }
        self.first[usize::from(byte)]
    }
}

/// Masks one stream.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    secrets: Arc<Automaton>,
    /// State of the automaton.
    node: usize,
    /// Bytes held back.
    held: Vec<u8>,
    /// Stream position of `held`.
    from: u64,
    /// Ranges of secrets in the stream, in order, overlapping ones merged. The first may begin before `from`.
    found: VecDeque<(u64, u64)>,
}

impl Mask {
    /// Masks these secrets, and the lines of those with several: tools print them separately.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let parts =
            secrets.into_iter().flat_map(|secret| std::iter::once(secret).chain(secret.lines()));
        let secrets =
            parts.map(|part| part.trim().as_bytes()).filter(|part| part.len() >= SECRET_BYTES_MIN);
        Self { secrets: Arc::new(Automaton::new(secrets)), ..Self::default() }
    }

    /// Takes the next bytes and returns those that may be sent.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        for byte in bytes {
            self.held.push(*byte);
            self.node = self.secrets.step(self.node, *byte);
            let secret = self.secrets.nodes[self.node].secret;
            if secret > 0 {
                self.find(secret as u64);
            }
        }
        self.release(self.secrets.nodes[self.node].depth)
    }

    /// Returns the rest at the end of the stream.
    pub fn finish(&mut self) -> Vec<u8> {
        self.node = 0;
        self.release(0)
    }

    /// Masks a whole text.
    pub fn text(&self, text: &str) -> String {
        let mut mask = Self { secrets: self.secrets.clone(), ..Self::default() };
        let mut bytes = mask.push(text.as_bytes());
        bytes.extend(mask.finish());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Records that the last bytes are a secret.
    fn find(&mut self, bytes: u64) {
        let end = self.from + self.held.len() as u64;
        let mut begin = end - bytes;
        while let Some((before, _)) = self.found.pop_back_if(|(_, end)| *end > begin) {
            begin = begin.min(before);
        }
        self.found.push_back((begin, end));
    }

    /// Masks and returns all but the last `keep` bytes.
    fn release(&mut self, keep: usize) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let (out, kept) = held.split_at(held.len() - keep);
        self.held = kept.to_vec();
        let (mut from, until) = (self.from, self.from + out.len() as u64);
        self.from = until;
        let bytes =
            |a: u64, b: u64| &out[(a - (until - out.len() as u64)) as usize..][..(b - a) as usize];
        let mut masked = Vec::with_capacity(out.len());
        while from < until {
            let Some(&(begin, end)) = self.found.front() else {
                masked.extend_from_slice(bytes(from, until));
                break;
            };
            if from < begin {
                let plain = begin.min(until);
                masked.extend_from_slice(bytes(from, plain));
                from = plain;
                continue;
            }
            if from == begin {
                masked.extend_from_slice(MASK);
            }
            from = end.min(until);
            if from == end {
                self.found.pop_front();
            }
        }
        masked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masked(mask: &mut Mask, pieces: &[&[u8]]) -> Vec<u8> {
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| mask.push(piece)).collect();
        out.extend(mask.finish());
        out
    }

    #[test]
    fn a_secret_is_masked_wherever_it_is_cut() {
        let text = b"a hunter2hunter2 b hunter2";
        for cut in 0..=text.len() {
            let mut mask = Mask::new(["hunter2"]);
            let (left, right) = text.split_at(cut);
            assert_eq!(masked(&mut mask, &[left, right]), b"a ****** b ***", "{cut}");
        }
    }

    #[test]
    fn of_two_that_begin_alike_the_longer_one_is_masked() {
        let mut mask = Mask::new(["token", "token-long"]);
        assert_eq!(masked(&mut mask, &[b"token", b"-long token-lo", b"se"]), b"*** ***-lose");
    }

    #[test]
    fn the_last_bytes_are_not_lost() {
        let mut mask = Mask::new(["secret"]);
        assert_eq!(mask.push(b"no sec"), b"no ");
        assert_eq!(mask.finish(), b"sec");
    }

    #[test]
    fn lines_of_a_secret_are_masked_apart() {
        let mut mask = Mask::new(["first line\nsecond line"]);
        assert_eq!(masked(&mut mask, &[b"> second line\n> first line\n"]), b"> ***\n> ***\n");
    }

    #[test]
    fn secrets_that_overlap_are_masked_wholly() {
        let mut mask = Mask::new(["abcd", "cdef", "xabcdefx"]);
        assert_eq!(masked(&mut mask, &[b"-abcdef- xabc", b"def abcdcdef"]), b"-***- x*** ******");
    }

    /// Searches every position for every secret.
    fn naive(secrets: &[&str], text: &str) -> String {
        let mut covered = vec![false; text.len()];
        // Positions that no secret spans.
        let mut cuts = vec![true; text.len() + 1];
        for at in 0..text.len() {
            for secret in secrets.iter().filter(|secret| text[at..].starts_with(**secret)) {
                covered[at..at + secret.len()].fill(true);
                cuts[at + 1..at + secret.len()].fill(false);
            }
        }
        let mut out = String::new();
        for (at, byte) in text.char_indices() {
            match covered[at] {
                false => out.push(byte),
                true if at == 0 || !covered[at - 1] || cuts[at] => out.push_str("***"),
                true => {}
            }
        }
        out
    }

    proptest! {
        #[test]
        fn what_is_part_of_any_secret_is_masked(
            text in "[ab]{0,60}",
            secrets in prop::collection::vec("[ab]{4,9}", 0..6),
        ) {
            let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
            prop_assert_eq!(Mask::new(secrets.clone()).text(&text), naive(&secrets, &text));
        }

        /// Chunk boundaries make no difference.
        #[test]
        fn cuts_make_no_difference(text in "[abx]{0,40}", cuts in prop::collection::vec(0..40_usize, 0..6)) {
            let secrets = ["abab", "ababx", "bbaab"];
            let whole = masked(&mut Mask::new(secrets), &[text.as_bytes()]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &text.as_bytes()[w[0]..w[1]]).collect();
            let mut mask = Mask::new(secrets);
            let mut sent = Vec::new();
            for piece in pieces {
                sent.extend(mask.push(piece));
                let said = String::from_utf8_lossy(&sent);
                prop_assert!(secrets.iter().all(|secret| !said.contains(secret)), "{}", said);
            }
            sent.extend(mask.finish());
            prop_assert_eq!(sent, whole);
        }
    }
}
