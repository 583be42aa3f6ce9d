//! Which part of a document a check looks at.
//!
//! A path is names joined by `.`, each followed by any number of `[i]`; it may begin with `[i]`,
//! and the empty path is the whole document. A name holds any characters but `.`, `[` and `]`.
//! Every path has one spelling, so distinct paths are distinct places.

use super::json::Json;
use thiserror::Error;

/// Longest text of a path, in bytes.
pub const MAX_PATH_BYTES: usize = 1_024;

/// A place in a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Name(String),
    Index(u32),
}

/// Why a text is no path. Positions are byte offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    /// Longer than `MAX_PATH_BYTES`.
    #[error("the path has {0} bytes, at most {MAX_PATH_BYTES} are allowed")]
    TooLong(usize),
    /// Nothing before, after or between dots.
    #[error("a name is missing at byte {0}")]
    EmptyName(usize),
    /// Brackets without a plain decimal u32 inside, or without their partner.
    #[error("no index such as [0] at byte {0}")]
    BadIndex(usize),
    /// After `]` comes something other than `.`, `[` or the end.
    #[error("a dot is missing at byte {0}")]
    MissingDot(usize),
}

impl Path {
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong(text.len()));
        }
        let mut steps = Vec::new();
        let mut rest = text;
        if !text.is_empty() && !text.starts_with('[') {
            rest = read_name(text, rest, &mut steps)?;
        }
        while !rest.is_empty() {
            rest = match rest.strip_prefix('.') {
                Some(after_dot) => read_name(text, after_dot, &mut steps)?,
                None => read_index(text, rest, &mut steps)?,
            };
        }
        Ok(Self { text: text.to_owned(), steps })
    }

    /// The path as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether this is the empty path, the whole document.
    pub fn is_whole(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether any two of some places are the same, or one is inside another.
    pub fn overlap(paths: &[&Self]) -> bool {
        let mut steps: Vec<&[Step]> = paths.iter().map(|path| &path.steps[..]).collect();
        // In this order whatever is inside a place comes right behind it.
        steps.sort_unstable();
        steps.windows(2).any(|pair| pair[1].starts_with(pair[0]))
    }

    /// The value at this place, if there is one.
    pub fn get<'a>(&self, document: &'a Json) -> Option<&'a Json> {
        self.steps.iter().try_fold(document, |value, step| match (step, value) {
            (Step::Name(name), Json::Object(members)) => members.get(name),
            (Step::Index(index), Json::Array(items)) => items.get(usize::try_from(*index).ok()?),
            _ => None,
        })
    }
}

/// Reads a name at the start of `rest`, the end of `text`, and returns what follows.
fn read_name<'a>(text: &str, rest: &'a str, steps: &mut Vec<Step>) -> Result<&'a str, PathError> {
    let (name, after) = rest.split_at(rest.find(['.', '[', ']']).unwrap_or(rest.len()));
    if name.is_empty() {
        return Err(PathError::EmptyName(text.len() - rest.len()));
    }
    steps.push(Step::Name(name.to_owned()));
    Ok(after)
}

/// Reads `[i]` at the start of `rest`, the end of `text`, and returns what follows.
fn read_index<'a>(text: &str, rest: &'a str, steps: &mut Vec<Step>) -> Result<&'a str, PathError> {
    let at = text.len() - rest.len();
    if !rest.starts_with(['[', ']']) {
        return Err(PathError::MissingDot(at));
    }
    let inside = rest.strip_prefix('[').and_then(|after| after.split_once(']'));
    let (digits, after) = inside.ok_or(PathError::BadIndex(at))?;
    steps.push(Step::Index(index(digits).ok_or(PathError::BadIndex(at))?));
    Ok(after)
}

/// A decimal u32 without sign or leading zeros: two spellings of one place would be two paths.
fn index(digits: &str) -> Option<u32> {
    let value: u32 = digits.parse().ok()?;
    (value.to_string() == digits).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::verifier::json::parse;

    fn at<'a>(path: &str, document: &'a Json) -> Option<&'a Json> {
        Path::parse(path).unwrap().get(document)
    }

    #[test]
    fn a_path_reaches_the_place_it_names() {
        let document =
            parse(br#"{"a":{"b":[{"c":1},{"c":[5,6]}]},"k":null,"0":7,"\u00e9 \"x":8}"#).unwrap();
        let number = |text: &[u8]| parse(text).unwrap();
        assert_eq!(at("a.b[0].c", &document), Some(&number(b"1")));
        assert_eq!(at("a.b[1].c[1]", &document), Some(&number(b"6")));
        assert_eq!(at("0", &document), Some(&number(b"7")));
        assert_eq!(at("é \"x", &document), Some(&number(b"8")));
        assert_eq!(at("k", &document), Some(&Json::Null));
        assert_eq!(at("", &document), Some(&document));
        let nested = parse(b"[[1,2],{\"x\":3}]").unwrap();
        assert_eq!(at("[0][1]", &nested), Some(&number(b"2")));
        assert_eq!(at("[1].x", &nested), Some(&number(b"3")));
    }

    #[test]
    fn a_place_that_does_not_exist_is_missing() {
        let document = parse(br#"{"a":{"b":[1]},"k":null,"d.e":3,"":4}"#).unwrap();
        for path in ["a.b[1]", "a.b[4294967295]", "a.x", "k.x", "a[0]", "a.b.0", "d.e", "[0]"] {
            assert_eq!(at(path, &document), None, "{path}");
        }
    }

    #[test]
    fn places_inside_one_another_overlap() {
        let overlap = |texts: &[&str]| {
            let paths: Vec<Path> = texts.iter().map(|text| Path::parse(text).unwrap()).collect();
            Path::overlap(&paths.iter().collect::<Vec<_>>())
        };
        assert!(!overlap(&["a", "b", "ab", "c.a", "c.b[0]", "c.b[1]"]));
        assert!(overlap(&["c.b[0]", "x", "c"]));
        assert!(overlap(&["", "x"]));
        assert!(overlap(&["x", "x"]));
        assert!(!overlap(&["x"]) && !overlap(&[]));
    }

    #[test]
    fn malformed_paths_are_refused() {
        use PathError::*;
        let cases = [
            (".a", EmptyName(0)),
            (".", EmptyName(0)),
            ("a.", EmptyName(2)),
            ("a..b", EmptyName(2)),
            ("a.[0]", EmptyName(2)),
            ("]", EmptyName(0)),
            ("a[", BadIndex(1)),
            ("a]", BadIndex(1)),
            ("a[]", BadIndex(1)),
            ("a[x]", BadIndex(1)),
            ("a[+1]", BadIndex(1)),
            ("a[-1]", BadIndex(1)),
            ("a[ 1]", BadIndex(1)),
            ("a[01]", BadIndex(1)),
            ("a[4294967296]", BadIndex(1)),
            ("[0]]", BadIndex(3)),
            ("[0]a", MissingDot(3)),
            ("[0].", EmptyName(4)),
        ];
        for (path, error) in cases {
            assert_eq!(Path::parse(path), Err(error), "{path}");
        }
    }

    #[test]
    fn the_length_limit_is_exact() {
        assert!(Path::parse(&"a".repeat(MAX_PATH_BYTES)).is_ok());
        let too_long = "a".repeat(MAX_PATH_BYTES + 1);
        assert_eq!(Path::parse(&too_long), Err(PathError::TooLong(MAX_PATH_BYTES + 1)));
    }

    proptest::proptest! {
        #[test]
        fn parsing_never_panics_and_keeps_the_text(text in "[a-c.\\[\\]0-9é+]{0,12}") {
            if let Ok(path) = Path::parse(&text) {
                proptest::prop_assert_eq!(path.text(), text);
            }
        }
    }
}
