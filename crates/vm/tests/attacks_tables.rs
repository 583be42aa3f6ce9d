//! Colliding keys of a hash table: a lookup pays for the keys that it probes.

use remuda_vm::{Ending, Limits, run_script};

fn cycles(source: &str) -> u64 {
    let output = run_script(source, "tables.py", Limits::with_cycles(4_000_000_000));
    assert_eq!(output.ending, Ending::Done, "{}", &source[..source.len().min(80)]);
    output.cycles
}

/// As the machine spreads hashes over an index.
fn mix(hash: u64) -> u64 {
    let mut hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// As it hashes names of at most 15 bytes.
fn hash_text(text: &str) -> u64 {
    let mut hash = 0x243f_6a88_85a3_08d3u64 ^ text.len() as u64;
    let mut chunks = text.as_bytes().chunks_exact(8);
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    for chunk in &mut chunks {
        hash = mix(hash ^ word(chunk));
    }
    mix(hash ^ word(chunks.remainder())) >> 3
}

/// Names that begin at the same place of every index of up to 4,096 places; or any names.
fn names(count: usize, colliding: bool) -> Vec<String> {
    let names = (0..).map(|number| format!("n{number}"));
    names.filter(|name| !colliding || mix(hash_text(name)) & 4_095 == 7).take(count).collect()
}

/// Cycles of 100 rounds.
fn round(before: &str, body: &str) -> u64 {
    let times = |times: usize| {
        cycles(&format!("{before}\ndef f(n):\n    for _ in range(n):\n        {body}\nf({times})"))
    };
    times(110) - times(10)
}

#[test]
fn names_that_collide_are_paid_for_where_they_are_looked_up() {
    let count = 600;
    let made = |colliding| {
        let names = names(count, colliding);
        let last = names.last().cloned().unwrap_or_default();
        (names, last)
    };
    let (plain, plain_last) = made(false);
    let (hostile, hostile_last) = made(true);
    let globals = |names: &[String]| names.join(" = ") + " = 1";
    let attributes = |names: &[String]| {
        let set: Vec<String> = names.iter().map(|name| format!("o.{name} = 1")).collect();
        format!("class O: pass\no = O()\n{}", set.join("\n"))
    };
    let classes = |names: &[String]| {
        let set: Vec<String> = names.iter().map(|name| format!("    {name} = 1")).collect();
        format!("class O:\n{}\no = O()", set.join("\n"))
    };
    for (what, plain, hostile) in [
        (
            "a global",
            round(&globals(&plain), &plain_last),
            round(&globals(&hostile), &hostile_last),
        ),
        (
            "an attribute",
            round(&attributes(&plain), &format!("o.{plain_last}")),
            round(&attributes(&hostile), &format!("o.{hostile_last}")),
        ),
        (
            "a class's attribute, where each look-up is a new one",
            round(&classes(&plain), &format!("O.zz = 1; o.{plain_last}")),
            round(&classes(&hostile), &format!("O.zz = 1; o.{hostile_last}")),
        ),
    ] {
        // A lookup of the last key probes all others.
        assert!(hostile >= plain + 100 * count as u64, "{what}: {hostile} and {plain}");
    }
}

/// Numbers of one hash.
fn numbers(count: usize) -> String {
    format!("[7 + j * (2**61 - 1) for j in range({count})]")
}

#[test]
fn rebuilding_a_table_costs_its_probe_steps() {
    // As many as have other room in a copy.
    let count = 300;
    let hostile = format!("A = set({})\nE = set()\nL = list(A)", numbers(count));
    let plain = format!("A = set(range({count}))\nE = set()\nL = list(A)");
    for operation in [
        "A | E",
        "A - E",
        "A ^ E",
        "E ^ A",
        "A & A",
        "A.union(E)",
        "E | A",
        "d = dict.fromkeys(L)\n        while d: d.popitem()",
        "d = set(L)\n        while d: d.pop()",
        "d = dict.fromkeys(L)\n        for k in L: del d[k]",
    ] {
        let (plain, hostile) = (round(&plain, operation), round(&hostile, operation));
        let steps = (count * count / 4) as u64;
        assert!(hostile >= plain + 100 * steps, "{operation}: {hostile} and {plain}");
    }
}
