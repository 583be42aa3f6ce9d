//! OCI image layouts: a directory with an index, and blobs named by their hashes, which are verified.
//!
//! Not the crate `oci-spec`: its types need darling, derive_builder, getset and regex, for the forty lines of
//! serde structs here.

use super::{ImageError, LayerReader};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek as _};
use std::path::{Path, PathBuf};

/// Largest index, manifest or configuration.
const DOCUMENT_BYTES_MAX: u64 = 4 * 1_024 * 1_024;
/// Most layers of an image, as in other tools.
const LAYERS_MAX: usize = 127;
/// Most nested indexes.
const NESTING_MAX: usize = 2;
/// Annotation with an image's name.
const NAME: &str = "org.opencontainers.image.ref.name";

/// Descriptor of a blob.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob {
    #[serde(default)]
    pub(super) media_type: String,
    pub(super) digest: String,
    pub(super) size: u64,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
    platform: Option<Platform>,
}

#[derive(Clone, Debug, Deserialize)]
struct Platform {
    os: String,
    architecture: String,
}

#[derive(Deserialize)]
struct Index {
    manifests: Vec<Blob>,
}

#[derive(Deserialize)]
struct Manifest {
    config: Blob,
    layers: Vec<Blob>,
}

#[derive(Deserialize)]
struct Configuration {
    #[serde(default)]
    config: Process,
    rootfs: Rootfs,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Process {
    #[serde(default)]
    env: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Rootfs {
    diff_ids: Vec<String>,
}

/// An image whose documents were verified. Its layers were not yet.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Digest of the manifest, which identifies the image.
    pub(super) digest: String,
    /// Layers with the digests of their uncompressed content.
    pub(super) layers: Vec<(Blob, String)>,
    /// Environment of the image.
    pub(super) env: Vec<(String, String)>,
}

pub(super) struct Layout(pub(super) PathBuf);

impl Layout {
    /// The image with this name, or the only one.
    pub(super) fn find(&self, name: Option<&str>) -> Result<Found, ImageError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Mark {
            image_layout_version: String,
        }
        let mark: Mark = document("oci-layout", &self.bounded("oci-layout")?)?;
        if !mark.image_layout_version.starts_with("1.") {
            return Err(ImageError::Layout("oci-layout has another version than 1"));
        }
        let index: Index = document("index.json", &self.bounded("index.json")?)?;
        let named = |blob: &&Blob| {
            name.is_none_or(|name| blob.annotations.get(NAME).is_some_and(|has| has == name))
        };
        let mut blob = only(index.manifests.iter().filter(named))?;
        for _ in 0..NESTING_MAX {
            if !blob.media_type.contains("index") && !blob.media_type.contains("manifest.list") {
                break;
            }
            let inner: Index = self.read(&blob)?;
            blob = only(inner.manifests.iter().filter(|blob| fits(blob)))?;
        }
        let manifest: Manifest = self.read(&blob)?;
        if manifest.layers.len() > LAYERS_MAX {
            return Err(ImageError::Layout("more than 127 layers"));
        }
        let configuration: Configuration = self.read(&manifest.config)?;
        let contents = configuration.rootfs.diff_ids;
        if contents.len() != manifest.layers.len() {
            return Err(ImageError::Layout(
                "manifest and configuration name different numbers of layers",
            ));
        }
        let env = configuration.config.env.unwrap_or_default();
        let env = env.iter().filter_map(|line| line.split_once('='));
        Ok(Found {
            digest: hex(&blob.digest)?.to_owned(),
            layers: manifest.layers.into_iter().zip(contents).collect(),
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        })
    }

    /// Opens a blob and verifies its hash.
    pub(super) fn open(&self, blob: &Blob) -> Result<File, ImageError> {
        let mut file = File::open(self.0.join("blobs/sha256").join(hex(&blob.digest)?))?;
        if file.metadata()?.len() != blob.size
            || LayerReader::new(&file, blob.size).finish()? != hex(&blob.digest)?
        {
            return Err(ImageError::Hash(blob.digest.clone()));
        }
        file.rewind()?;
        Ok(file)
    }

    fn read<T: DeserializeOwned>(&self, blob: &Blob) -> Result<T, ImageError> {
        if blob.size > DOCUMENT_BYTES_MAX {
            return Err(ImageError::Layout("a document has more than 4 MiB"));
        }
        let mut bytes = Vec::new();
        self.open(blob)?.take(DOCUMENT_BYTES_MAX).read_to_end(&mut bytes)?;
        document(&blob.digest, &bytes)
    }

    fn bounded(&self, name: &str) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        let file = File::open(self.0.join(name))?;
        file.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 <= DOCUMENT_BYTES_MAX {
            true => Ok(bytes),
            false => Err(ImageError::Layout("a document has more than 4 MiB")),
        }
    }
}

fn document<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, ImageError> {
    serde_json::from_slice(bytes)
        .map_err(|error| ImageError::Document { name: name.to_owned(), why: error.to_string() })
}

fn only<'a>(mut blobs: impl Iterator<Item = &'a Blob>) -> Result<Blob, ImageError> {
    match (blobs.next(), blobs.next()) {
        (Some(blob), None) => Ok(blob.clone()),
        (None, _) => Err(ImageError::Layout("no such image for this machine")),
        _ => Err(ImageError::Layout("several images; name one as in oci:NAME:TAG")),
    }
}

/// Whether a manifest is for this machine.
fn fits(blob: &Blob) -> bool {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let of = |platform: &Platform| platform.os == "linux" && platform.architecture == machine;
    blob.platform.as_ref().is_none_or(of)
}

/// The hex digits of a SHA-256 digest.
pub(super) fn hex(digest: &str) -> Result<&str, ImageError> {
    let digits = digest.strip_prefix("sha256:");
    let plain = |text: &&str| {
        text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    digits.filter(plain).ok_or_else(|| ImageError::Digest(digest.chars().take(80).collect()))
}

/// Whether a path of an archive belongs to a layout. Others are skipped.
pub(super) fn is_part(path: &Path) -> bool {
    let Some(text) = path.to_str().map(|text| text.trim_start_matches("./")) else { return false };
    let blob = text.strip_prefix("blobs/sha256/");
    matches!(text, "oci-layout" | "index.json")
        || blob.is_some_and(|digits| hex(&format!("sha256:{digits}")).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashes_lead_to_blobs() {
        assert!(hex(&format!("sha256:{}", "a0".repeat(32))).is_ok());
        for bad in ["sha256:../../../etc/passwd", "sha512:00", "sha256:A", "", "sha256:"] {
            assert!(hex(bad).is_err(), "{bad}");
        }
        assert!(is_part(Path::new("./index.json")));
        assert!(is_part(Path::new(&format!("blobs/sha256/{}", "0".repeat(64)))));
        for other in ["blobs/sha256/x", "../index.json", "blobs/sha256", "manifest.json"] {
            assert!(!is_part(Path::new(other)), "{other}");
        }
    }
}
