//! `remuda run`: work for a fleet.

mod artifacts;
mod example;
mod file;
mod list;
mod logs;
mod watch;

use crate::failure::Failure;
use crate::fleet::{self, FleetArgs, FleetFailure, Session};
use clap::Subcommand;
use remuda_fleet::id::{Fence, JobId, RunId};
use remuda_fleet::view::Submitted;
use serde_json::json;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

/// Give a fleet work, and see what becomes of it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda run example > run.toml
  $ remuda run submit run.toml --watch
  $ remuda run list
  $ remuda run logs run_… --follow
  $ remuda run rerun run_… --key retry-1

A run is a file of jobs; what is in one, `remuda run example` shows. Give --orchestrator and --token-file, or
set REMUDA_ORCHESTRATOR and REMUDA_TOKEN_FILE. Commands that wait for a run end with status 0 if it
succeeded, 1 if it failed, and 3 if it was canceled.")]
pub struct Args {
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Submit a run that a file describes, in TOML or JSON.
    ///
    /// Prints its id. With --watch, stays until it ends. The same file under the same --key is the same
    /// run, however often it is submitted.
    #[command(after_help = "Examples:
  $ remuda run submit run.toml --watch
  $ remuda run submit run.json --key \"build-$COMMIT\"
  $ remuda run submit - < run.json")]
    Submit {
        /// The file; `-` for standard input.
        file: PathBuf,
        #[command(flatten)]
        key: KeyArgs,
        /// Stay until it ends, and tell what happens.
        #[arg(long)]
        watch: bool,
    },
    /// Tell what happens to a run until it ends.
    #[command(after_help = "Example:\n  $ remuda run watch run_…")]
    Watch {
        /// Run id.
        run: String,
    },
    /// Show a run and its jobs, as they are now.
    #[command(after_help = "Example:\n  $ remuda run show run_… --json | jq .status")]
    Show {
        /// Run id.
        run: String,
    },
    /// Print what jobs wrote.
    ///
    /// Of a run, the logs of all its jobs; each line begins with its job's name then, unless there is one
    /// job only.
    #[command(after_help = "Examples:
  $ remuda run logs run_…
  $ remuda run logs run_… --job test --follow
  $ remuda run logs run_… --job test --fence 1")]
    Logs {
        /// The run, or a job.
        id: String,
        /// Of this job only, by its name in the run.
        #[arg(long)]
        job: Option<String>,
        /// Go on until they end.
        #[arg(long, short)]
        follow: bool,
        /// Of an earlier grant: the first has 1, and each that follows one more. Without this, the last one's.
        #[arg(long, value_name = "N", conflicts_with = "follow", value_parser = clap::value_parser!(u64).range(1..))]
        fence: Option<u64>,
    },
    /// List what jobs left behind, or fetch it.
    ///
    /// With --to each goes into DIR/JOB/NAME; a file that is there already is not written over. What was fetched from
    /// the same job before is not fetched again, so a command that was stopped goes on where it was; any other file
    /// that is not the same is an error.
    #[command(after_help = "Examples:
  $ remuda run artifacts run_…
  $ remuda run artifacts run_… --job build --to out")]
    Artifacts {
        /// The run, or a job.
        id: String,
        /// Of this job only, by its name in the run.
        #[arg(long)]
        job: Option<String>,
        /// A folder to fetch them into.
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Stop a run, or one job. Jobs that run have a moment to end by themselves.
    ///
    /// A worker hears of it with its next heartbeat, some 20 seconds later at most, or at once where work is
    /// announced through NATS.
    #[command(after_help = "Example:\n  $ remuda run cancel run_…")]
    Cancel {
        /// The run, or a job.
        id: String,
    },
    /// Submit a run again, as it was.
    #[command(after_help = "Example:\n  $ remuda run rerun run_… --key retry-1 --watch")]
    Rerun {
        /// Run id.
        run: String,
        #[command(flatten)]
        key: KeyArgs,
        /// Stay until it ends, and tell what happens.
        #[arg(long)]
        watch: bool,
    },
    /// List the newest runs.
    #[command(after_help = "Example:\n  $ remuda run list --limit 5")]
    List {
        /// Most runs to list.
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200))]
        limit: u16,
    },
    /// Print a file to begin with. Nobody is asked, and nothing is sent.
    #[command(after_help = "Examples:
  $ remuda run example > run.toml
  $ remuda run example --json > run.json")]
    Example,
}

#[derive(clap::Args, Debug)]
struct KeyArgs {
    /// A word of yours: what is sent again under the same word is not done again.
    #[arg(long, value_name = "WORD")]
    key: Option<String>,
}

pub fn main(args: &Args) -> ExitCode {
    if let Command::Example = args.command {
        let out = args.fleet.out();
        return out.end(example::example(out), &[]);
    }
    fleet::run(&args.fleet, async |session| match &args.command {
        Command::Submit { file, key, watch } => {
            let run = file::read(file)?;
            let submitted = session.client.submit(&run, key.key.as_deref()).await;
            let submitted = submitted.map_err(|error| session.explain(error))?;
            begun(session, submitted, *watch).await
        }
        Command::Watch { run } => watch::watch(session, &run_id(run)?).await,
        Command::Show { run } => list::show(session, &run_id(run)?).await,
        Command::Logs { id, job, follow, fence: None } => {
            logs::logs(session, &Target::read(id)?, job.as_deref(), *follow).await
        }
        Command::Logs { id, job, fence: Some(fence), .. } => {
            logs::earlier(session, &Target::read(id)?, job.as_deref(), Fence(*fence)).await
        }
        Command::Artifacts { id, job, to } => {
            let target = Target::read(id)?;
            artifacts::artifacts(session, &target, job.as_deref(), to.as_deref()).await
        }
        Command::Cancel { id } => cancel(session, &Target::read(id)?).await,
        Command::Rerun { run, key, watch } => {
            let again = session.client.rerun(&run_id(run)?, key.key.as_deref()).await;
            let again = again.map_err(|error| session.explain(error))?;
            begun(session, again, *watch).await
        }
        Command::List { limit } => list::list(session, (*limit).into()).await,
        Command::Example => unreachable!("it asks nobody"),
    })
}

/// What a command is about.
enum Target {
    Run(RunId),
    Job(JobId),
}

impl Target {
    fn read(text: &str) -> Result<Self, Failure> {
        match (RunId::new(text), JobId::new(text)) {
            (Ok(run), _) => Ok(Self::Run(run)),
            (_, Ok(job)) => Ok(Self::Job(job)),
            _ => Err(FleetFailure::BadId(text.to_owned()).into()),
        }
    }
}

fn run_id(text: &str) -> Result<RunId, Failure> {
    match Target::read(text)? {
        Target::Run(run) => Ok(run),
        Target::Job(job) => Err(match job.run() {
            Some(run) => FleetFailure::NotARun { job, run },
            None => FleetFailure::BadId(text.to_owned()),
        }
        .into()),
    }
}

/// A run is there. Says so, and waits for it if that is wanted.
async fn begun(session: &Session, submitted: Submitted, stay: bool) -> Result<(), Failure> {
    let run = submitted.run_id.clone();
    if submitted.before {
        note(&format!("{run} was submitted before under this key"));
    }
    if stay {
        if !session.out.json {
            session.out.text(&format!("{run}\n"))?;
        }
        return watch::watch(session, &run).await;
    }
    session.out.show(&submitted, |_, _| format!("{run}\n"))?;
    watch::warn_of_shortage(session, &run).await;
    Ok(())
}

async fn cancel(session: &Session, target: &Target) -> Result<(), Failure> {
    let (canceled, id) = match target {
        Target::Run(run) => (session.client.cancel(run).await, run.as_str()),
        Target::Job(job) => (session.client.cancel_job(job).await, job.as_str()),
    };
    canceled.map_err(|error| session.explain(error))?;
    let shown = json!({ "canceled": id });
    session.out.show(&shown, |_, _| {
        format!("{id} is asked to stop, unless it had ended; workers hear of it with their next heartbeat\n")
    })
}

/// A remark, beside what is printed.
fn note(text: &str) {
    // Nobody minds a remark that cannot be written.
    let _ = writeln!(io::stderr(), "{}", crate::style::clean(text));
}
