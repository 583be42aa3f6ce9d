//! The bucket of `orchestrator.toml`, and the keys to it, which are never in there.

use crate::failure::Failure;
use crate::fleet::FleetFailure;
use remuda_fleet::http::Trust;
use remuda_fleet::object::BucketConfig;
use serde::Deserialize;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What the keys are called, in the environment and in a file. Every tool for such stores knows these.
pub(crate) const ACCESS_KEY: &str = "AWS_ACCESS_KEY_ID";
pub(crate) const SECRET_KEY: &str = "AWS_SECRET_ACCESS_KEY";

/// Where objects are, if not in a folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bucket {
    pub(crate) endpoint: String,
    pub(crate) bucket: String,
    #[serde(default = "anywhere")]
    pub(crate) region: String,
    #[serde(default)]
    pub(crate) prefix: String,
    /// None: the environment has the keys.
    pub(crate) keys_file: Option<PathBuf>,
}

/// What stores without regions are asked for.
pub(crate) fn anywhere() -> String {
    "us-east-1".to_owned()
}

impl Bucket {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let http = ["http://", "https://"].iter().find_map(|it| self.endpoint.strip_prefix(it));
        if !http.is_some_and(|host| !host.is_empty() && !host.contains(['/', '@', '?', ' '])) {
            return Err(
                "endpoint under [bucket] is http://HOST[:PORT] or https://HOST[:PORT], without the bucket",
            );
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || b".-_".contains(&b);
        if !(1..=255).contains(&self.bucket.len()) || !self.bucket.bytes().all(plain) {
            return Err("bucket under [bucket] is a name: letters, digits, dots, dashes");
        }
        if self.region.is_empty() || !self.region.bytes().all(plain) {
            return Err("region under [bucket] is a word; us-east-1 where the store has none");
        }
        let in_names = |b: u8| plain(b) || b == b'/';
        if !self.prefix.bytes().all(in_names) || self.prefix.starts_with('/') {
            return Err("prefix under [bucket] is a part of names, like fleet/");
        }
        Ok(())
    }

    /// As the library wants it, with the keys.
    pub(super) fn config(&self, directory: &Path, trust: Trust) -> Result<BucketConfig, Failure> {
        let (access_key, secret_key) = match &self.keys_file {
            Some(file) => from_file(&directory.join(file))?,
            None => from_environment(|name| std::env::var(name).ok())?,
        };
        Ok(BucketConfig {
            endpoint: self.endpoint.clone(),
            bucket: self.bucket.clone(),
            region: self.region.clone(),
            prefix: self.prefix.clone(),
            access_key,
            secret_key,
            trust,
        })
    }
}

fn from_environment(get: impl Fn(&str) -> Option<String>) -> Result<(String, String), Failure> {
    let named = |name: &str| get(name).filter(|value| !value.is_empty());
    let keys = named(ACCESS_KEY).zip(named(SECRET_KEY));
    Ok(keys.ok_or(FleetFailure::NoBucketKeys)?)
}

/// `NAME=value` on two lines, as files for environments have it.
fn from_file(path: &Path) -> Result<(String, String), Failure> {
    let failed = |source| Failure::File { path: path.to_owned(), source };
    let mode = std::fs::metadata(path).map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(FleetFailure::OpenKeys(path.to_owned()).into());
    }
    let text = String::from_utf8_lossy(&crate::session::read_input(path)?).into_owned();
    let get = |name: &str| {
        let value =
            |line: &str| Some(line.trim().strip_prefix(name)?.strip_prefix('=')?.to_owned());
        text.lines().find_map(value)
    };
    from_environment(get).map_err(|_| {
        let why = format!("it must have two lines, {ACCESS_KEY}=… and {SECRET_KEY}=…");
        FleetFailure::Content { path: path.to_owned(), why }.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_a_file_that_only_its_owner_reads() {
        let path = std::env::temp_dir().join(format!("remuda-keys-{}", std::process::id()));
        std::fs::write(&path, format!("{SECRET_KEY}=b=c\n{ACCESS_KEY}=a\n")).expect("a file");
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
        mode(0o644).expect("changed");
        let open = from_file(&path).expect_err("others can read it").to_string();
        assert!(open.contains("chmod 600"), "{open}");
        mode(0o600).expect("changed");
        assert_eq!(from_file(&path).expect("keys"), ("a".to_owned(), "b=c".to_owned()));
        std::fs::write(&path, format!("{ACCESS_KEY}=a\n")).expect("a file");
        assert!(from_file(&path).expect_err("half").to_string().contains(SECRET_KEY));
        std::fs::remove_file(&path).expect("removed");
        assert!(from_environment(|_| None).is_err());
    }
}
