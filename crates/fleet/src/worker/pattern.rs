//! Patterns of paths, matched component by component during a walk. Matching whole paths can take exponential
//! time for a pattern with many stars.

use super::job_dir::inside;

/// One component of a pattern.
#[derive(Debug)]
enum Part {
    /// `**`: any number of directories.
    Folders,
    Name(glob::Pattern),
}

#[derive(Debug)]
pub(super) struct PathPattern(Vec<Part>);

/// State of a match: the components that may come next, in order.
pub(super) type Reached = Vec<usize>;

impl PathPattern {
    /// None: an invalid pattern, or one that leads out.
    pub(super) fn new(text: &str) -> Option<Self> {
        let part = |name: &std::ffi::OsStr| match name.to_str()? {
            "**" => Some(Part::Folders),
            name => glob::Pattern::new(name).ok().map(Part::Name),
        };
        inside(text)?.iter().map(part).collect::<Option<_>>().map(Self)
    }

    /// The initial state.
    pub(super) fn begin(&self) -> Reached {
        let mut reached = vec![];
        self.reach(0, &mut reached);
        reached
    }

    /// The state after one more component.
    pub(super) fn step(&self, reached: &Reached, name: &str) -> Reached {
        let mut next = vec![];
        for index in reached {
            match self.0.get(*index) {
                Some(Part::Folders) => self.reach(*index, &mut next),
                Some(Part::Name(pattern)) if pattern.matches(name) => {
                    self.reach(index + 1, &mut next);
                }
                _ => {}
            }
        }
        next
    }

    fn reach(&self, index: usize, reached: &mut Reached) {
        for index in index..=self.0.len() {
            // Indices are sorted, so a duplicate is the last.
            if reached.last().is_none_or(|last| *last < index) {
                reached.push(index);
            }
            if !matches!(self.0.get(index), Some(Part::Folders)) {
                break;
            }
        }
    }

    /// Whether the state is a match.
    pub(super) fn fits(&self, reached: &Reached) -> bool {
        reached.last() == Some(&self.0.len())
    }

    /// Whether something below may match.
    pub(super) fn goes_on(&self, reached: &Reached) -> bool {
        reached.first().is_some_and(|first| *first < self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, path: &str) -> bool {
        let pattern = PathPattern::new(pattern).expect("a pattern");
        let names = path.split('/');
        let reached = names.fold(pattern.begin(), |reached, name| pattern.step(&reached, name));
        pattern.fits(&reached)
    }

    #[test]
    fn stars_stay_in_a_name_and_two_of_them_are_folders() {
        for (pattern, path) in [
            ("**/TestResults/*.trx", "TestResults/x.trx"),
            ("**/TestResults/*.trx", "a/b/TestResults/x.trx"),
            ("./out/./a?.txt", "out/ab.txt"),
            ("**", "a/b"),
            ("a/**/b/**/c", "a/b/b/x/c"),
            ("[ab]/c", "b/c"),
        ] {
            assert!(fits(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("*.txt", "a/b.txt"),
            ("a/*", "a"),
            ("a/*", "a/b/c"),
            ("**/b", "a/bb"),
            ("a/**/b/**/c", "a/x/c"),
        ] {
            assert!(!fits(pattern, path), "{pattern} {path}");
        }
        assert!(PathPattern::new("../*").is_none() && PathPattern::new("a**b").is_none());
    }

    #[test]
    fn many_stars_take_no_longer_than_few() {
        let name = "a".repeat(255);
        assert!(!fits(&format!("{}b", "*a".repeat(100)), &name));
        assert!(!fits(&format!("{}b", "**/a/".repeat(100)), &["a"; 120].join("/")));
    }
}
