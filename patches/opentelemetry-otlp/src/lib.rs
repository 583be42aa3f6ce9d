//! commonware-runtime can export traces over OTLP; nodes never ask it to. The exporter would bring Protocol Buffers
//! and a second HTTP client into every build, so this crate takes its place. It has the names that
//! commonware-runtime uses, and building an exporter is an error.

use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::SpanData;
use std::time::Duration;

/// The only outcome of building an exporter.
#[derive(Debug, thiserror::Error)]
#[error("this program is built without OTLP trace export; use logs and metrics instead")]
pub struct ExporterBuildError;

/// An exporter, of which there is none.
#[derive(Debug)]
pub enum SpanExporter {}

impl SpanExporter {
    /// Starts to build one.
    pub fn builder() -> SpanExporterBuilder {
        SpanExporterBuilder
    }
}

impl opentelemetry_sdk::trace::SpanExporter for SpanExporter {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        match *self {}
    }
}

/// Fails in the end.
#[derive(Debug)]
pub struct SpanExporterBuilder;

impl SpanExporterBuilder {
    /// Over HTTP.
    pub fn with_http(self) -> Self {
        self
    }

    /// Always an error.
    pub fn build(self) -> Result<SpanExporter, ExporterBuildError> {
        Err(ExporterBuildError)
    }
}

/// What the exporter would have been told.
pub trait WithExportConfig {
    /// Where to send traces.
    fn with_endpoint(self, endpoint: impl Into<String>) -> Self;
    /// How long to wait for an answer.
    fn with_timeout(self, timeout: Duration) -> Self;
}

impl WithExportConfig for SpanExporterBuilder {
    fn with_endpoint(self, _: impl Into<String>) -> Self {
        self
    }

    fn with_timeout(self, _: Duration) -> Self {
        self
    }
}
