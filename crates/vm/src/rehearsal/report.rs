//! The outcome of a test.

use std::fmt;

use crate::CompileError;

/// A place in a file, of the test or of an actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    /// From 1.
    pub line: u32,
    pub function: String,
    pub text: String,
}

impl Place {
    pub(super) fn of(file: &str, source: &str, line: u32, function: String) -> Self {
        let index = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        let text = crate::unicode::trim(source.lines().nth(index).unwrap_or("")).to_owned();
        Self { file: file.to_owned(), line, function, text }
    }
}

/// Why a test failed. Shown as Python shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exception's class; `Stopped` at a limit.
    pub kind: String,
    pub message: String,
    /// Where, outermost first. If an actor raised it, the last place is the actor's.
    pub traceback: Vec<Place>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.traceback.is_empty() {
            writeln!(f, "Traceback (most recent call last):")?;
        }
        for Place { file, line, function, text } in &self.traceback {
            writeln!(f, "  File \"{file}\", line {line}, in {function}")?;
            if !text.is_empty() {
                writeln!(f, "    {text}")?;
            }
        }
        let colon = if self.message.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{}", self.kind, self.message)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub name: String,
    /// Whether it came to its end.
    pub passed: bool,
    pub error: Option<Failure>,
    pub printed: String,
    /// Failures on the chain that no line of the test saw: of timers, queued calls, and calls that
    /// waited. A test may want them, so they fail nothing.
    pub unseen: Vec<String>,
    /// The chain's cycles that its actors used.
    pub cycles: u64,
    pub blocks: u64,
}

impl Outcome {
    pub(super) fn refused(name: &str, file: &str) -> Self {
        let message = format!("{name} in {file} takes a parameter; a test takes none");
        let error = Failure { kind: "TypeError".to_owned(), message, traceback: Vec::new() };
        Self {
            name: name.to_owned(),
            passed: false,
            error: Some(error),
            printed: String::new(),
            unseen: Vec::new(),
            cycles: 0,
            blocks: 0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unready {
    /// The file does not compile.
    Refused(CompileError),
    Failed(Failure),
    /// There is no test in it.
    NoTests {
        file: String,
    },
    /// No test has such a name.
    NotFound {
        file: String,
        only: String,
    },
    /// The chain could not be set up.
    Chain(String),
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Failed(failure) => failure.fmt(f),
            Self::NoTests { file } => {
                write!(f, "{file} has no tests; a test is a function test_… without parameters")
            }
            Self::NotFound { file, only } => {
                write!(f, "no test in {file} has a name with '{only}' in it")
            }
            Self::Chain(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Unready {}
