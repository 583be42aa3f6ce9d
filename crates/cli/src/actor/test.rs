//! `remuda actor test`: tests of actors, on a chain in this process.

use super::read_program;
use crate::failure::Failure;
use crate::format::{count, grouped};
use crate::session::{Output, PrintArgs};
use crate::style::{Style, Tone, clean};
use remuda_vm::rehearsal::{Outcome, run};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Serialize)]
struct Tested {
    file: String,
    name: String,
    passed: bool,
    cycles: u64,
    blocks: u64,
    printed: String,
    /// Failures on the chain that no line of the test saw.
    unseen: Vec<String>,
    /// What went wrong, with file and line.
    error: Option<String>,
}

/// Runs the tests of some files; fails if one of them does.
pub(super) fn main(files: &[PathBuf], only: Option<&str>, print: PrintArgs) -> ExitCode {
    let out = Output::new(print);
    out.end(test(&out, files, only), &[])
}

fn test(out: &Output, files: &[PathBuf], only: Option<&str>) -> Result<(), Failure> {
    let (mut passed, mut failed) = (0, 0);
    for file in files {
        let (source, name) = (read_program(file)?, file.display().to_string());
        // An actor's file is looked for beside the test's.
        let beside = file.parent().unwrap_or(Path::new("")).to_owned();
        let load = |actor: &str| {
            let path = beside.join(actor);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let outcomes = run(&source, &name, &load, only)
            .map_err(|unready| Failure::Program(unready.to_string()))?;
        for outcome in outcomes {
            match outcome.passed {
                true => passed += 1,
                false => failed += 1,
            }
            out.show(&tested(&name, &outcome), render)?;
        }
    }
    if !out.json {
        out.text(&format!("{passed} passed, {failed} failed\n"))?;
    }
    if failed == 0 { Ok(()) } else { Err(Failure::TestsFailed(count(failed, "test"))) }
}

fn tested(file: &str, outcome: &Outcome) -> Tested {
    Tested {
        file: file.to_owned(),
        name: outcome.name.clone(),
        passed: outcome.passed,
        cycles: outcome.cycles,
        blocks: outcome.blocks,
        printed: outcome.printed.clone(),
        unseen: outcome.unseen.clone(),
        error: outcome.error.as_ref().map(ToString::to_string),
    }
}

fn render(tested: &Tested, style: Style) -> String {
    let verdict = match tested.passed {
        true => style.paint(Tone::Good, "ok    "),
        false => style.paint(Tone::Bad, "failed"),
    };
    let (cycles, blocks) = (grouped(tested.cycles), grouped(tested.blocks));
    let mut text =
        format!("{verdict}  {}  {blocks} blocks, {cycles} cycles\n", clean(&tested.name));
    let told = [Some(&tested.printed), tested.error.as_ref()].into_iter().flatten();
    for line in told.flat_map(|text| text.lines()) {
        text += &format!("        {}\n", clean(line));
    }
    for unseen in &tested.unseen {
        text += &format!("        unseen: {}\n", clean(unseen));
    }
    text
}
