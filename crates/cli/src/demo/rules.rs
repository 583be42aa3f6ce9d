//! `remuda demo --rules`: the worked scenario, told line by line.
//!
//! Five runners, one submitter, four jobs: a lie that is outvoted, a silence that is slashed, a
//! runner that does not turn up, and a result of one runner. Every block goes through `apply_block`
//! three times (proposed, replayed, and replayed after a restart) and the money is counted after
//! each. Who is drawn depends on the seeds; who behaves how is decided after the draw, so the story
//! is the same whoever is drawn.

mod acts;
mod cast;
mod claims;
mod json;
mod sentence;
mod stage;
mod summary;
mod tables;
mod work;

pub use claims::Claim;
pub use stage::{Epoch, Fee, Surprise};
pub use summary::{JobEnd, RunnerEnd, Score, SeatEnd, SubmitterEnd, Summary};
pub use work::Role;

use super::teller::Teller;
use serde_json::json;
use stage::Stage;
use std::io::{self, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Runs the story without telling it.
pub fn run(seed: &str) -> Result<Summary, Surprise> {
    play(seed, &mut Teller::silent())
}

fn play(seed: &str, teller: &mut Teller) -> Result<Summary, Surprise> {
    let mut stage = Stage::open(seed, teller)?;
    let acts = acts::all(&mut stage)?;
    Ok(Summary::collect(&stage, &acts))
}

/// Tells it. The exit status is 0 if everything came out as the rules say, 1 otherwise.
pub fn main(seed: &str, json: bool) -> ExitCode {
    let mut teller = if json { Teller::silent() } else { Teller::stdout() };
    let summary = match guarded(seed, &mut teller) {
        Ok(summary) => summary,
        Err(why) => return broken_off(json, &why),
    };
    let written = if json {
        writeln!(io::stdout(), "{}", summary.to_json())
    } else {
        tables::tell(&summary, &mut teller);
        teller.finish()
    };
    match written {
        // Whoever reads may stop at any line; how the story ends does not depend on that.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("remuda demo: cannot write stdout: {error}");
            ExitCode::FAILURE
        }
        _ if summary.ok() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// The chain asserts its invariants after every block. A broken one is a result of this command
/// like any other, so it ends with status 1 and not with that of a crash.
fn guarded(seed: &str, teller: &mut Teller) -> Result<Summary, String> {
    match catch_unwind(AssertUnwindSafe(|| play(seed, teller))) {
        Ok(played) => played.map_err(|surprise| surprise.to_string()),
        Err(_) => Err("an invariant of the chain does not hold; see above".to_owned()),
    }
}

fn broken_off(json: bool, why: &str) -> ExitCode {
    eprintln!("remuda demo: {why}");
    if json {
        // If this cannot be written either, the status says enough.
        let _ = writeln!(io::stdout(), "{}", json!({ "ok": false, "error": why }));
    }
    ExitCode::FAILURE
}
