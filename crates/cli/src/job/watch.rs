//! `remuda job watch`, and the waiting of `remuda job submit --wait`.

use super::history::heading;
use super::show::end_of;
use super::{answers, shortage};
use crate::failure::Failure;
use crate::session::Session;
use crate::timeline::{Timeline, entries, is_end};
use futures::StreamExt;
use remuda_client::types::{FailureName, HexHash, HistoryEntry, JobStatusView, JobView};
use remuda_client::{Client, EventFilter};
use remuda_protocol::primitives::{Height, JobId};
use std::time::Duration;

/// How long a node that is behind is waited for: a few blocks.
const CATCHING_UP: Duration = Duration::from_millis(100);
const CATCHING_UP_MAX: usize = 100;

pub(super) async fn watch(session: &Session, id: HexHash) -> Result<(), Failure> {
    // Asked for first: a job that is over here has its end in the history below, if that has it at
    // all.
    let job = session.client.job(id.0).await?;
    let history = session.client.job_history(id.0).await?;
    let mut timeline = Timeline::new(session.out.style);
    if !session.out.json {
        let head = heading(&history, session.out.style) + &timeline.heading();
        session.out.text(&head)?;
    }
    let mut over = job.over;
    for entry in &history.entries {
        over |= is_end(&entry.event);
        print(session, &mut timeline, entry)?;
    }
    if !over {
        follow(session, id.0, Height(history.height.0), |entry| {
            print(session, &mut timeline, entry)
        })
        .await?;
    }
    verdict(session, &ended(&session.client, id.0).await?).await
}

/// A job of whose end somebody has heard already. The node that is asked may be a block behind the one
/// that told it.
pub(crate) async fn ended(client: &Client, id: JobId) -> Result<JobView, Failure> {
    let mut job = client.job(id).await?;
    for _ in 0..CATCHING_UP_MAX {
        if job.status.is_over() {
            break;
        }
        tokio::time::sleep(CATCHING_UP).await;
        job = client.job(id).await?;
    }
    Ok(job)
}

fn print(session: &Session, timeline: &mut Timeline, entry: &HistoryEntry) -> Result<(), Failure> {
    session.out.show(entry, |entry, _| timeline.entry(entry))
}

/// Hands out what happens to a job after a height, until the block in which it ends.
pub(super) async fn follow(
    session: &Session,
    job: JobId,
    after: Height,
    mut each: impl FnMut(&HistoryEntry) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let filter = EventFilter { job: Some(job), ..EventFilter::default() };
    let mut events = session.client.events(&filter, Some(after));
    while let Some(block) = events.next().await.transpose()? {
        let mut over = false;
        for entry in entries(block) {
            over |= is_end(&entry.event);
            each(&entry)?;
        }
        if over {
            break;
        }
    }
    Ok(())
}

/// Whether a job that is over has a result.
pub(super) async fn verdict(session: &Session, job: &JobView) -> Result<(), Failure> {
    let advice = match job.status {
        JobStatusView::Settled {} => return Ok(()),
        JobStatusView::Failed { reason } => advice(session, job, reason).await,
        _ => String::new(),
    };
    Err(Failure::JobOver { job: job.id, end: end_of(&job.status), advice })
}

/// What the submitter can do about this failure.
async fn advice(session: &Session, job: &JobView, reason: FailureName) -> String {
    let text = match reason {
        FailureName::InsufficientRunners => {
            // A node that does not answer any more must not hide how the job ended.
            let numbers = shortage::explain(session, job)
                .await
                .unwrap_or_else(|_| "`remuda runner list` shows who is there".to_owned());
            let what = match job.seats.is_empty() {
                true => "Fewer runners can be drawn than the job needs",
                false => {
                    "Runners were drawn, but too few delivered in time, and there are not enough \
                          others to draw instead"
                }
            };
            return format!(
                ". {what}, so its price went back. {numbers}. Pay more, ask for something else, or let \
                 some join: remuda runner register --help"
            );
        }
        FailureName::NoRunners => {
            ". All that were drawn stayed silent, so its price went back. `remuda runner list` \
             shows who is there; order it again, with more timeout_blocks if it is long work"
        }
        FailureName::NoAgreement => {
            let answers = answers::of(session, job).await.unwrap_or_default();
            return answers::advice(&answers, &answers::fields(job));
        }
        FailureName::Excused => {
            return format!(
                ". {}, and no reputation changed. The unspent part of its price went back. Fix what it \
                 asks for, and order it again",
                answers::excuses(job)
            );
        }
        FailureName::NoSeed => {
            ". The network lost its draw, so its price went back; order it again"
        }
    };
    text.to_owned()
}
