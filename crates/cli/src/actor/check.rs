//! `remuda actor check`: what the chain would say of a program, before a fee is paid.

use super::program;
use crate::failure::Failure;
use crate::session::{Output, PrintArgs};
use crate::style::{Style, Tone, clean};
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
    /// Lines that print, which nobody reads on the chain.
    prints: Vec<u32>,
}

/// Checks a file.
pub(super) fn main(file: &Path, print: PrintArgs) -> ExitCode {
    let out = Output::new(print);
    let result = check(file).and_then(|checked| out.show(&checked, words));
    out.end(result, &[])
}

fn check(file: &Path) -> Result<Checked, Failure> {
    let (source, name) = (program(file)?, file.display().to_string());
    let Facts { body_cycles, methods, prints } = compiled(&source, &name)?;
    Ok(Checked { file: name, bytes: source.len(), body_cycles, methods, prints })
}

/// Whether the chain would take it; if not, which line is wrong and what to do.
pub(super) fn compiled(source: &str, name: &str) -> Result<Facts, Failure> {
    facts(source, name).map_err(Failure::Program)
}

/// What to know of lines that print, if there are any.
pub(super) fn unread(prints: &[u32], file: &str) -> Option<String> {
    let first = prints.first()?;
    let more = match prints.len() - 1 {
        0 => String::new(),
        more => format!(" and {}", crate::format::count(more, "more line")),
    };
    Some(format!(
        "{file}:{first}{more}: nobody reads what is printed on the chain; `remuda actor test` shows it, and \
         `remuda actor logs` shows cowboy.emit(topic, value)"
    ))
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
    if let Some(unread) = unread(&checked.prints, &checked.file) {
        text += &format!("{}\n", clean(&unread));
    }
    text
}
