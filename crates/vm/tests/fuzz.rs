//! Programs of the corpus, damaged at random: whatever comes of them, the machine neither panics nor
//! spends more than it was given, and does the same twice.
//!
//! A few in every run; `REMUDA_PROGRAMS=20000` for many, `REMUDA_SEED` to begin elsewhere.

// Text of tests, not of programs.
#![allow(clippy::disallowed_methods)]

use std::path::Path;

use remuda_vm::{Limits, run_script};

const CYCLES: u64 = 150_000;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Words and signs, each a piece, so that damage often leaves something that compiles.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut word = false;
    for char in text.chars() {
        let inside = char.is_alphanumeric() || char == '_';
        match pieces.last_mut() {
            Some(last) if word && inside => last.push(char),
            _ => pieces.push(char.to_string()),
        }
        word = inside;
    }
    pieces
}

const STRANGE: &[&str] = &[
    "None",
    "-1",
    "0",
    "2**63",
    "-2**63",
    "1e308",
    "float('nan')",
    "''",
    "[]",
    "{}",
    "()",
    "b''",
    "self",
    "super()",
    "(lambda: 0)",
    "*",
    "print",
    "object",
    "type",
    "x",
    "10**400",
    "range(3)",
    "iter([])",
    "...",
    "not x",
    "(yield)",
    "'\u{e9}' * 9",
    "[[]] * 9",
    "{1: {}}",
    "(1, 2)",
    "int",
    "dict",
    "True",
    "__class__",
];

fn is_word(piece: &str) -> bool {
    piece.chars().all(|char| char.is_alphanumeric() || char == '_')
}

/// Mostly a name or a number in the place of another, sometimes anything anywhere.
fn damaged(source: &str, other: &str, random: &mut Random) -> String {
    let mut parts = pieces(source);
    let words: Vec<usize> = (0..parts.len()).filter(|at| is_word(&parts[*at])).collect();
    for _ in 0..1 + random.below(3) {
        let word = words[random.below(words.len())];
        let place = random.below(parts.len());
        let new = match random.below(8) {
            0..=2 => parts[words[random.below(words.len())]].clone(),
            3 | 4 => STRANGE[random.below(STRANGE.len())].to_owned(),
            5 => {
                let all: Vec<String> = pieces(other).into_iter().filter(|p| is_word(p)).collect();
                all[random.below(all.len())].clone()
            }
            6 => String::new(),
            _ => {
                parts[place] = parts[random.below(parts.len())].clone();
                continue;
            }
        };
        parts[word] = new;
    }
    parts.concat()
}

#[test]
fn damaged_programs_neither_panic_nor_overspend() {
    let seed = number("REMUDA_SEED").unwrap_or(0xda3a_6e0d);
    let count = number("REMUDA_PROGRAMS").unwrap_or(300);
    println!("REMUDA_SEED={seed}");
    let corpus = corpus();
    let mut random = Random(seed | 1);
    let mut ran = 0;
    for round in 0..count {
        let source = &corpus[random.below(corpus.len())];
        let other = &corpus[random.below(corpus.len())];
        let text = damaged(source, other, &mut random);
        let run = || {
            let limits = Limits { heap_bytes: 1 << 20, ..Limits::with_cycles(CYCLES) };
            std::panic::catch_unwind(|| run_script(&text, "damaged.py", limits))
        };
        let Ok(first) = run() else { panic!("REMUDA_SEED={seed}, program {round}:\n{text}") };
        assert!(first.cycles <= CYCLES);
        ran += u64::from(first.cycles > 0);
        if round % 10 == 0 {
            let Ok(second) = run() else { panic!("the second time only:\n{text}") };
            assert_eq!(
                (first.cycles, first.stdout, first.ending),
                (second.cycles, second.stdout, second.ending),
                "{text}"
            );
        }
    }
    println!("{ran} of {count} compiled");
    assert!(ran * 10 > count, "damage that nothing survives tests nothing");
}
