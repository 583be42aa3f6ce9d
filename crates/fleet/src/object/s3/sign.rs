//! Signed requests: AWS Signature Version 4.

use super::BucketConfig;
use crate::auth::sha256_hex;
use data_encoding::HEXLOWER;
use hyper::Method;
use hyper::http::request::{Builder, Request as HttpRequest};
use ring::hmac::{HMAC_SHA256, Key, sign};
use std::collections::BTreeMap;

/// A request before it is signed.
#[derive(Debug)]
pub(super) struct Request {
    method: Method,
    /// A name in the bucket; empty: the bucket itself.
    name: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    hash: String,
}

/// Bytes as a URL has them. All but letters, digits and four others are written as numbers.
fn escape(text: &str, keep_slash: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(byte.into());
            }
            b'/' if keep_slash => escaped.push('/'),
            other => escaped.push_str(&format!("%{other:02X}")),
        }
    }
    escaped
}

impl Request {
    /// For a name in the bucket.
    pub(super) fn new(method: Method, name: String) -> Self {
        let (query, headers) = (BTreeMap::new(), BTreeMap::new());
        Self { method, name, query, headers, hash: sha256_hex(b"") }
    }

    pub(super) fn query(mut self, name: &str, value: &str) -> Self {
        self.query.insert(name.to_owned(), value.to_owned());
        self
    }

    /// `name` is written small.
    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Of the body.
    pub(super) fn hash(mut self, sha256: &str) -> Self {
        self.hash = sha256.to_owned();
        self
    }

    pub(super) fn sign(
        mut self,
        config: &BucketConfig,
        host: &str,
        now: jiff::Timestamp,
    ) -> Builder {
        let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        let day = time[..8].to_owned();
        self.headers.insert("host".to_owned(), host.to_owned());
        self.headers.insert("x-amz-date".to_owned(), time.clone());
        self.headers.insert("x-amz-content-sha256".to_owned(), self.hash.clone());
        let path = match self.name.as_str() {
            "" => format!("/{}", escape(&config.bucket, false)),
            name => format!("/{}/{}", escape(&config.bucket, false), escape(name, true)),
        };
        let query = self
            .query
            .iter()
            .map(|(name, value)| format!("{}={}", escape(name, false), escape(value, false)));
        let query = query.collect::<Vec<_>>().join("&");
        let lines: String =
            self.headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let names = self.headers.keys().map(String::as_str).collect::<Vec<_>>().join(";");
        let canonical =
            format!("{}\n{path}\n{query}\n{lines}\n{names}\n{}", self.method, self.hash);
        let scope = format!("{day}/{}/s3/aws4_request", config.region);
        let text =
            format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", sha256_hex(canonical.as_bytes()));
        let mac = |key: &[u8], text: &str| sign(&Key::new(HMAC_SHA256, key), text.as_bytes());
        let key = mac(format!("AWS4{}", config.secret_key).as_bytes(), &day);
        let key = [config.region.as_str(), "s3", "aws4_request"]
            .iter()
            .fold(key, |key, word| mac(key.as_ref(), word));
        let signature = HEXLOWER.encode(mac(key.as_ref(), &text).as_ref());
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            config.access_key
        );
        let target = if query.is_empty() { path } else { format!("{path}?{query}") };
        let request = HttpRequest::builder().method(self.method).uri(target);
        let request = request.header("authorization", authorization);
        self.headers.into_iter().fold(request, |request, (name, value)| request.header(name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of AWS's own documentation, "GET Object".
    #[test]
    fn a_signature_is_what_its_makers_say() {
        let config = BucketConfig {
            endpoint: String::new(),
            bucket: String::new(),
            region: "us-east-1".to_owned(),
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            prefix: String::new(),
        };
        let now: jiff::Timestamp = "2013-05-24T00:00:00Z".parse().expect("a time");
        // There the bucket is in the host's name; here it is the first part of the path.
        let config = BucketConfig { bucket: "test.txt".to_owned(), ..config };
        let signed = Request::new(Method::GET, String::new())
            .header("range", "bytes=0-9")
            .sign(&config, "examplebucket.s3.amazonaws.com", now)
            .body(())
            .expect("a request");
        let header = signed.headers()["authorization"].to_str().expect("text");
        let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        assert!(header.ends_with(&format!("Signature={signature}")), "{header}");
    }

    #[test]
    fn names_are_escaped_as_the_signature_wants_them() {
        assert_eq!(escape("a/b+c@d=e f", true), "a/b%2Bc%40d%3De%20f");
        assert_eq!(escape("a/b", false), "a%2Fb");
    }
}
