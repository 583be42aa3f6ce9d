//! What is decided while the disk works.

use super::*;
use crate::id::{LeaseId, RunId, RunnerId};
use crate::lease::{AttemptState, Reply};
use crate::message::{AckLease, LeaseRequest};
use std::collections::BTreeSet;

const NOW: Millis = Millis(1_000_000);

fn runner() -> RunnerId {
    RunnerId::new("runner_a").expect("an id")
}

fn lease() -> LeaseId {
    LeaseId::new("lease_a").expect("an id")
}

fn submit(name: &str) -> Event {
    let run = serde_json::json!({ "type": "RunSubmission", "jobs": [
        { "name": name, "job_spec": { "name": name, "steps": ["true"] } },
    ]});
    let submission = serde_json::from_value(run).expect("a run");
    Event::Submit {
        run_id: RunId::new(&format!("run_{name}")).expect("an id"),
        key: None,
        submission,
    }
}

fn take() -> Event {
    let request =
        LeaseRequest { runner_id: runner(), capabilities: BTreeSet::new(), max_wait_seconds: 0 };
    Event::Lease { lease_id: lease(), cancel_token: None, request }
}

type Answered = oneshot::Receiver<Result<Handled, StoreError>>;

fn ask(event: Event) -> (Ask, Answered) {
    let (answer, answered) = oneshot::channel();
    (Ask::Handle(NOW, Box::new(event), answer), answered)
}

/// A writer whose file nobody sees.
async fn writer() -> Writer {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.expect("a file");
    rows::migrate(&mut connection).await.expect("tables");
    Writer::load(connection, Policy::default()).await.expect("a writer")
}

impl Writer {
    /// Writes one batch while other asks come. Returns what was decided about them.
    async fn writes(&mut self, mut first: Vec<Ask>, then: Vec<Ask>) -> Batch {
        let (sender, mut asks) = mpsc::channel(8);
        for ask in then {
            sender.try_send(ask).ok().expect("room");
        }
        let (mut batch, mut next) = (Batch::default(), Batch::default());
        self.decider.decide(&mut batch, &mut first);
        self.batch(batch, &mut asks, &mut next).await.expect("rows");
        next
    }

    async fn sql(&mut self, statement: &'static str) {
        sqlx::raw_sql(statement).execute(&mut self.connection).await.expect("sql");
    }
}

#[tokio::test]
async fn the_next_batch_is_decided_while_the_disk_works_and_told_after_its_own_write() {
    let mut writer = writer().await;
    let (submitted, mut told) = ask(submit("a"));
    let (taken, mut granted) = ask(take());
    let next = writer.writes(vec![submitted], vec![taken]).await;
    assert!(told.try_recv().expect("told").expect("written").reply.is_ok());
    assert_eq!(next.answers.len(), 1);
    assert!(granted.try_recv().is_err(), "nothing of it is on the disk");
}

#[tokio::test]
async fn who_reads_sees_nothing_that_is_only_decided() {
    let mut writer = writer().await;
    let (submitted, _told) = ask(submit("a"));
    let (other, _told) = ask(submit("b"));
    let (answer, answered) = oneshot::channel();
    let read = Ask::Read(Box::new(move |tables: &Tables| {
        let _ = answer.send(tables.runs().count());
    }));
    let next = writer.writes(vec![submitted, read], vec![other]).await;
    assert_eq!((answered.await.expect("read"), next.asks), (1, 0));
}

#[tokio::test]
async fn what_was_decided_on_top_of_a_batch_that_failed_fails_with_it() {
    let mut writer = writer().await;
    let (submitted, _told) = ask(submit("a"));
    writer.writes(vec![submitted], vec![]).await;
    writer
        .sql("CREATE TRIGGER full BEFORE INSERT ON lease BEGIN SELECT RAISE(ABORT, 'full'); END")
        .await;
    let job = writer.decider.tables.jobs().next().expect("a job").job_id.clone();
    let ack =
        AckLease { job_id: job.clone(), lease_id: lease(), runner_id: runner(), accepted_at: None };
    let (taken, mut granted) = ask(take());
    let (acked, mut begun) = ask(Event::Ack(ack));
    let next = writer.writes(vec![taken], vec![acked]).await;
    for answer in [&mut granted, &mut begun] {
        let error = answer.try_recv().expect("told").expect_err("not on the disk");
        assert!(error.to_string().contains("full"), "{error}");
    }
    assert!(next.answers.is_empty() && next.changes.is_empty());
    let row = writer.decider.tables.job(&job).expect("a job");
    assert_eq!((row.state(None), row.fence.0), (AttemptState::Queued, 0), "as on the disk");

    writer.sql("DROP TRIGGER full").await;
    let (again, granted) = ask(take());
    writer.writes(vec![again], vec![]).await;
    let handled = granted.await.expect("told").expect("written");
    assert!(matches!(handled.reply, Ok(Reply::Granted(_))), "{handled:?}");
}
