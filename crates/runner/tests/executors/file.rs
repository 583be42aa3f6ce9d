//! Files for one test.

use std::path::PathBuf;

/// A file that goes when this does.
pub(crate) struct TestFile(pub(crate) PathBuf);

impl TestFile {
    /// A file with some text; tests run side by side, so each names its own.
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("remuda-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
