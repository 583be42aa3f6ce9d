//! Secrets in a log, masked also where a chunk ends in the middle of one.
//!
//! What could be the beginning of a secret is held back until the next bytes decide, or until there
//! are none: so nothing is lost, and nothing goes out that later turns out to be half of a secret.

/// What stands in a secret's place.
const MASK: &[u8] = b"***";
/// Shorter values are words that occur everywhere; masking them would only show where they were.
pub(super) const SECRET_BYTES_MIN: usize = 4;

/// A stream of bytes, without the secrets in it.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// The longest first: of two that begin alike the longer one is taken.
    secrets: Vec<Vec<u8>>,
    held: Vec<u8>,
}

impl Mask {
    /// Masks these. A secret of several lines is also masked line by line: tools print them apart.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let parts =
            secrets.into_iter().flat_map(|secret| std::iter::once(secret).chain(secret.lines()));
        let mut secrets: Vec<Vec<u8>> = parts
            .map(|part| part.trim().as_bytes().to_vec())
            .filter(|part| part.len() >= SECRET_BYTES_MIN)
            .collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self { secrets, held: Vec::new() }
    }

    /// The next bytes; what may go out now.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        self.release(false)
    }

    /// There are no more bytes; the rest.
    pub fn finish(&mut self) -> Vec<u8> {
        self.release(true)
    }

    /// A whole text at once.
    pub fn text(&self, text: &str) -> String {
        let mut mask = Self { secrets: self.secrets.clone(), held: Vec::new() };
        let mut bytes = mask.push(text.as_bytes());
        bytes.extend(mask.finish());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn release(&mut self, all: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.held.len());
        let mut at = 0;
        while at < self.held.len() {
            let rest = &self.held[at..];
            let may_begin =
                |secret: &&Vec<u8>| !all && rest.len() < secret.len() && secret.starts_with(rest);
            // Before a shorter one is taken, a longer one that may still come is waited for.
            let found = self.secrets.iter().find(|s| rest.starts_with(s) || may_begin(s));
            match found {
                Some(secret) if rest.starts_with(secret) => {
                    out.extend_from_slice(MASK);
                    at += secret.len();
                }
                Some(_) => break,
                None => {
                    out.push(rest[0]);
                    at += 1;
                }
            }
        }
        self.held.drain(..at);
        out
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

    proptest! {
        /// However a log is cut, it comes out as if it had not been.
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
