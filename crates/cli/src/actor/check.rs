//! `remuda actor check`: what the chain would say of a program, before a fee is paid.

use super::{ProgramArgs, read_program};
use crate::failure::Failure;
use crate::session::{Output, PrintArgs};
use crate::style::{Style, Tone, clean};
use remuda_vm::chain::{Facts, facts};
use serde::Serialize;
use std::process::ExitCode;

/// What can be said of a program.
#[derive(Serialize)]
struct Checked {
    file: String,
    bytes: usize,
    /// Cycles of the chain that the module's body takes, at each call.
    body_cycles: u64,
    methods: Vec<String>,
    /// Handlers that the jobs of other submitters may name as callback.
    open_handlers: Vec<String>,
    /// The class with @actor, whose methods anybody can call.
    open_class: Option<String>,
    /// Lines that print, which nobody reads on the chain.
    prints: Vec<u32>,
}

pub(super) fn main(program: &ProgramArgs, print: PrintArgs) -> ExitCode {
    let out = Output::new(print);
    let result = check(program).and_then(|checked| out.show(&checked, render));
    out.end(result, &[])
}

fn check(program: &ProgramArgs) -> Result<Checked, Failure> {
    let file = program.file.display().to_string();
    let source = read_program(&program.file)?;
    let facts = compiled(&source, &file, program.open)?;
    let Facts { body_cycles, methods, open_handlers, open_class, prints } = facts;
    let bytes = source.len();
    Ok(Checked { file, bytes, body_cycles, methods, open_handlers, open_class, prints })
}

/// Whether the chain would take it; if not, which line is wrong and what to do. A class whose methods
/// strangers can call has to be confirmed as `open`: its author may expect the SDK to refuse them.
pub(super) fn compiled(source: &str, file: &str, open: bool) -> Result<Facts, Failure> {
    let facts = facts(source, file).map_err(Failure::Program)?;
    match &facts.open_class {
        Some(class) if !open && !facts.methods.is_empty() => Err(Failure::OpenClass {
            file: file.to_owned(),
            class: class.clone(),
            methods: facts.methods.join(", "),
        }),
        _ => Ok(facts),
    }
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

fn render(checked: &Checked, style: Style) -> String {
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
    if !checked.open_handlers.is_empty() {
        text += &format!("open to anybody's jobs: {}\n", checked.open_handlers.join(", "));
    }
    if let Some(unread) = unread(&checked.prints, &checked.file) {
        text += &format!("{}\n", clean(&unread));
    }
    text
}
