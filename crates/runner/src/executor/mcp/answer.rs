//! What a tool answered, as a result: the same bytes for the same answer.

use crate::executor::document::{finish, object, string, within};
use crate::executor::{ExecuteError, Work};
use remuda_protocol::dispatcher::spec::DataFormat;
use remuda_protocol::verifier::json::{Json, parse};
use rmcp::model::{CallToolResult, ContentBlock};

/// Why an answer gives no result.
pub(super) enum UntypedContent {
    /// The tool reports an error.
    Reported(String),
    /// No usable content.
    Useless(String),
    /// An error of any result.
    Other(ExecuteError),
}

impl From<ExecuteError> for UntypedContent {
    fn from(error: ExecuteError) -> Self {
        Self::Other(error)
    }
}

/// The result in the job's form.
pub(super) fn shape(work: &Work<'_>, result: CallToolResult) -> Result<Vec<u8>, UntypedContent> {
    let text = text(&result.content);
    if result.is_error == Some(true) {
        return Err(UntypedContent::Reported(text.unwrap_or_default()));
    }
    let structured = match result.structured_content {
        None => None,
        Some(value) => match parse(value.to_string().as_bytes()) {
            Ok(document) => Some(document),
            Err(error) => {
                return Err(UntypedContent::Useless(format!("structured content: {error}")));
            }
        },
    };
    let none = || UntypedContent::Useless("neither text nor structured content".into());
    match work.spec.result_schema.data_format {
        DataFormat::Json => {
            let text = text.as_deref();
            let value = structured.or_else(|| text.and_then(document));
            let result = match (value, text) {
                (Some(value), _) => object([("value", value)]),
                (None, Some(text)) => object([("text", string(text))]),
                (None, None) => return Err(none()),
            };
            Ok(finish(work, &result)?)
        }
        DataFormat::Text | DataFormat::Bytes => {
            let text = text.or_else(|| structured.map(|document| document.canonical()));
            Ok(within(work, text.ok_or_else(none)?.into_bytes())?)
        }
    }
}

/// All of a content that is text, and nothing else.
fn text(content: &[ContentBlock]) -> Option<String> {
    let lines = content.iter().map(|block| match block {
        ContentBlock::Text(block) => Some(&block.text[..]),
        _ => None,
    });
    let lines = lines.collect::<Option<Vec<_>>>()?;
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A document that is written as text. A text that happens to be a number stays a text.
fn document(text: &str) -> Option<Json> {
    let document = parse(text.as_bytes()).ok()?;
    matches!(document, Json::Object(_) | Json::Array(_)).then_some(document)
}
