//! Modules of all crates form no cycles, and those of this crate are in layers: `chain` uses `rules` and
//! `base`, `rules` uses `base`, `base` uses neither. Modules say whether they are consensus.
//!
//! The tests read the sources. They follow paths that begin with `crate` or `super`; code
//! for tests is left out. Methods have no paths, so calls of methods are not seen: `chain/mod.rs` says
//! what that means for `Exec`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// From the lowest to the highest.
const LAYERS: [&str; 3] = ["base", "rules", "chain"];

/// Modules of `chain` that may name each other: execution has code run, and code has things done.
const MUTUAL: [&str; 2] = ["actors", "execute"];

/// Crates of the workspace besides this one, and those of their modules that may form a cycle.
const OTHERS: [(&str, &[&str]); 8] = [
    ("cli", &[]),
    ("client", &[]),
    ("fleet", &[]),
    ("lab", &[]),
    ("link", &[]),
    ("node", &[]),
    ("runner", &[]),
    // The interpreter (`run`) compiles code that programs make (`front`), keeps what it prepared beside a program,
    // calls natives (`types`), which call back, and serves scripts (`script`), which trace its frames.
    ("vm", &["front", "run", "script", "types"]),
];

/// Crates whose modules say in their first lines what a change of them needs.
const STANCE_CRATES: [&str; 3] = ["protocol", "vm", "node"];

/// One of these begins a line of a module's head, or of its folder's.
const STANCES: [&str; 2] = [
    "//! Consensus: a change here forks the chain",
    "//! Local: a change here needs no agreement among validators",
];

/// The first lines of a module, of which one has its stance.
const STANCE_LINES: usize = 8;

struct Source {
    /// Below `src`.
    file: String,
    text: String,
}

impl Source {
    fn new(file: &str, text: &str) -> Self {
        // Tests come last in a file; clippy sees to it.
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
        let lines: Vec<String> = text.lines().map(code).collect();
        Self { file: file.to_owned(), text: lines.join("\n") }
    }

    /// The path of the module that the file is.
    fn module(&self) -> Vec<String> {
        let mut parts: Vec<String> =
            self.file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        parts.pop_if(|last| last == "mod");
        parts
    }

    /// Every path from the crate's root that the code names.
    fn paths(&self) -> BTreeSet<Vec<String>> {
        let mut found = BTreeSet::new();
        for word in ["crate", "super"] {
            for (at, _) in self.text.match_indices(word) {
                let before = self.text[..at].chars().next_back();
                if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                    continue;
                }
                let mut start = if word == "crate" { Vec::new() } else { self.module() };
                if word == "super" {
                    start.pop();
                }
                tree(&self.text[at + word.len()..], start, &mut found);
            }
        }
        found
    }
}

/// Reads what follows a part of a path, with all branches; returns the rest of the text.
fn tree<'t>(text: &'t str, mut path: Vec<String>, found: &mut BTreeSet<Vec<String>>) -> &'t str {
    let Some(rest) = text.trim_start().strip_prefix("::") else {
        if !path.is_empty() {
            found.insert(path);
        }
        return text;
    };
    let rest = rest.trim_start();
    if let Some(mut branches) = rest.strip_prefix('{') {
        loop {
            branches = branches.trim_start_matches([',', ' ', '\n', '\t']);
            if branches.is_empty() || branches.starts_with('}') {
                return branches.get(1..).unwrap_or_default();
            }
            let (name, after) = word(branches);
            let mut branch = path.clone();
            if name != "self" {
                branch.push(name.to_owned());
            }
            let after = tree(after, branch, found);
            // What is left of the branch is a new name for it: `as …`.
            branches = after.trim_start_matches(|c| c != ',' && c != '}');
        }
    }
    let (name, after) = word(rest);
    match name {
        "super" => {
            path.pop();
        }
        _ => path.push(name.to_owned()),
    }
    tree(after, path, found)
}

/// The name that a text begins with, or its first character; and the rest.
fn word(text: &str) -> (&str, &str) {
    let length = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.split_at(length.max(first))
}

/// What breaks the layers, in words.
fn breaches(sources: &[Source]) -> Vec<String> {
    let mut breaches = Vec::new();
    // Which module of a layer names which, and in which file.
    let mut edges: BTreeMap<&str, BTreeMap<String, BTreeMap<String, &str>>> = BTreeMap::new();
    for source in sources {
        let module = source.module();
        let Some(height) = LAYERS.iter().position(|layer| *layer == module[0]) else { continue };
        for path in source.paths() {
            let Some(named) = LAYERS.iter().position(|layer| *layer == path[0]) else {
                let path = path.join("::");
                breaches.push(format!("{} names crate::{path}, not by its layer", source.file));
                continue;
            };
            if named > height {
                let (layer, path) = (LAYERS[height], path.join("::"));
                breaches.push(format!("{}: {layer} uses crate::{path}", source.file));
            }
            if let ([_, from, ..], [_, to, ..]) = (&module[..], &path[..])
                && named == height
                && from != to
            {
                let from = edges.entry(LAYERS[height]).or_default().entry(from.clone());
                from.or_default().entry(to.clone()).or_insert(&source.file);
            }
        }
    }
    for (layer, mut edges) in edges {
        if layer == "chain" {
            let [a, b] = MUTUAL;
            edges.entry(a.to_owned()).or_default().remove(b);
        }
        if let Some(cycle) = cycle(&edges) {
            breaches.push(format!("modules of {layer} form a cycle: {cycle}"));
        }
    }
    breaches
}

/// A cycle, if there is one.
fn cycle(edges: &BTreeMap<String, BTreeMap<String, &str>>) -> Option<String> {
    fn visit<'e>(
        at: &'e str,
        edges: &'e BTreeMap<String, BTreeMap<String, &str>>,
        way: &mut Vec<&'e str>,
        done: &mut BTreeSet<&'e str>,
    ) -> Option<String> {
        if let Some(first) = way.iter().position(|before| *before == at) {
            let cycle = [&way[first..], &[at]].concat();
            let step =
                |pair: &[&str]| format!("{} -> {} ({})", pair[0], pair[1], edges[pair[0]][pair[1]]);
            return Some(cycle.windows(2).map(step).collect::<Vec<_>>().join(", "));
        }
        if !done.insert(at) {
            return None;
        }
        way.push(at);
        let mut named = edges.get(at).into_iter().flat_map(BTreeMap::keys);
        let found = named.find_map(|next| visit(next, edges, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    edges.keys().find_map(|module| visit(module, edges, &mut Vec::new(), &mut done))
}

/// All sources of a crate but those that are for tests alone.
fn sources_of(name: &str) -> Vec<Source> {
    fn walk(folder: &Path, below: &str, sources: &mut Vec<Source>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let file = format!("{below}{name}");
            if path.is_dir() {
                walk(&path, &format!("{file}/"), sources);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                sources.push(Source::new(&file, &fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut sources = Vec::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    walk(&crates.join(name).join("src"), "", &mut sources);
    sources
}

fn sources() -> Vec<Source> {
    sources_of("protocol")
}

/// A cycle among a crate's top-level modules, but for those that may form one.
fn top_level_cycle(sources: &[Source], mutual: &[&str]) -> Option<String> {
    let modules: BTreeSet<String> = sources.iter().map(|it| it.module()[0].clone()).collect();
    let mut edges: BTreeMap<String, BTreeMap<String, &str>> = BTreeMap::new();
    let may = |a: &str, b: &str| mutual.contains(&a) && mutual.contains(&b);
    for source in sources {
        let from = source.module()[0].clone();
        if ["lib", "main", "bin"].contains(&from.as_str()) {
            continue;
        }
        for to in source.paths().into_iter().map(|path| path[0].clone()) {
            if modules.contains(&to) && to != from && !may(&from, &to) {
                edges.entry(from.clone()).or_default().entry(to).or_insert(&source.file);
            }
        }
    }
    cycle(&edges)
}

#[test]
fn modules_of_other_crates_form_no_cycles() {
    for (name, mutual) in OTHERS {
        let cycle = top_level_cycle(&sources_of(name), mutual);
        assert_eq!(cycle, None, "in {name}");
    }
    let ring = [Source::new("a.rs", "use crate::b::B;"), Source::new("b/c.rs", "use crate::a;")];
    assert_eq!(top_level_cycle(&ring, &[]).as_deref(), Some("a -> b (a.rs), b -> a (b/c.rs)"));
    assert_eq!(top_level_cycle(&ring, &["a", "b"]), None);
}

#[test]
fn no_layer_uses_one_above_and_no_modules_form_a_cycle() {
    let breaches = breaches(&sources());
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn every_source_is_in_a_layer() {
    for source in sources() {
        let layered = LAYERS.iter().any(|layer| source.module()[0] == *layer);
        assert!(layered || source.file == "lib.rs", "{} is in no layer", source.file);
    }
}

/// How a source says on what a change of it depends; `None` if it does not, or says both.
fn stance(text: &str) -> Option<&'static str> {
    let mut head = text.lines().take_while(|line| line.starts_with("//!")).take(STANCE_LINES);
    let said: Vec<_> = head
        .by_ref()
        .filter_map(|line| STANCES.into_iter().find(|stance| line.starts_with(stance)))
        .collect();
    match said[..] {
        [stance] => Some(stance),
        _ => None,
    }
}

/// Sources without a stance of their own whose folder has none either, by their texts.
fn silent(texts: &BTreeMap<String, String>) -> Vec<&str> {
    let says = |file: &str| texts.get(file).is_some_and(|text| stance(text).is_some());
    let folder_says = |file: &str| {
        file.rsplit_once('/').is_some_and(|(folder, _)| {
            says(&format!("{folder}/mod.rs")) || says(&format!("{folder}.rs"))
        })
    };
    let silent = |file: &&str| !["lib.rs", "main.rs"].contains(file) && !says(file);
    texts.keys().map(String::as_str).filter(silent).filter(|file| !folder_says(file)).collect()
}

#[test]
fn modules_say_whether_they_are_consensus() {
    for name in STANCE_CRATES {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let text = |source: Source| {
            let text = fs::read_to_string(src.join(&source.file)).unwrap();
            (source.file, text)
        };
        let texts = sources_of(name).into_iter().map(text).collect();
        assert_eq!(silent(&texts), [""; 0], "in {name}");
    }
    let [consensus, local] = STANCES;
    let found = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(file, text)| (file.to_string(), text.to_string()));
        silent(&files.collect()).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let (folder, own) = (format!("//! A.\n//!\n{consensus}.\n"), format!("//! B.\n{local}.\n"));
    assert_eq!(found(&[("a/mod.rs", &folder), ("a/b.rs", ""), ("a/c.rs", &own)]), [""; 0]);
    assert_eq!(found(&[("a.rs", &folder), ("a/b.rs", ""), ("lib.rs", "")]), [""; 0]);
    // A folder speaks for its files, not for the folders in it, and code comes after the first lines.
    assert_eq!(found(&[("a/mod.rs", &folder), ("a/b/mod.rs", "")]), ["a/b/mod.rs"]);
    assert_eq!(found(&[("a.rs", &format!("use b;\n{folder}"))]), ["a.rs"]);
    assert_eq!(found(&[("a.rs", &format!("{folder}{own}"))]), ["a.rs"]);
}

#[test]
fn breaches_are_found() {
    let breaches = |files: &[(&str, &str)]| {
        let sources: Vec<_> = files.iter().map(|(file, text)| Source::new(file, text)).collect();
        breaches(&sources)
    };
    let one = |file: &str, text: &str| breaches(&[(file, text)]);
    assert_eq!(
        one("base/a.rs", "use crate::rules::b::C;"),
        ["base/a.rs: base uses crate::rules::b::C"]
    );
    assert_eq!(one("rules/a/mod.rs", "fn f() { super::super::chain::g() }").len(), 1);
    assert_eq!(one("rules/a.rs", "use crate::{base::b, chain::{c::D, e as f}};").len(), 2);
    assert_eq!(one("rules/a.rs", "use crate::state::View;").len(), 1);
    assert_eq!(one("chain/a.rs", "use crate::rules::b; use super::c; // crate::state"), [""; 0]);
    assert_eq!(one("base/a.rs", "#[cfg(test)]\nmod tests { use crate::chain::b; }"), [""; 0]);
    let ring = breaches(&[
        ("rules/a.rs", "use crate::rules::aside::C; use crate::rules::b::B;"),
        ("rules/b/d.rs", "use super::super::c::C;"),
        ("rules/c.rs", "use super::{a::A, d};"),
    ]);
    let cycle = "a -> b (rules/a.rs), b -> c (rules/b/d.rs), c -> a (rules/c.rs)";
    assert_eq!(ring, [format!("modules of rules form a cycle: {cycle}")]);
    let pair = |a: &str, b: &str| {
        let uses = |other: &str| format!("use crate::chain::{other}::X;");
        breaches(&[(&format!("chain/{a}.rs"), &uses(b)), (&format!("chain/{b}.rs"), &uses(a))])
            .len()
    };
    assert_eq!((pair("actors", "execute"), pair("actors", "timers")), (0, 1));
}
