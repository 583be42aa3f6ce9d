//! Short words that are compared: tags of capabilities and labels of limits.

use crate::text::{bounded_text, plain};

/// Longest tag or label.
const WORD_BYTES_MAX: usize = 128;

fn check(text: &str) -> Result<(), &'static str> {
    if text.is_empty() || text.len() > WORD_BYTES_MAX {
        return Err("must have 1 to 128 characters");
    }
    if !text.bytes().all(|b| b.is_ascii_graphic() && !b"\"'\\,".contains(&b)) {
        return Err("may only have visible ASCII without quotes, backslashes and commas");
    }
    Ok(())
}

bounded_text!(
    /// What a runner has and a job needs: `os:linux`, `arch:x86_64`, `dotnet:9`.
    Tag, &'static str, check, plain
);
bounded_text!(
    /// What jobs of different runs share a limit by: `deploy:production`.
    Label, &'static str, check, plain
);
