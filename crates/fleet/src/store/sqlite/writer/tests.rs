//! What is decided while the disk works.

use super::*;
use crate::id::{Fence, JobId, KeyId, LeaseId, RunId, RunnerId};
use crate::lease::{AttemptState, Reply};
use crate::message::{AckLease, Heartbeat, LeaseRequest, LogChunk};
use crate::store::sqlite::readers::Readers;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
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
    ask_at(0, event)
}

fn ask_at(seconds: u32, event: Event) -> (Ask, Answered) {
    let (answer, answered) = oneshot::channel();
    (Ask { now: NOW.plus_seconds(seconds), event: Box::new(event), answer }, answered)
}

fn ack(job_id: &JobId) -> Event {
    let (job_id, lease_id, runner_id) = (job_id.clone(), lease(), runner());
    Event::Ack(AckLease { job_id, lease_id, runner_id, accepted_at: None })
}

fn beat() -> Event {
    let (lease_id, runner_id) = (lease(), runner());
    let (seq, phase, progress, log_cursor, ts) = (None, None, None, None, None);
    Event::Heartbeat(Heartbeat { lease_id, runner_id, seq, phase, progress, log_cursor, ts })
}

/// A folder that goes with its test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    fn file(&self) -> PathBuf {
        self.0.join("fleet.db")
    }
}

fn readers(path: &Path) -> (Teller, Readers) {
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    Readers::start(SqlitePoolOptions::new().connect_lazy_with(options))
}

async fn reopened(folder: &Folder) -> Writer {
    let (teller, _) = readers(&folder.file());
    Writer::open(&folder.file(), Policy::default(), teller).await.expect("a writer")
}

async fn writer(name: &str) -> (Folder, Writer) {
    let (folder, writer, _) = writer_and_readers(name).await;
    (folder, writer)
}

async fn writer_and_readers(name: &str) -> (Folder, Writer, Readers) {
    let name = format!("fleet-writer-{name}-{}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let (teller, readers) = readers(&folder.file());
    let writer = Writer::open(&folder.file(), Policy::default(), teller).await.expect("a writer");
    (folder, writer, readers)
}

impl Writer {
    /// Writes one batch while other asks come. Returns what was decided about them.
    async fn writes(&mut self, mut first: Vec<Ask>, then: Vec<Ask>) -> Batch {
        let (sender, asks) = mpsc::channel(8);
        let mut inbox = Inbox::new(asks);
        for ask in then {
            assert!(sender.try_send(ask).is_ok(), "room");
        }
        let (mut batch, mut next) = (Batch::default(), Batch::default());
        self.decider.decide(&mut batch, &mut first);
        self.batch(batch, &mut inbox, &mut next).await;
        next
    }

    /// Decides about one event alone.
    async fn one(&mut self, seconds: u32, event: Event) -> Result<Handled, StoreError> {
        let (ask, told) = ask_at(seconds, event);
        self.writes(vec![ask], vec![]).await;
        told.await.expect("told")
    }

    fn connection(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().expect("a connection")
    }

    fn job(&self) -> JobId {
        self.decider.tables.jobs().next().expect("a job").job_id.clone()
    }

    async fn sql(&mut self, statement: &'static str) {
        sqlx::raw_sql(statement).execute(self.connection()).await.expect("sql");
    }
}

#[tokio::test]
async fn the_next_batch_is_decided_while_the_disk_works_and_told_after_its_own_write() {
    let (_folder, mut writer) = writer("next").await;
    let (submitted, mut told) = ask(submit("a"));
    let (taken, mut granted) = ask(take());
    let next = writer.writes(vec![submitted], vec![taken]).await;
    assert!(told.try_recv().expect("told").expect("written").reply.is_ok());
    assert_eq!(next.answers.len(), 1);
    assert!(granted.try_recv().is_err(), "nothing of it is on the disk");
}

#[tokio::test]
async fn readers_see_what_is_on_the_disk_and_nothing_that_is_only_decided() {
    let (_folder, mut writer, readers) = writer_and_readers("reads").await;
    let (submitted, _told) = ask(submit("a"));
    let (other, _told) = ask(submit("b"));
    let next = writer.writes(vec![submitted], vec![other]).await;
    assert_eq!(next.asks, 1, "decided");
    let runs = async || readers.runs(None, 9).await.expect("rows").len();
    assert_eq!((runs().await, writer.decider.tables.runs().count()), (1, 2));
    let mut batch = next;
    let (_sender, asks) = mpsc::channel(1);
    writer.batch(std::mem::take(&mut batch), &mut Inbox::new(asks), &mut batch).await;
    assert_eq!(runs().await, 2, "written");
}

#[tokio::test]
async fn readers_need_no_writer() {
    let (_folder, mut writer, readers) = writer_and_readers("alone").await;
    writer.one(0, submit("a")).await.expect("written");
    writer.one(0, take()).await.expect("written");
    writer.one(0, ack(&writer.job())).await.expect("written");
    let (job_id, fence) = (writer.job(), Fence(1));
    let chunk = LogChunk {
        lease_id: lease(),
        runner_id: runner(),
        number: 0,
        offset: 0,
        data: b"words".to_vec(),
    };
    writer.one(0, Event::Log(chunk)).await.expect("written");
    // The writer does not run, so a read that needed it would hang.
    let run_id = RunId::new("run_a").expect("an id");
    let run = readers.run(&run_id).await.expect("rows").expect("a run");
    assert_eq!(run.jobs[0].lease.as_ref().expect("a lease").lease_id, lease());
    assert_eq!(readers.open_jobs(9).await.expect("rows").len(), 1);
    assert_eq!(readers.counts().await.expect("rows").held, 1);
    assert_eq!(readers.log(&job_id, fence, 2, 99).await.expect("a log"), b"rds");
    assert!(
        readers.worker(&KeyId::new(&"a".repeat(24)).expect("a key")).await.expect("rows").is_none()
    );
}

#[tokio::test]
async fn what_was_decided_on_top_of_a_batch_that_failed_fails_with_it() {
    let (_folder, mut writer) = writer("top").await;
    let (submitted, _told) = ask(submit("a"));
    writer.writes(vec![submitted], vec![]).await;
    writer
        .sql("CREATE TRIGGER full BEFORE INSERT ON lease BEGIN SELECT RAISE(ABORT, 'full'); END")
        .await;
    let job = writer.job();
    let (taken, mut granted) = ask(take());
    let (acked, mut begun) = ask(ack(&job));
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

#[tokio::test]
async fn a_run_that_comes_again_under_the_name_of_one_that_was_forgotten_is_written_whole() {
    let (_folder, mut writer) = writer("again").await;
    writer.one(0, submit("a")).await.expect("written");
    let run_id = RunId::new("run_a").expect("an id");
    let events = [Event::CancelRun { run_id }, Event::Forget { keep_seconds: 0 }, submit("a")];
    let asks = events.into_iter().zip(1..).map(|(event, seconds)| ask_at(seconds, event));
    let (asks, told): (Vec<Ask>, Vec<Answered>) = asks.unzip();
    writer.writes(asks, vec![]).await;
    for told in told {
        assert!(told.await.expect("told").expect("written").reply.is_ok());
    }
    let again = rows::load(writer.connection()).await.expect("rows that can be read");
    assert!(again.jobs().eq(writer.decider.tables.jobs()));
}

#[tokio::test]
async fn heartbeats_during_a_full_disk_keep_the_lease() {
    let (_folder, mut writer) = writer("beats").await;
    writer.one(0, submit("a")).await.expect("written");
    writer.one(0, take()).await.expect("written");
    let acked = writer.one(0, ack(&writer.job())).await.expect("written");
    assert!(acked.reply.is_ok(), "{acked:?}");
    writer
        .sql("CREATE TRIGGER full BEFORE INSERT ON lease BEGIN SELECT RAISE(ABORT, 'full'); END")
        .await;
    for seconds in (10..=200).step_by(10) {
        writer.one(seconds, beat()).await.expect_err("full");
        // There is nothing to be written at first: that is no sign of life.
        let _ = writer.one(seconds + 1, Event::Sweep).await;
    }
    writer.sql("DROP TRIGGER full").await;
    writer.one(203, Event::Sweep).await.expect("written");
    let beat = writer.one(205, beat()).await.expect("written");
    assert!(matches!(beat.reply, Ok(Reply::Beat(_))), "{beat:?}");
}

#[tokio::test]
async fn what_is_answered_after_a_disk_was_full_again_and_again_is_on_the_disk() {
    let (folder, mut writer) = writer("full").await;
    for number in 0..3 {
        // The file may not grow: SQLite ends the transaction by itself.
        writer.sql("PRAGMA max_page_count = 1").await;
        writer
            .sql(
                "CREATE TEMP TRIGGER large AFTER INSERT ON run BEGIN
            INSERT INTO log VALUES (0, 0, new.seq, 0, zeroblob(100000)); END",
            )
            .await;
        writer.one(0, submit(&format!("a{number}"))).await.expect_err("full");
    }
    writer.one(0, submit("b")).await.expect("written");
    writer.connection.take().expect("a connection").close().await.expect("closed");
    drop(writer);
    let writer = reopened(&folder).await;
    let runs: Vec<_> = writer.decider.tables.runs().map(|run| run.run_id.as_str()).collect();
    assert_eq!(runs, ["run_b"]);
}

#[tokio::test]
async fn of_many_who_ask_together_half_are_decided_while_the_others_are_written() {
    let (folder, writer) = writer("halves").await;
    let (sender, asks) = mpsc::channel(64);
    let mut told = vec![];
    for number in 0..40 {
        let (ask, answered) = ask(submit(&format!("a{number}")));
        assert!(sender.try_send(ask).is_ok(), "room");
        told.push(answered);
    }
    drop(sender);
    writer.run(asks).await;
    for told in told {
        assert!(told.await.expect("told").expect("written").reply.is_ok());
    }
    let writer = reopened(&folder).await;
    assert_eq!(writer.decider.tables.runs().count(), 40);
    let first = writer.decider.tables.jobs().next().expect("a job");
    assert_eq!(
        (first.run_id.as_str(), first.seq),
        ("run_a0", 1),
        "in the order in which they asked"
    );
}

#[tokio::test]
async fn events_queued_before_a_failed_write_are_decided_on_the_rows_on_disk() {
    let (folder, mut writer) = writer("heard").await;
    writer
        .sql("CREATE TRIGGER full BEFORE INSERT ON run WHEN new.seq = 1 AND new.record LIKE '%run_a0%'
            BEGIN SELECT RAISE(ABORT, 'full'); END")
        .await;
    let (sender, asks) = mpsc::channel(8);
    let mut told = vec![];
    for number in 0..3 {
        let (ask, answered) = ask(submit(&format!("a{number}")));
        assert!(sender.try_send(ask).is_ok(), "room");
        told.push(answered);
    }
    drop(sender);
    writer.run(asks).await;
    let mut kept = vec![];
    for (number, told) in told.into_iter().enumerate() {
        if told.await.expect("told").is_ok() {
            kept.push(format!("run_a{number}"));
        }
    }
    let writer = reopened(&folder).await;
    let runs: Vec<_> = writer.decider.tables.runs().map(|run| run.run_id.to_string()).collect();
    assert_eq!(runs, kept);
    assert!(!kept.contains(&"run_a0".to_owned()));
}

fn progress(letters: usize) -> Event {
    let Event::Heartbeat(mut beat) = beat() else { unreachable!("a beat") };
    let said = serde_json::json!({ "message": "x".repeat(letters) });
    beat.progress = Some(serde_json::from_value(said).expect("progress"));
    Event::Heartbeat(beat)
}

fn short() -> Event {
    let Event::Submit { run_id, key, mut submission } = submit("a") else { unreachable!("a run") };
    submission.jobs[0].lease_ttl_seconds = Some(3);
    Event::Submit { run_id, key, submission }
}

const FULL: &str =
    "CREATE TRIGGER full BEFORE INSERT ON lease BEGIN SELECT RAISE(ABORT, 'full'); END";

#[tokio::test]
async fn a_short_outage_ends_no_lease_that_is_shorter() {
    let (_folder, mut writer) = writer("short").await;
    writer.one(0, short()).await.expect("written");
    writer.one(0, take()).await.expect("written");
    writer.one(0, ack(&writer.job())).await.expect("written");
    writer.one(1, beat()).await.expect("written");
    writer.sql(FULL).await;
    for seconds in 2..=10 {
        writer.one(seconds, beat()).await.expect_err("full");
        let _ = writer.one(seconds, Event::Sweep).await;
    }
    writer.sql("DROP TRIGGER full").await;
    let heard = writer.one(11, beat()).await.expect("written");
    assert!(matches!(heard.reply, Ok(Reply::Beat(_))), "{heard:?}");
}

/// A disk hangs and then fails. The events that waited are decided afterwards, each at its own arrival time, and the
/// outage is credited once regardless of their number.
#[tokio::test]
async fn a_write_that_hangs_and_fails_ends_no_lease_that_is_shorter() {
    let (_folder, mut writer) = writer("hangs").await;
    writer.one(0, short()).await.expect("written");
    writer.one(0, take()).await.expect("written");
    writer.one(0, ack(&writer.job())).await.expect("written");
    writer.sql(FULL).await;
    writer.one(0, beat()).await.expect_err("full");
    writer.failed(NOW.plus_seconds(10));
    writer.sql("DROP TRIGGER full").await;
    let events = std::iter::once((1, beat())).chain((2..=10).map(|second| (second, Event::Sweep)));
    let asks = events.map(|(second, event)| ask_at(second, event));
    let (asks, _told): (Vec<Ask>, Vec<Answered>) = asks.unzip();
    writer.writes(asks, vec![]).await;
    let heard = writer.one(11, beat()).await.expect("written");
    assert!(matches!(heard.reply, Ok(Reply::Beat(_))), "{heard:?}");
}

#[tokio::test]
async fn a_disk_that_fails_now_and_then_keeps_nobody_who_is_gone() {
    let (_folder, mut writer) = writer("gone").await;
    writer.one(0, short()).await.expect("written");
    writer.one(0, take()).await.expect("written");
    writer.one(0, ack(&writer.job())).await.expect("written");
    for seconds in 1..=10 {
        writer.one(seconds, Event::Sweep).await.expect("nothing to write, or written");
        if seconds % 5 == 2 {
            writer
                .sql("CREATE TRIGGER full BEFORE INSERT ON run BEGIN SELECT RAISE(ABORT, 'full'); END")
                .await;
            writer.one(seconds, submit(&format!("b{seconds}"))).await.expect_err("full");
            writer.sql("DROP TRIGGER full").await;
        }
    }
    writer.one(11, Event::Sweep).await.expect("written");
    let row = writer.decider.tables.job(&writer.job()).expect("a job");
    assert_eq!(row.state(None), AttemptState::Queued, "its time is over all the same");
}

#[tokio::test]
async fn row_sizes_match_those_after_a_reload() {
    let (_folder, mut writer) = writer("sizes").await;
    writer.one(0, submit("a")).await.expect("written");
    writer.one(0, take()).await.expect("written");
    writer.one(0, ack(&writer.job())).await.expect("written");
    for (seconds, letters) in (1..).zip([4_000, 1, 4_000, 1, 300]) {
        let told = writer.one(seconds, progress(letters)).await.expect("written");
        assert!(told.reply.is_ok(), "{told:?}");
        let loaded = rows::load(writer.connection()).await.expect("rows");
        assert_eq!(writer.decider.tables.bytes(), loaded.bytes(), "{letters}");
    }
}

#[tokio::test]
async fn a_batch_has_no_more_jobs_than_it_may_and_nobody_is_lost_or_overtaken() {
    let (_folder, mut writer) = writer("large").await;
    let large = |name: usize| {
        let job = |n| {
            let name = format!("j{n}");
            serde_json::json!({ "name": name, "job_spec": { "name": name, "steps": ["true"] } })
        };
        let jobs: Vec<_> = (0..1_000).map(job).collect();
        let run = serde_json::json!({ "type": "RunSubmission", "jobs": jobs });
        let run_id = RunId::new(&format!("run_{name}")).expect("an id");
        let submission = serde_json::from_value(run).expect("a run");
        Event::Submit { run_id, key: None, submission }
    };
    let (mut asks, told): (Vec<Ask>, Vec<Answered>) = (0..8).map(|n| ask(large(n))).unzip();
    let mut batch = Batch::default();
    writer.decider.decide(&mut batch, &mut asks);
    assert_eq!((batch.asks, asks.len()), (5, 3));
    let (sender, waiting) = mpsc::channel(8);
    let mut inbox = Inbox::new(waiting);
    inbox.first(&mut asks);
    drop(sender);
    let mut next = Batch::default();
    writer.batch(batch, &mut inbox, &mut next).await;
    assert_eq!(next.asks, 3);
    let rest = std::mem::take(&mut next);
    writer.batch(rest, &mut inbox, &mut next).await;
    for told in told {
        assert!(told.await.expect("told").expect("written").reply.is_ok());
    }
    let places: Vec<_> = (0..8)
        .map(|n| RunId::new(&format!("run_{n}")).expect("an id"))
        .map(|run| writer.decider.tables.jobs_of(&run)[0].clone())
        .map(|job| writer.decider.tables.job(&job).expect("a job").seq)
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

/// A disk that hangs says no word of it, and those who beat wait for their answers. What comes late is decided by
/// rows that have the time back.
#[tokio::test]
async fn a_write_that_takes_long_costs_no_lease() {
    let (_folder, mut writer) = writer("stall").await;
    writer.one(0, submit("a")).await.expect("written").reply.expect("submitted");
    writer.one(0, take()).await.expect("written").reply.expect("granted");
    let job = writer.job();
    writer.one(0, ack(&job)).await.expect("written").reply.expect("acknowledged");
    let ttl = writer.decider.policy.lease_ttl_seconds;
    let (sender, asks) = mpsc::channel(8);
    let mut inbox = Inbox::new(asks);
    // Its time is over while the disk hangs, in the eyes of those who only look at the clock.
    let (sweep, swept) = ask_at(ttl, Event::Sweep);
    let write = async {
        tokio::time::sleep(STALL + Duration::from_millis(100)).await;
        assert!(sender.try_send(sweep).is_ok(), "room");
        tokio::time::sleep(STALL).await;
        Ok(())
    };
    let mut next = Batch::default();
    let written = writer.decider.decide_during(write, &mut inbox, &mut next).await;
    written.expect("written");
    assert_eq!(next.asks, 0, "nothing is decided by a clock that goes on alone");
    let mut came = Vec::new();
    inbox.hear(&mut came, 8).await;
    writer.decider.decide(&mut next, &mut came);
    let (_sender, asks) = mpsc::channel(8);
    writer.batch(next, &mut Inbox::new(asks), &mut Batch::default()).await;
    let reply = swept.await.expect("told").expect("written").reply;
    assert_eq!(reply, Ok(Reply::Swept { expired: 0, more: false }));
    let beaten = writer.one(ttl, beat()).await.expect("written").reply;
    assert!(matches!(beaten, Ok(Reply::Beat(_))), "{beaten:?}");
}

/// On a permanently slow disk, leases of dead workers expire and those of live workers do not.
#[tokio::test]
async fn a_disk_that_is_always_slow_keeps_no_dead_lease() {
    let (_folder, mut writer) = writer("slow").await;
    writer.one(0, submit("a")).await.expect("written").reply.expect("submitted");
    writer.one(0, take()).await.expect("written").reply.expect("granted");
    let job = writer.job();
    writer.one(0, ack(&job)).await.expect("written").reply.expect("acknowledged");
    let ttl = writer.decider.policy.lease_ttl_seconds;
    let mut second = 0;
    let stall = |writer: &mut Writer| {
        let began = writer.decider.tables.clock().wall;
        writer.decider.stalled(began, Duration::from_secs(1));
    };
    // Each second is one in which nothing could be written.
    while second < 3 * ttl {
        second += 1;
        stall(&mut writer);
        let beaten = writer.one(second, beat()).await.expect("written").reply;
        assert!(matches!(beaten, Ok(Reply::Beat(_))), "{second}: {beaten:?}");
    }
    let last = second;
    loop {
        second += 1;
        stall(&mut writer);
        let swept = writer.one(second, Event::Sweep).await.expect("written").reply;
        match swept {
            Ok(Reply::Swept { expired: 0, .. }) => {}
            Ok(Reply::Swept { expired: 1, .. }) => break,
            other => panic!("{other:?}"),
        }
        assert!(second < last + 3 * ttl, "it never ends");
    }
    assert!(second > last + ttl, "it had time back");
}

/// What was lost with slow writes stays lost when a write fails.
#[tokio::test]
async fn time_of_slow_writes_outlives_a_write_that_fails() {
    let (_folder, mut writer) = writer("outlives").await;
    writer.one(0, short()).await.expect("written").reply.expect("submitted");
    writer.one(0, take()).await.expect("written").reply.expect("granted");
    let job = writer.job();
    writer.one(0, ack(&job)).await.expect("written").reply.expect("acknowledged");
    writer.decider.stalled(NOW, Duration::from_secs(2));
    writer.sql(FULL).await;
    // By the clock on the wall it would be over by now.
    writer.one(4, Event::Sweep).await.expect("nothing to write");
    writer.one(4, beat()).await.expect_err("full");
    writer.sql("DROP TRIGGER full").await;
    writer.one(4, beat()).await.expect("written").reply.expect("it had its time back");
}

/// Rows that the connection has written until now.
async fn rows_written(writer: &mut Writer) -> i64 {
    let count = sqlx::query_scalar("SELECT total_changes()");
    count.fetch_one(writer.connection()).await.expect("sql")
}

/// To rewrite every lease after a slow write is itself a slow write.
#[tokio::test]
async fn an_outage_with_fifty_thousand_leases_writes_one_row() {
    const RUNS: usize = 50;
    const JOBS: usize = 1_000;
    let (folder, mut writer) = writer("outage").await;
    let mut changes = Changes::default();
    let mut decide = |event| writer.decider.handle(&mut changes, NOW, event).reply.expect("done");
    for run in 0..RUNS {
        let jobs = (0..JOBS).map(|job| {
            serde_json::json!({ "name": format!("j{job}"), "job_spec": { "name": "j", "steps": ["true"] } })
        });
        let jobs = serde_json::json!({ "type": "RunSubmission", "jobs": jobs.collect::<Vec<_>>() });
        let run_id = RunId::new(&format!("run_{run}")).expect("an id");
        let submission = serde_json::from_value(jobs).expect("a run");
        decide(Event::Submit { run_id, key: None, submission });
    }
    for n in 0..RUNS * JOBS {
        let runner_id = RunnerId::new(&format!("runner_{n}")).expect("an id");
        let lease_id = LeaseId::new(&format!("lease_{n}")).expect("an id");
        let (capabilities, max_wait_seconds) = (BTreeSet::new(), 0);
        let request = LeaseRequest { runner_id: runner_id.clone(), capabilities, max_wait_seconds };
        let ask = Event::Lease { lease_id: lease_id.clone(), cancel_token: None, request };
        let Reply::Granted(granted) = decide(ask) else { panic!("no work") };
        let job_id = granted.job_id;
        decide(Event::Ack(AckLease { job_id, lease_id, runner_id, accepted_at: None }));
    }
    let ready = rows::ready(&writer.decider.tables, changes, false).expect("rows");
    rows::write(writer.connection.as_mut(), ready).await.expect("written");
    let ttl = writer.decider.policy.lease_ttl_seconds;
    let swept = Ok(Reply::Swept { expired: 0, more: false });

    // The machine was suspended.
    let before = rows_written(&mut writer).await;
    assert_eq!(writer.one(10 * ttl, Event::Sweep).await.expect("a store").reply, swept);
    assert_eq!(rows_written(&mut writer).await - before, 0);
    // A write takes long.
    writer.decider.stalled(NOW.plus_seconds(10 * ttl), Duration::from_secs(u64::from(10 * ttl)));
    assert_eq!(writer.one(20 * ttl, Event::Sweep).await.expect("a store").reply, swept);
    assert_eq!(rows_written(&mut writer).await - before, 0);
    // The disk is full for a while. Then the clock shows that it is well again.
    writer.failed(NOW.plus_seconds(30 * ttl));
    assert_eq!(writer.one(30 * ttl, Event::Sweep).await.expect("a store").reply, swept);
    assert_eq!(rows_written(&mut writer).await - before, 1);
    // The orchestrator is away for a while.
    drop(writer);
    let mut writer = reopened(&folder).await;
    writer.start(NOW.plus_seconds(40 * ttl)).await.expect("started");
    assert_eq!(rows_written(&mut writer).await, 1);
    assert_eq!(writer.one(40 * ttl, Event::Sweep).await.expect("a store").reply, swept);
    assert_eq!(writer.decider.tables.counts().held, (RUNS * JOBS) as u64);
}
