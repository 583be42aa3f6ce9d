//! `cowboy_sdk` against PyPI's `cowboy-sdk` 0.1.1. Scripts that need no waiting print here what they print
//! with the real package under CPython, and the actor of its page runs as it stands.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::parts::world::{ACTOR, World, cbor, dict, raised, text, waits};
use remuda_vm::HostValue;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn package() -> PathBuf {
    let all = std::env::var_os("REMUDA_PARTS").map_or_else(
        || Path::new(&std::env::var_os("HOME").expect("$HOME")).join(".cache/remuda/parts"),
        PathBuf::from,
    );
    let folder = all.join("sdk/package");
    assert!(folder.is_dir(), "cowboy-sdk is missing: install it with scripts/parts/sdk.sh");
    folder
}

/// What a script prints in an actor's body.
fn ours(source: &str) -> String {
    match World::new().run(&ACTOR, source) {
        (printed, Ok(())) => printed,
        (printed, Err(ending)) => format!("{printed}{ending:?}"),
    }
}

#[test]
fn scripts_print_what_they_print_with_the_real_package() {
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(folder().join("sdk"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .collect();
    scripts.sort();
    let output = Command::new("python3")
        .arg(folder().join("sdk_cpython.py"))
        .arg(package())
        .args(&scripts)
        .env("PYTHONHASHSEED", "0")
        .env("PYTHONIOENCODING", "utf-8")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut rest = &output.stdout[..];
    let mut different = Vec::new();
    for script in &scripts {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or_else(|| panic!("{errors}"));
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let (kind, length) = head.split_once(' ').unwrap();
        assert_eq!(kind, "-", "{}: {errors}", script.display());
        let (theirs, after) = rest[end + 1..].split_at(length.parse().unwrap());
        rest = after;
        let theirs = String::from_utf8_lossy(theirs);
        let ours = ours(&std::fs::read_to_string(script).unwrap());
        let mut lines = ours.lines().zip(theirs.lines()).enumerate();
        if let Some((at, (ours, theirs))) = lines.find(|(_, (ours, theirs))| ours != theirs) {
            let name = script.file_name().unwrap().to_string_lossy().into_owned();
            different.push(format!("{name}:{}\n  ours   {ours}\n  theirs {theirs}", at + 1));
        } else {
            assert_eq!(ours.lines().count(), theirs.lines().count(), "{}", script.display());
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The actor of the package's page, as it stands there.
fn quick_start(package: &Path) -> String {
    let page = package.join("cowboy_sdk-0.1.1.dist-info/METADATA");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, after) = page.split_once("```python\n").unwrap();
    after.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_quick_start_of_the_packages_page_chats() {
    let world = World::new();
    assert_eq!(world.deploy(&ACTOR, &quick_start(&package()), b""), Ok(b"ok".to_vec()));
    assert_eq!(world.stored(&ACTOR, "calls"), Some(HostValue::Int(0)));
    for (turn, message) in ["How are you?", "And now?"].into_iter().enumerate() {
        let token =
            waits(world.call(&ACTOR, "chat", &cbor(&dict(&[("message", text(message))]))))[0];
        let (spec, callback) = world.state().jobs[turn].clone();
        assert_eq!(callback, HostValue::None);
        let HostValue::Dict(parts) = &spec else { panic!("{spec:?}") };
        let messages = HostValue::List(vec![
            dict(&[("role", text("system")), ("content", text("You are a helpful assistant"))]),
            dict(&[("role", text("user")), ("content", text(message))]),
        ]);
        let work = dict(&[
            ("model", text("default")),
            ("messages", messages),
            ("temperature_milli", HostValue::Int(0)),
            ("seed", HostValue::Int(0)),
        ]);
        assert_eq!(parts[0], (text("job_type"), dict(&[("Llm", work)])));
        world.state().height += 3;
        let answer =
            format!(r#"{{"content": "answer {turn}", "finish_reason": "stop", "model": "m"}}"#);
        assert_eq!(world.job_done(token, answer.as_bytes()), Ok(b"ok".to_vec()));
        let reply = world.stored(&ACTOR, &format!("reply:{turn}"));
        assert_eq!(reply, Some(text(&format!("answer {turn}"))));
    }
    assert_eq!(world.stored(&ACTOR, "calls"), Some(HostValue::Int(2)));
    // The shims are there; a message alone lets nobody go on.
    let forged = cbor(&dict(&[("cid", HostValue::Bytes(vec![1; 32])), ("result", text("x"))]));
    let (kind, _) = raised(world.call(&ACTOR, "chat__resume", &forged));
    assert_eq!(kind, "ContinuationNotFoundError");
    assert_eq!(world.call(&ACTOR, "on_runner_result", &forged), Ok(vec![]));
}
