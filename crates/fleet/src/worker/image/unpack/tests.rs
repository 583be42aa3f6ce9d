//! Hostile layers and normal ones.

use super::super::tar::tests::entry;
use super::*;

struct Tree {
    folder: PathBuf,
    root: Root,
}

impl Tree {
    fn new(name: &str) -> Self {
        let name = format!("fleet-unpack-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("root")).expect("a folder");
        std::fs::write(folder.join("outside"), "safe").expect("a file");
        let root = Root::open(&folder.join("root")).expect("a folder");
        Self { folder, root }
    }

    fn layer(&self, entries: &[Vec<u8>]) -> Result<(), ImageError> {
        let (layer, mut budget) = (entries.concat(), Budget::new(10_000));
        self.root.take_away(&*layer, &mut budget)?;
        self.root.put(&*layer, &mut budget)
    }

    fn text(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.join("root").join(path)).ok()
    }

    fn names(&self, path: &str) -> Vec<String> {
        let inside = std::fs::read_dir(self.folder.join("root").join(path)).expect("a folder");
        let mut names: Vec<String> = inside
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let outside = std::fs::read_to_string(self.folder.join("outside"));
        let _ = std::fs::remove_dir_all(&self.folder);
        if !std::thread::panicking() {
            assert_eq!(outside.expect("it is there"), "safe", "the layer left its tree");
        }
    }
}

fn file(name: &str, body: &str) -> Vec<u8> {
    entry(name, b'0', "", body.as_bytes())
}

#[test]
fn a_layer_above_replaces_and_takes_away() {
    let tree = Tree::new("layers");
    tree.layer(&[file("a/x", "1"), file("a/y", "1"), file("b/z", "1"), file("c", "1")])
        .expect("a layer");
    tree.layer(&[
        file("a/x", "2"),
        file("a/.wh.y", ""),
        // What the same layer brings stays, whichever comes first.
        file("b/new", "2"),
        file("b/.wh..wh..opq", ""),
        file(".wh.never-was", ""),
        entry("c/", b'5', "", b""),
        file("c/d", "2"),
    ])
    .expect("a layer");
    assert_eq!(tree.text("a/x").as_deref(), Some("2"));
    assert_eq!(
        (tree.names("a"), tree.names("b"), tree.names("c")),
        (vec!["x".to_owned()], vec!["new".to_owned()], vec!["d".to_owned()])
    );
    assert_eq!(tree.names("."), ["a", "b", "c"]);
}

#[test]
fn links_are_followed_within_the_tree_as_the_container_sees_it() {
    let tree = Tree::new("links");
    tree.layer(&[
        entry("usr/bin/", b'5', "", b""),
        entry("bin", b'2', "/usr/bin", b""),
        file("bin/sh", "shell"),
        entry("bin/ash", b'1', "bin/sh", b""),
        entry("bin/ash", b'1', "usr/bin/sh", b""),
    ])
    .expect("a layer");
    assert_eq!(tree.text("usr/bin/sh").as_deref(), Some("shell"));
    assert_eq!(tree.text("usr/bin/ash").as_deref(), Some("shell"));
    assert!(tree.root.has_program("/bin/sh") && !tree.root.has_program("/bin/no"));
    assert!(!tree.root.has_program("/bin"));
}

#[test]
fn no_entry_leaves_the_tree() {
    let tree = Tree::new("escape");
    // Upwards by name: refused. Upwards by links: they end at the root of the tree.
    for bad in ["../outside", "a/../../outside", "/../outside"] {
        assert!(tree.layer(&[file(bad, "evil")]).is_err(), "{bad}");
        assert!(tree.layer(&[entry("l", b'1', bad, b"")]).is_err(), "{bad}");
    }
    tree.layer(&[entry("up", b'2', "..", b""), file("up/outside", "inside")]).expect("a layer");
    assert_eq!(tree.text("outside").as_deref(), Some("inside"));
    tree.layer(&[entry("far", b'2', "/../../..", b""), file("far/etc/x", "1")]).expect("a layer");
    assert_eq!(tree.text("etc/x").as_deref(), Some("1"));
    // Through a link to the file itself: the link is replaced, not followed.
    let outside = tree.folder.join("outside").to_string_lossy().into_owned();
    tree.layer(&[entry("f", b'2', &outside, b""), file("f", "mine")]).expect("a layer");
    assert_eq!(tree.text("f").as_deref(), Some("mine"));
    // A second name of a link is one of the link.
    tree.layer(&[entry("s", b'2', &outside, b""), entry("t", b'1', "s", b"")]).expect("a layer");
    let second = std::fs::read_link(tree.folder.join("root/t")).expect("a link");
    assert_eq!(second, tree.folder.join("outside"));
    // What is taken away is looked for in the tree, too.
    tree.layer(&[file("up/.wh.outside", "")]).expect("a layer");
    assert_eq!(tree.text("outside"), None);
    assert!(tree.layer(&[file(".wh...", "")]).is_err());
    // A folder behind a link to nowhere cannot be made.
    assert!(tree.layer(&[entry("n", b'2', "/nowhere", b""), file("n/x", "1")]).is_err());
    let deep = "d/".repeat(DEPTH_MAX + 1);
    let long = [entry("x", b'L', "", deep.as_bytes()), entry("x", b'5', "", b"")].concat();
    assert!(tree.layer(&[long]).is_err());
}

#[test]
fn nothing_runs_as_somebody_else_and_devices_are_left_out() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::new("modes");
    let mut program = file("su", "x");
    program[100..107].copy_from_slice(b"0004755");
    program[148..156].fill(b' ');
    let sum: u32 = program[..512].iter().map(|b| u32::from(*b)).sum();
    program[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    tree.layer(&[program, entry("null", b'3', "", b""), entry("pipe", b'6', "", b"")])
        .expect("a layer");
    assert_eq!(tree.names("."), ["su"]);
    let mode = std::fs::metadata(tree.folder.join("root/su")).expect("a file").permissions();
    assert_eq!(mode.mode() & 0o7777, 0o755);
}

#[test]
fn what_is_too_large_is_refused_before_it_is_written() {
    let tree = Tree::new("large");
    let big = "x".repeat(6_000);
    let large = tree.layer(&[file("a", &big), file("b", &big)]);
    assert!(matches!(large, Err(ImageError::Large { bytes_max: 10_000 })), "{large:?}");
    assert_eq!(tree.names("."), ["a"]);
}
