//! `remuda actor new`: an actor to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::ExitCode;

/// Small, and yet everything is there: state, a caller's argument, an event, a timer, an await.
const TEMPLATE: &str = include_str!("template.py");

/// Writes it; never over something.
pub(super) fn main(file: &Path) -> ExitCode {
    let name = file.display();
    let made = OpenOptions::new().write(true).create_new(true).open(file);
    match made.and_then(|mut made| made.write_all(TEMPLATE.as_bytes())) {
        Ok(()) => {
            println!("{name} is a counter. Look into it, then:\n");
            println!("  remuda actor check {name}");
            println!("  remuda actor deploy {name} --value 10cby --key my.key");
            ExitCode::SUCCESS
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            eprintln!("remuda actor new: {name} is there already; name another file");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("remuda actor new: {name} cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}
