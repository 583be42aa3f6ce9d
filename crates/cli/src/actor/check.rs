//! `remuda actor check`: what the chain would say of a program, before a fee is paid.

use super::program;
use crate::failure::Failure;
use crate::session::{Output, PrintArgs};
use crate::style::{Style, Tone};
use remuda_vm::chain::{Facts, facts};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// What can be said of a program.
#[derive(Serialize)]
struct Checked {
    file: String,
    bytes: usize,
    /// Cycles of the chain that the module's body takes, at each call.
    body_cycles: u64,
    methods: Vec<String>,
}

/// Checks a file.
pub(super) fn main(file: &Path, print: PrintArgs) -> ExitCode {
    let out = Output::new(print);
    let result = check(file).and_then(|checked| out.show(&checked, words));
    out.end(result, &[])
}

fn check(file: &Path) -> Result<Checked, Failure> {
    let (source, name) = (program(file)?, file.display().to_string());
    let Facts { body_cycles, methods } = compiled(&source, &name)?;
    Ok(Checked { file: name, bytes: source.len(), body_cycles, methods })
}

/// Whether the chain would take it; if not, which line is wrong and what to do.
pub(super) fn compiled(source: &str, name: &str) -> Result<Facts, Failure> {
    facts(source, name).map_err(Failure::Program)
}

fn words(checked: &Checked, style: Style) -> String {
    let good = style.paint(Tone::Good, "ok");
    let mut text = format!(
        "{good}: {} bytes; its body takes {} cycles at each call\n",
        checked.bytes, checked.body_cycles
    );
    if checked.methods.is_empty() {
        text += "nothing can be called: methods are functions of the module, or of its one class with @actor\n";
    } else {
        text += &format!("can be called: {}\n", checked.methods.join(", "));
    }
    text
}
