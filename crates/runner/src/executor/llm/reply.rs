//! A model's reply, put together.

use crate::executor::Work;
use serde::Deserialize;
use serde::de::IgnoredAny;
use thiserror::Error;

/// The complete answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Completion {
    pub content: String,
    /// Why it ends: `stop`, `length`, …
    pub finish_reason: String,
}

/// A reply that is being put together.
pub(super) struct Reply<'a> {
    work: &'a Work<'a>,
    content: String,
    finish_reason: Option<String>,
    tokens: u64,
    percent: u8,
}

/// The server's own text is left out: it may repeat the API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum ReplyError {
    #[error("malformed completion")]
    Malformed,
    #[error("the server reports an error")]
    Failed,
    #[error("response ended early")]
    Unfinished,
    #[error("more than {0} bytes")]
    TooLarge(usize),
}

impl ReplyError {
    /// Whether it is worth asking again.
    pub(super) fn is_transient(self) -> bool {
        matches!(self, Self::Failed | Self::Unfinished)
    }

    /// Whether the server went away. One that says that it failed may do so because of the job:
    /// templates of models refuse many a conversation.
    pub(super) fn away(self) -> bool {
        self == Self::Unfinished
    }
}

/// A piece of a completion, or all of it; what else it holds is of no interest.
#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    choices: Vec<Choice>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u32,
    delta: Option<Text>,
    message: Option<Text>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Text {
    content: Option<String>,
}

impl<'a> Reply<'a> {
    pub(super) fn new(work: &'a Work<'a>) -> Self {
        Self { work, content: String::new(), finish_reason: None, tokens: 0, percent: 0 }
    }

    /// Adds a piece. One choice was asked for; others are not the answer.
    pub(super) fn add(&mut self, piece: &[u8]) -> Result<(), ReplyError> {
        let piece: Piece = serde_json::from_slice(piece).map_err(|_| ReplyError::Malformed)?;
        if piece.error.is_some() {
            return Err(ReplyError::Failed);
        }
        for choice in piece.choices.into_iter().filter(|choice| choice.index == 0) {
            if let Some(text) = choice.delta.or(choice.message).and_then(|text| text.content) {
                self.add_text(&text)?;
            }
            self.finish_reason = choice.finish_reason.or(self.finish_reason.take());
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) -> Result<(), ReplyError> {
        let limit = self.work.max_bytes();
        if text.len() > limit - self.content.len() {
            return Err(ReplyError::TooLarge(limit));
        }
        self.content.push_str(text);
        // Servers send a token at a time, more or less.
        self.tokens += u64::from(!text.is_empty());
        let most = u64::from(self.work.spec.bounds.max_output_tokens).max(1);
        let percent = (self.tokens.saturating_mul(100) / most).min(99) as u8;
        if percent > self.percent {
            self.percent = percent;
            self.work.progress.report(percent, &format!("{} tokens", self.tokens));
        }
        Ok(())
    }

    /// The answer, if it is complete.
    pub(super) fn end(self) -> Result<Completion, ReplyError> {
        match self.finish_reason {
            Some(finish_reason) => Ok(Completion { content: self.content, finish_reason }),
            None => Err(ReplyError::Unfinished),
        }
    }
}
