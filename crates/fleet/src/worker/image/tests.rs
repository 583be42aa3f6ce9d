use super::tar::tests::entry;
use super::*;
use crate::auth::sha256_hex;
use serde_json::{Value, json};

/// A folder with an image in it, and a store beside it.
struct Bench {
    folder: PathBuf,
    store: Store,
}

impl Bench {
    fn new(name: &str, bytes_max: u64) -> Self {
        let folder =
            std::env::temp_dir().join(format!("fleet-image-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("images/a/blobs/sha256")).expect("a folder");
        fs::write(folder.join("secret"), "x").expect("a file");
        let (to, scratch) = (folder.join("store"), folder.join("scratch"));
        let store = Store::open(&folder.join("images"), &to, &scratch, bytes_max).expect("a store");
        Self { folder, store }
    }

    fn blob(&self, kind: &str, bytes: &[u8]) -> Value {
        let digits = sha256_hex(bytes);
        let at = self.folder.join("images/a/blobs/sha256").join(&digits);
        fs::write(at, bytes).expect("a file");
        json!({ "mediaType": kind, "digest": format!("sha256:{digits}"), "size": bytes.len() })
    }

    /// Makes the image `a` of layers, each as its kind, its bytes, and what is in it.
    fn image(&self, layers: &[(&str, Vec<u8>, &[u8])]) {
        let contents: Vec<String> =
            layers.iter().map(|(.., tar)| format!("sha256:{}", sha256_hex(tar))).collect();
        let config = json!({ "architecture": "amd64", "os": "linux",
            "config": { "Env": ["LANG=C.UTF-8"] },
            "rootfs": { "type": "layers", "diff_ids": contents } });
        let config = self.blob("config", config.to_string().as_bytes());
        let blobs: Vec<Value> =
            layers.iter().map(|(kind, bytes, _)| self.blob(kind, bytes)).collect();
        let manifest = json!({ "schemaVersion": 2, "config": config, "layers": blobs });
        let kind = "application/vnd.oci.image.manifest.v1+json";
        let manifest = self.blob(kind, manifest.to_string().as_bytes());
        let at = self.folder.join("images/a");
        let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
        fs::write(at.join("index.json"), index.to_string()).expect("a file");
        fs::write(at.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).expect("a file");
    }

    fn blobs(&self) -> Vec<PathBuf> {
        let blobs = fs::read_dir(self.folder.join("images/a/blobs/sha256")).expect("a folder");
        blobs.map(|blob| blob.expect("an entry").path()).collect()
    }

    fn kept(&self) -> usize {
        let kept = fs::read_dir(self.folder.join("store")).expect("a folder");
        kept.filter(|entry| entry.as_ref().expect("an entry").path().is_dir()).count()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

const TAR: &str = "application/vnd.oci.image.layer.v1.tar";
const GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

fn shell() -> Vec<u8> {
    entry("bin/sh", b'0', "", b"#!")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut encoder = flate2::read::GzEncoder::new(bytes, flate2::Compression::fast());
    encoder.read_to_end(&mut packed).expect("packed");
    packed
}

#[test]
fn an_image_is_unpacked_once_from_a_folder_or_an_archive() {
    let bench = Bench::new("once", 1 << 20);
    let (lower, upper) = (shell(), entry("etc/x", b'0', "", b"1"));
    bench.image(&[(TAR, lower.clone(), &lower), (GZIP, gzip(&upper), &upper)]);
    let image = bench.store.prepare("oci:a").expect("an image");
    assert_eq!(fs::read_to_string(image.rootfs.join("etc/x")).expect("a file"), "1");
    assert_eq!(image.env, [("LANG".to_owned(), "C.UTF-8".to_owned())]);
    assert!(image.rootfs.join("job").is_dir());
    // The same image as an archive has the same name: nothing is unpacked again.
    let archive = bench.folder.join("images/a.tar");
    let made = std::process::Command::new("tar")
        .args(["-C".as_ref(), bench.folder.join("images/a").as_os_str(), "-cf".as_ref()])
        .args([archive.as_os_str(), ".".as_ref()])
        .status();
    assert!(made.expect("tar").success());
    for _ in 0..2 {
        let again = bench.store.prepare("oci-archive:a.tar").expect("an image");
        assert_eq!(again.rootfs, image.rootfs);
    }
    assert_eq!(bench.kept(), 1);
    assert!(!bench.folder.join("scratch").exists());
}

#[test]
fn a_blob_that_was_changed_is_refused() {
    let bench = Bench::new("changed", 1 << 20);
    let layer = shell();
    bench.image(&[(TAR, layer.clone(), &layer)]);
    for blob in bench.blobs() {
        let whole = fs::read(&blob).expect("bytes");
        let mut other = whole.clone();
        // Of the same length, and still JSON where it was.
        let last = other.iter().rposition(|b| b.is_ascii_alphanumeric()).expect("a letter");
        other[last] ^= 1;
        fs::write(&blob, &other).expect("written");
        let refused = bench.store.prepare("oci:a");
        assert!(matches!(refused, Err(ImageError::Hash(_))), "{refused:?}");
        fs::write(&blob, &whole[1..]).expect("written");
        assert!(matches!(bench.store.prepare("oci:a"), Err(ImageError::Hash(_))));
        fs::write(&blob, whole).expect("written");
    }
    assert_eq!(bench.kept(), 0, "nothing half done is left");
    // A layer whose contents are not those that the configuration names.
    bench.image(&[(TAR, layer.clone(), b"another")]);
    assert!(matches!(bench.store.prepare("oci:a"), Err(ImageError::Hash(_))));
    assert_eq!(bench.kept(), 0);
}

#[test]
fn an_image_that_is_too_large_packed_or_not_leaves_nothing() {
    let bench = Bench::new("large", 4_096);
    let layer = [shell(), entry("zeros", b'0', "", &[0; 5_000])].concat();
    let packed = gzip(&layer);
    assert!(packed.len() < 500, "{}", packed.len());
    bench.image(&[(GZIP, packed, &layer)]);
    let refused = bench.store.prepare("oci:a");
    assert!(matches!(refused, Err(ImageError::Large { bytes_max: 4_096 })), "{refused:?}");
    assert_eq!(bench.kept(), 0);
    // An archive of a large one is not even taken apart.
    fs::write(bench.folder.join("images/b.tar"), {
        let name = format!("blobs/sha256/{}", "0".repeat(64));
        entry(&name, b'0', "", &[0; 5_000])
    })
    .expect("a file");
    assert!(matches!(bench.store.prepare("oci-archive:b.tar"), Err(ImageError::Large { .. })));
}

#[test]
fn only_what_is_in_the_folder_is_an_image() {
    let bench = Bench::new("where", 1 << 20);
    let layer = shell();
    bench.image(&[(TAR, layer.clone(), &layer)]);
    std::os::unix::fs::symlink("..", bench.folder.join("images/up")).expect("a link");
    let there = bench.folder.join("images/a").to_string_lossy().into_owned();
    bench.store.prepare(&format!("oci:{there}")).expect("the whole path of it");
    for away in ["oci:../secret", "oci:up/secret", "oci:/etc", "oci:b", "oci-archive:up/secret"] {
        let refused = bench.store.prepare(away);
        assert!(matches!(refused, Err(ImageError::Unknown(_))), "{away}: {refused:?}");
    }
    for none in ["debian:12", "oci:", "docker://x", "oci:a:"] {
        assert!(matches!(bench.store.prepare(none), Err(ImageError::Reference)), "{none}");
    }
    assert!(matches!(bench.store.prepare("oci:a:latest"), Err(ImageError::Layout(_))));
    let empty = entry("etc/x", b'0', "", b"1");
    bench.image(&[(TAR, empty.clone(), &empty)]);
    assert!(matches!(bench.store.prepare("oci:a"), Err(ImageError::NoShell)));
    bench.image(&[("application/vnd.oci.image.layer.v1.tar+zstd", layer.clone(), &layer)]);
    assert!(matches!(bench.store.prepare("oci:a"), Err(ImageError::Kind(_))));
}

#[test]
fn images_that_are_used_stay_and_others_make_room() {
    let bench = Bench::new("evict", 3_000);
    let image = |n: u8| {
        let layer = [shell(), entry("big", b'0', "", &[n; 1_400])].concat();
        bench.image(&[(TAR, layer.clone(), &layer)]);
        bench.store.prepare("oci:a").expect("an image")
    };
    let first = image(1);
    drop(image(2));
    assert_eq!(bench.kept(), 2);
    let third = image(3);
    assert!(first.rootfs.is_dir() && third.rootfs.is_dir(), "both are used");
    assert_eq!(bench.kept(), 2, "the second was not");
}

#[test]
fn what_others_unpack_is_left_alone_and_what_nobody_does_is_removed() {
    let bench = Bench::new("half", 1 << 20);
    let at = |name: &str| bench.folder.join("store").join(name);
    for half in [".new-dead", ".new-busy"] {
        fs::create_dir_all(at(half)).expect("a folder");
        fs::write(at(half).join("big"), vec![0; 2 << 20]).expect("a file");
    }
    fs::create_dir_all(at("whole")).expect("a folder");
    fs::write(at("whole.lock"), "").expect("a file");
    let busy = bench.store.lock("busy").expect("a lock");
    flock(&busy, FlockOperation::LockExclusive).expect("locked");
    // What is not whole makes no other go.
    bench.store.evict(&at("newest")).expect("room");
    assert!(at("whole").exists() && at(".new-busy").exists());
    bench.store.tidy().expect("tidy");
    assert!(at(".new-busy").exists() && !at(".new-dead").exists());
}
