//! `remuda job watch`, and the waiting of `remuda job submit --wait`.

use super::history::heading;
use super::show::end_of;
use crate::failure::Failure;
use crate::session::Session;
use crate::timeline::{Timeline, entries, is_end};
use futures::StreamExt;
use remuda_client::EventFilter;
use remuda_client::types::{FailureName, HexHash, HistoryEntry, JobStatusView, JobView};
use remuda_protocol::primitives::{Height, JobId};

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
    verdict(&session.client.job(id.0).await?)
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
pub(super) fn verdict(job: &JobView) -> Result<(), Failure> {
    match job.status {
        JobStatusView::Settled {} => Ok(()),
        JobStatusView::Failed { reason: FailureName::InsufficientRunners }
            if !job.seats.is_empty() =>
        {
            let advice = ". Runners were drawn, but too few of them delivered in time, and there are \
                          not enough others to draw instead, so its price went back. `remuda job \
                          history` shows who was silent; order it again, with more timeout_blocks \
                          if it is long work";
            Err(Failure::JobOver { job: job.id, end: end_of(&job.status), advice })
        }
        _ => Err(no_result(job.id, &job.status)),
    }
}

/// The failure of a job that is over without a result.
pub(super) fn no_result(job: HexHash, status: &JobStatusView) -> Failure {
    let advice = match status {
        JobStatusView::Failed { reason } => advice(*reason),
        _ => "",
    };
    Failure::JobOver { job, end: end_of(status), advice }
}

/// What whoever ordered it can do about it.
fn advice(reason: FailureName) -> &'static str {
    match reason {
        FailureName::InsufficientRunners => {
            ". Fewer runners can be drawn than the job needs, so its price went back. `remuda \
             runner list` shows who is there: drawn are those that are active, do such work for \
             that price and have enough stake. Ask for fewer runners or pay more, or let some \
             join first: remuda runner register --help"
        }
        FailureName::NoRunners => {
            ". All that were drawn stayed silent, so its price went back. `remuda runner list` \
             shows who is there; order it again, with more timeout_blocks if it is long work"
        }
        FailureName::NoAgreement => {
            ". The results differ, so its price went back. `remuda job show` has the committee; \
             compare fewer fields in `checks`, or lower the threshold"
        }
        FailureName::NoSeed => {
            ". The network lost its draw, so its price went back; order it again"
        }
    }
}
