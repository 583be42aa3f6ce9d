//! Tags of capabilities, and labels of limits.

use crate::auth::sha256_hex;
use crate::text::{bounded_text, plain};

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
    /// A capability that a runner has and a job needs: `os:linux`, `arch:x86_64`, `dotnet:9`.
    Tag, &'static str, check, plain
);
bounded_text!(
    /// A limit shared by jobs of different runs: `deploy:production`.
    Label, &'static str, check, plain
);

/// Prefix of labels that stand for tokens. Submitters cannot set them.
const OF_TOKEN: &str = "token:";

impl Label {
    /// The label of a token's jobs, if the token limits their number.
    pub fn of_token(name: &str) -> Self {
        let hashed = || Self::new(&format!("{OF_TOKEN}{}", &sha256_hex(name.as_bytes())[..32]));
        Self::new(&format!("{OF_TOKEN}{name}")).or_else(|_| hashed()).expect("hex digits are plain")
    }

    /// Whether it stands for a token.
    pub fn is_of_a_token(&self) -> bool {
        self.as_str().starts_with(OF_TOKEN)
    }
}
