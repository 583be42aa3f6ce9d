//! What a web server answered, as a result: the same bytes for the same answer.

use super::document::{finish, number, object, string, within};
use super::{ExecuteError, Work};
use data_encoding::BASE64;
use remuda_protocol::dispatcher::spec::DataFormat;
use remuda_protocol::verifier::json::{Json, parse};
use remuda_protocol::verifier::path::Path;

pub(super) struct Response {
    pub status: u16,
    /// Content-Type, if it is ASCII.
    pub content_type: Option<String>,
    /// The header of that name, unless it says that nothing was done to the body.
    pub content_encoding: Option<String>,
    /// The body. None where HTTP has none: to HEAD, with 204 and with 304.
    pub body: Option<Vec<u8>>,
}

impl Response {
    /// The result in the job's form.
    pub(super) fn into_result(
        self,
        work: &Work<'_>,
        extract: &Path,
    ) -> Result<Vec<u8>, ExecuteError> {
        match work.spec.result_schema.data_format {
            DataFormat::Bytes => within(work, self.body.unwrap_or_default()),
            DataFormat::Text => {
                self.require_plain()?;
                let text = String::from_utf8(self.body.unwrap_or_default());
                let text = text.map_err(|_| bad("the body is not UTF-8"))?;
                within(work, text.into_bytes())
            }
            DataFormat::Json if extract.is_whole() => finish(work, &self.whole()?),
            DataFormat::Json => finish(work, &self.part(extract)?),
        }
    }

    /// All of the answer. A body that calls itself JSON has to be JSON.
    fn whole(self) -> Result<Json, ExecuteError> {
        self.require_plain()?;
        let json = self.is_json();
        let mut envelope = vec![
            ("status", number(self.status.into())),
            ("content_type", self.content_type.map_or(Json::Null, Json::String)),
        ];
        match self.body {
            None => envelope.push(("body", Json::Null)),
            Some(body) if json => envelope.push(("body", read(&body, self.status)?)),
            Some(body) => match String::from_utf8(body) {
                Ok(text) => envelope.push(("body", string(text))),
                Err(error) => {
                    envelope.push(("body", string(BASE64.encode(error.as_bytes()))));
                    envelope.push(("encoding", string("base64")));
                }
            },
        }
        let members = envelope.into_iter().map(|(name, value)| (name.to_owned(), value));
        Ok(Json::Object(members.collect()))
    }

    /// Extracts one value of a JSON body. The content type is ignored: `extract` implies JSON.
    fn part(self, extract: &Path) -> Result<Json, ExecuteError> {
        self.require_plain()?;
        let body = self.body.ok_or_else(|| bad("there is no body to take a part from"))?;
        let body = read(&body, self.status)?;
        let value = extract.get(&body).ok_or_else(|| {
            bad(format!("status {}, and the body has no {:?}", self.status, extract.text()))
        })?;
        Ok(object([("status", number(self.status.into())), ("value", value.clone())]))
    }

    fn is_json(&self) -> bool {
        let Some(content_type) = &self.content_type else {
            return false;
        };
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        matches!(&essence[..], "application/json" | "text/json") || essence.ends_with("+json")
    }

    /// Nothing is decompressed here: a few bytes could become any number, and not the same ones
    /// with every library. Who wants compressed bytes asks for `Bytes`.
    fn require_plain(&self) -> Result<(), ExecuteError> {
        match &self.content_encoding {
            None => Ok(()),
            Some(encoding) => Err(bad(format!("the body is encoded, as {encoding:.40}"))),
        }
    }
}

fn read(body: &[u8], status: u16) -> Result<Json, ExecuteError> {
    parse(body).map_err(|error| {
        bad(format!("status {status}, and the body is no acceptable JSON: {error}"))
    })
}

fn bad(reason: impl Into<String>) -> ExecuteError {
    ExecuteError::BadAnswer(reason.into())
}
