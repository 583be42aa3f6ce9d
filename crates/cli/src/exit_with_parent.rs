//! Ends a process in order when the one that started it is gone, however it went.
//!
//! The parent keeps the other end of standard input and never writes. The system closes it with the
//! parent, also when that was killed and could not stop its children itself.

use std::io;
use std::process::Command;

/// The command-line flag that a parent passes to its children.
pub const FLAG: &str = "--until-stdin-ends";

/// See the module.
#[derive(clap::Args, Debug, Clone, Copy)]
pub struct ExitWithParent {
    /// Stop as on SIGTERM when standard input ends: for programs that start this one and may be killed.
    #[arg(long)]
    until_stdin_ends: bool,
}

impl ExitWithParent {
    /// Watches from now on, if that is asked for.
    pub fn watch(self) {
        if !self.until_stdin_ends {
            return;
        }
        std::thread::spawn(|| {
            // However it ends, nobody is there any more.
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            let asked = Command::new("kill").arg(std::process::id().to_string()).status();
            if !asked.is_ok_and(|status| status.success()) {
                std::process::exit(1);
            }
        });
    }
}
