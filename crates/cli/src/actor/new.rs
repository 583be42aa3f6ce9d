//! `remuda actor new`: an actor to begin with.

use crate::failure::Failure;
use crate::session::{Output, PrintArgs};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::ExitCode;

/// Small, and yet everything is there: state, a caller's argument, an event, a timer, an await.
const TEMPLATE: &str = include_str!("template.py");

/// Writes it; never over something.
pub(super) fn main(file: &Path, print: PrintArgs) -> ExitCode {
    let out = Output::new(print);
    let result = write(file).and_then(|()| {
        out.show(&json!({ "file": file.display().to_string() }), |_, _| render(file))
    });
    out.end(result, &[])
}

fn write(file: &Path) -> Result<(), Failure> {
    let made = OpenOptions::new().write(true).create_new(true).open(file);
    let written = made.and_then(|mut made| made.write_all(TEMPLATE.as_bytes()));
    written.map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => Failure::FileExists(file.to_owned()),
        _ => Failure::File { path: file.to_owned(), source },
    })
}

fn render(file: &Path) -> String {
    let name = file.display();
    format!(
        "{name} is a counter. Look into it, then:\n\n  remuda actor check {name}\n  \
         remuda actor deploy {name} --value 10cby --key my.key\n"
    )
}
