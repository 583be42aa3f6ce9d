//! `remuda fleet limits`: how many jobs with a label run at a time.

use super::{FleetArgs, Session};
use crate::failure::Failure;
use crate::style::{Cell, Style, Table, Tone};
use clap::Subcommand;
use remuda_fleet::message::Label;
use remuda_fleet::view::LimitList;
use serde_json::json;
use std::process::ExitCode;

/// Show and set how many jobs with a label may run at a time, over all runs.
///
/// A job has labels of its own choosing (`labels = ["deploy:production"]` in a run's file). A viewer's
/// token shows limits. Setting one takes an operator's token and is recorded in the audit log.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda fleet limits
  $ remuda fleet limits set deploy:production 1 --token-file fleet/operator.token
  $ remuda fleet limits clear deploy:production --token-file fleet/operator.token

A limit of 0 holds all jobs with the label back until it is raised. Jobs that run already go on.")]
pub(super) struct Args {
    #[command(flatten)]
    fleet: FleetArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// At most so many at a time.
    Set {
        /// Label, such as deploy:production.
        label: String,
        /// Most jobs at a time; 0 holds all back.
        limit: u32,
    },
    /// As many as there are.
    Clear {
        /// Label, such as deploy:production.
        label: String,
    },
}

pub(super) fn main(args: &Args) -> ExitCode {
    super::run(&args.fleet, async |session| match &args.command {
        None => list(session).await,
        Some(Command::Set { label, limit }) => set(session, label, Some(*limit)).await,
        Some(Command::Clear { label }) => set(session, label, None).await,
    })
}

async fn set(session: &Session, label: &str, limit: Option<u32>) -> Result<(), Failure> {
    let text = "a label has 1 to 128 visible characters without quotes, backslashes and commas";
    let label = Label::new(label).map_err(|_| Failure::Usage(text))?;
    let done = session.client.set_limit(&label, limit).await;
    done.map_err(|error| session.explain(error))?;
    session.out.show(&json!({ "label": label, "limit": limit }), |_, _| match limit {
        Some(limit) => format!("{label}: at most {limit} at a time\n"),
        None => format!("{label}: as many as there are\n"),
    })
}

async fn list(session: &Session) -> Result<(), Failure> {
    let limits = session.client.limits().await.map_err(|error| session.explain(error))?;
    session.out.show(&limits, render)
}

fn render(list: &LimitList, style: Style) -> String {
    if list.limits.is_empty() {
        return "no job had a label yet, and none has a limit\n".to_owned();
    }
    let most = |limit: Option<u32>| match limit {
        Some(most) => most.into(),
        None => Cell::new(Tone::Why, "any"),
    };
    let table = Table::of(&list.limits)
        .left("label", |it| it.label.as_str())
        .right("running", |it| it.running)
        .right("at most", |it| most(it.limit));
    let more = if list.more { "… and more\n" } else { "" };
    format!("{}{more}", table.render(style))
}
