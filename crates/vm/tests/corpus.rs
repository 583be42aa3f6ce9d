//! Every program of the corpus does here what it does under the machine's CPython: the same output, and
//! an exception of the same type. Its cycles are pinned in `corpus.cycles`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use remuda_vm::{Ending, Limits, Vm, run_script};

const CYCLES: u64 = 200_000_000;

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .collect();
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Output and, if it ended by one, the exception's type.
fn ours(path: &Path) -> (String, Option<String>, u64) {
    let source = std::fs::read_to_string(path).unwrap();
    let output = run_script(&source, &name(path), Limits::with_cycles(CYCLES));
    let error = match output.ending {
        Ending::Done => None,
        Ending::Raised(raised) => Some(raised.kind),
        other => Some(format!("{other:?}")),
    };
    (output.stdout, error, output.cycles)
}

/// Output and exception of each script under CPython, all in one go; None if there is no CPython.
fn cpython(paths: &[PathBuf]) -> Option<Vec<(String, Option<String>)>> {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpython.py");
    let output = Command::new("python3")
        .arg(driver)
        .args(paths)
        .env("PYTHONHASHSEED", "0")
        .env("PYTHONIOENCODING", "utf-8")
        .output()
        .ok()?;
    let mut rest = &output.stdout[..];
    let mut results = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
        let line = std::str::from_utf8(&rest[..end]).unwrap();
        let (kind, length) = line.split_once(' ').unwrap();
        let (text, after) = rest[end + 1..].split_at(length.parse().unwrap());
        let kind = Some(kind.to_owned()).filter(|kind| kind != "-");
        results.push((String::from_utf8_lossy(text).into_owned(), kind));
        rest = after;
    }
    assert_eq!(results.len(), paths.len(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(results)
}

#[test]
fn the_image_builds() {
    assert_eq!(Vm::image_error(), None);
}

#[test]
fn programs_do_what_they_do_under_cpython() {
    let mut different = Vec::new();
    let files = corpus();
    let Some(theirs) = cpython(&files) else {
        panic!("there is no python3 to compare with: as root, apt-get install python3");
    };
    for (path, (expected, expected_error)) in files.iter().zip(theirs) {
        let (stdout, error, _) = ours(path);
        if stdout != expected || error != expected_error {
            let at = stdout.lines().zip(expected.lines()).position(|(a, b)| a != b);
            let at = at.unwrap_or(stdout.lines().count().min(expected.lines().count()));
            different.push(format!(
                "{}: line {}: ours {:?}, theirs {:?}; ended {:?}, theirs {:?}",
                name(path),
                at + 1,
                stdout.lines().nth(at).unwrap_or(""),
                expected.lines().nth(at).unwrap_or(""),
                error,
                expected_error
            ));
        }
    }
    assert!(
        different.is_empty(),
        "{} of {}:\n{}",
        different.len(),
        files.len(),
        different.join("\n")
    );
}

#[test]
fn cycles_are_pinned() {
    let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus.cycles");
    let now: BTreeMap<String, u64> =
        corpus().iter().map(|path| (name(path), ours(path).2)).collect();
    let text: String = now.iter().map(|(name, cycles)| format!("{name} {cycles}\n")).collect();
    if std::env::var_os("PIN_CYCLES").is_some() {
        std::fs::write(&pins, &text).unwrap();
    }
    let pinned = std::fs::read_to_string(&pins).unwrap_or_default();
    let changed: Vec<&str> =
        text.lines().filter(|line| !pinned.lines().any(|pin| pin == *line)).collect();
    assert!(
        changed.is_empty(),
        "cycles changed; if that is meant, run again with PIN_CYCLES=1:\n{}",
        changed.join("\n")
    );
}
