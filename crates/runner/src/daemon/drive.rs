//! Carries out what the desk says, and brings back what comes of it.

use super::dependencies::{Dependency, PROBE_EVERY};
use super::desk::{Action, Desk, Earned, Note};
use super::faults::{Doubt, JOURNAL, Trial};
use super::handover::prepare;
use super::links::{LinkNews, Links, News};
use super::nodes::Nodes;
use super::status::StatusView;
use super::work::{Miss, Task, TaskRunner};
use crate::backend::Backend;
use crate::executor::Progress;
use crate::journal::Journal;
use futures::FutureExt as _;
use futures::future::join_all;
use remuda_client::types::{EventBody, HandoverPost, JobHistory};
use remuda_link::quic::client::{Command, Connector};
use remuda_link::sign::ValidatorKey;
use remuda_protocol::crypto::{PublicKey, SecretKey};
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::transaction::Reveal;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::File;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tracing::warn;

/// Questions that nodes are asked at a time.
const QUESTIONS: usize = 16;
/// Results that are handed over at a time, through nodes of others: slow ones must not hold up
/// questions to the operator's own.
const HANDOVERS: usize = 8;
/// Least time between two reports of how far a job is.
const PROGRESS: Duration = Duration::from_millis(500);
/// Characters of a report's detail.
const PROGRESS_CHARS_MAX: usize = 100;
/// How often the status is drawn up.
const STATUS: Duration = Duration::from_millis(250);
/// Longest pause between two tests of a failed part. Each pause is twice the one before, because some
/// tests cost money at a provider.
const TRIAL_MAX: Duration = Duration::from_secs(5 * 60);

/// Asks nodes, beside the desk.
#[derive(Clone)]
struct NodeQueries {
    me: Address,
    key: SecretKey,
    nodes: Nodes,
    notes: mpsc::Sender<Note>,
    questions: Arc<Semaphore>,
    handovers: Arc<Semaphore>,
}

pub(crate) struct Driver {
    desk: Desk,
    queries: NodeQueries,
    tasks: TaskRunner,
    connector: Connector,
    links: Option<Links>,
    speak: BTreeMap<ValidatorKey, mpsc::Sender<Command>>,
    workers: BTreeMap<JobId, AbortHandle>,
    news_in: mpsc::Sender<News>,
    status: watch::Sender<StatusView>,
    started: Instant,
    prober: JoinHandle<()>,
    /// Parts that are out of order.
    broken: watch::Sender<Vec<String>>,
    /// Nobody else uses the data directory as long as this is open.
    _lock: File,
}

/// What a driver is put together from.
pub(crate) struct Parts {
    pub(crate) desk: Desk,
    pub(crate) key: SecretKey,
    pub(crate) nodes: Nodes,
    pub(crate) tasks: TaskRunner,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) connector: Connector,
    pub(crate) notes_in: mpsc::Sender<Note>,
    pub(crate) status: watch::Sender<StatusView>,
    pub(crate) lock: File,
}

impl Driver {
    /// Until it is drained or told to stop.
    pub(crate) async fn run(
        parts: Parts,
        mut notes: mpsc::Receiver<Note>,
        mut stop: watch::Receiver<bool>,
    ) {
        let (news_in, mut news) = mpsc::channel(1_024);
        let queries = NodeQueries {
            me: parts.key.address(),
            key: parts.key,
            nodes: parts.nodes,
            notes: parts.notes_in,
            questions: Arc::new(Semaphore::new(QUESTIONS)),
            handovers: Arc::new(Semaphore::new(HANDOVERS)),
        };
        let (broken, to_try) = watch::channel(Vec::new());
        let prober = Prober {
            backend: parts.tasks.backend.clone(),
            dependencies: parts.dependencies,
            journal: parts.tasks.journal.clone(),
            to_try,
            trials: BTreeMap::new(),
            notes: queries.notes.clone(),
        };
        let prober = tokio::spawn(prober.run());
        let mut driver = Self {
            desk: parts.desk,
            queries,
            tasks: parts.tasks,
            connector: parts.connector,
            links: None,
            speak: BTreeMap::new(),
            workers: BTreeMap::new(),
            news_in,
            status: parts.status,
            started: Instant::now(),
            prober,
            broken,
            _lock: parts.lock,
        };
        let mut drawn_up = Instant::now();
        while !driver.desk.drained() {
            let tick = tokio::time::sleep(driver.desk.tick_every());
            let note = tokio::select! {
                biased;
                _ = stop.changed() => break,
                Some(news) = news.recv() => driver.news(news),
                Some(note) = notes.recv() => note,
                () = tick => Note::Tick,
            };
            driver.handle(note);
            // A tick may never come where notes never end.
            driver.handle(Note::Tick);
            if let Some(links) = &driver.links {
                links.height(driver.desk.height());
            }
            if drawn_up.elapsed() >= STATUS {
                drawn_up = Instant::now();
                driver.status.send_replace(driver.desk.status());
            }
        }
        driver.leave().await;
    }

    fn handle(&mut self, note: Note) {
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        for action in self.desk.handle(note, now_ms) {
            self.perform(action);
        }
    }

    async fn leave(mut self) {
        self.prober.abort();
        for worker in self.workers.values() {
            worker.abort();
        }
        self.tasks.backend.shut_down().await;
        self.status.send_replace(self.desk.status());
        for speak in self.speak.values() {
            let _ = speak.try_send(Command::Close);
        }
        self.speak.clear();
        match self.links.take() {
            Some(links) => links.stop().await,
            None => self.connector.stop().await,
        }
    }

    fn news(&mut self, (validator, news): News) -> Note {
        match news {
            LinkNews::Up(speak) => {
                self.speak.insert(validator, speak);
                Note::Up(validator)
            }
            LinkNews::Heard(event, rtt) => Note::Heard(validator, event, rtt),
            LinkNews::Down(why) => {
                self.speak.remove(&validator);
                Note::Down(validator, why)
            }
        }
    }

    fn say(&self, validator: ValidatorKey, command: Command) {
        let Some(speak) = self.speak.get(&validator) else { return };
        if let Err(mpsc::error::TrySendError::Full(command)) = speak.try_send(command) {
            // It takes its time; an answer is better late than never.
            let speak = speak.clone();
            tokio::spawn(async move {
                let _ = tokio::time::timeout(Duration::from_secs(5), speak.send(command)).await;
            });
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Ack(validator, job, status, reason) => {
                self.say(validator, Command::Ack(job, status, reason));
            }
            Action::Progress(validator, job, percent, detail) => {
                let detail = Some(detail).filter(|detail| !detail.is_empty());
                self.say(validator, Command::Progress(job, percent, detail));
            }
            Action::Finish(validator, job) => self.say(validator, Command::Finish(job)),
            Action::Carry(validator, job, bytes) => {
                self.say(validator, Command::Result(job, bytes));
            }
            Action::Load(validators, signal) => {
                for validator in validators {
                    self.say(validator, Command::Load(signal.clone()));
                }
            }
            Action::Capability(validators, added, removed) => {
                for validator in validators {
                    let command = Command::Capability(added.clone(), removed.clone());
                    self.say(validator, command);
                }
            }
            Action::Links(chain_id, targets) => {
                let links = self.links.get_or_insert_with(|| {
                    let (connector, key) = (self.connector.clone(), self.queries.key.clone());
                    Links::new(connector, key, chain_id, self.news_in.clone())
                });
                links.height(self.desk.height());
                for gone in links.keep(targets) {
                    self.speak.remove(&gone);
                }
            }
            Action::TurnNodes => self.queries.nodes.turn(),
            Action::Try(parts) => _ = self.broken.send_replace(parts),
            Action::Work(task) => self.work(*task),
            Action::StopWork(job) => {
                self.workers.remove(&job).inspect(AbortHandle::abort);
            }
            Action::Forget(job, attempt) => {
                let journal = self.tasks.journal.clone();
                tokio::task::spawn_blocking(move || {
                    if let Err(error) = journal.remove(job, attempt) {
                        warn!(%error, "a finished job stays in the journal");
                    }
                });
            }
            question => {
                let queries = self.queries.clone();
                tokio::spawn(async move { queries.ask(question).await });
            }
        }
    }

    fn work(&mut self, task: Task) {
        self.workers.retain(|_, worker| !worker.is_finished());
        let (tasks, notes) = (self.tasks.clone(), self.queries.notes.clone());
        let (job, attempt) = (task.job.job_id, task.attempt);
        let worker = tokio::spawn(async move {
            let (progress, reported) = watch::channel(Reported::default());
            let progress = LatestProgress(progress);
            // A slot must not be lost to a bug.
            let run = AssertUnwindSafe(tasks.run(&task, &progress)).catch_unwind();
            let result = tokio::select! {
                result = run => result,
                never = tell_progress(job, attempt, reported, &notes) => match never {},
            };
            let panicked =
                || Miss { why: "the work panicked".to_owned(), fault: Some(Doubt::Some) };
            let result = result.unwrap_or_else(|_| Err(panicked()));
            let _ = notes.send(Note::Worked(job, attempt, result)).await;
        });
        self.workers.insert(job, worker.abort_handle());
    }
}

/// Looks for what work depends on, again and again, and tries what is out of order.
struct Prober {
    backend: Arc<dyn Backend>,
    dependencies: Vec<Dependency>,
    journal: Journal,
    to_try: watch::Receiver<Vec<String>>,
    /// When each is tried next, and how long to wait after that.
    trials: BTreeMap<String, (Instant, Duration)>,
    notes: mpsc::Sender<Note>,
}

impl Prober {
    async fn run(mut self) {
        while self.look().await.is_ok() {
            tokio::select! {
                () = tokio::time::sleep(PROBE_EVERY) => {}
                // At once, what has just failed.
                Ok(()) = self.to_try.changed() => {}
            }
        }
    }

    async fn look(&mut self) -> Result<(), mpsc::error::SendError<Note>> {
        let journal = self.journal.clone();
        let written = tokio::task::spawn_blocking(move || journal.probe()).await;
        if let Ok(written) = written {
            let written = written.map_err(|why| format!("the journal cannot be written: {why}"));
            self.notes.send(Note::Journal(written)).await?;
        }
        self.try_broken().await?;
        // What the workers of a fleet have, the backend knows.
        let workers = self.dependencies.iter().filter_map(Dependency::workers);
        let workers: Vec<_> = workers.cloned().collect();
        let mut available = self.backend.available(&workers).await.into_iter();
        let probes = self.dependencies.iter().map(|dependency| {
            let available = dependency.workers().and_then(|_| available.next()).unwrap_or(true);
            async move { (dependency.capability.clone(), available && dependency.probe().await) }
        });
        let found = join_all(probes).await;
        if found.is_empty() {
            return Ok(());
        }
        self.notes.send(Note::Probed(found)).await
    }

    async fn try_broken(&mut self) -> Result<(), mpsc::error::SendError<Note>> {
        let broken = self.to_try.borrow_and_update().clone();
        self.trials.retain(|part, _| broken.contains(part));
        for part in broken.into_iter().filter(|part| part != JOURNAL) {
            let now = Instant::now();
            let (next, pause) = self.trials.get(&part).copied().unwrap_or((now, PROBE_EVERY));
            if now < next {
                continue;
            }
            let trial = match self.backend.probe(&part).await {
                None => Trial::Untold,
                Some(Ok(())) => Trial::Works,
                Some(Err(why)) => Trial::Fails(why),
            };
            // What cannot be tried costs nothing to look at.
            let longer = if trial == Trial::Untold { pause } else { pause.saturating_mul(2) };
            self.trials.insert(part.clone(), (now + pause, longer.min(TRIAL_MAX)));
            self.notes.send(Note::Tried(part, trial)).await?;
        }
        Ok(())
    }
}

/// The newest progress of a job: percent and detail.
type Reported = (u8, String);

/// Keeps the newest progress for [`tell_progress`].
struct LatestProgress(watch::Sender<Reported>);

impl Progress for LatestProgress {
    fn report(&self, percent: u8, detail: &str) {
        self.0.send_replace((percent, detail.chars().take(PROGRESS_CHARS_MAX).collect()));
    }
}

/// Notes the newest progress of a job, now and then, until this is dropped.
async fn tell_progress(
    job: JobId,
    attempt: u32,
    mut reported: watch::Receiver<Reported>,
    notes: &mpsc::Sender<Note>,
) -> Infallible {
    while reported.changed().await.is_ok() {
        let (percent, detail) = reported.borrow_and_update().clone();
        // Nobody has to hear this.
        let _ = notes.try_send(Note::Progress(job, attempt, percent, detail));
        tokio::time::sleep(PROGRESS).await;
    }
    std::future::pending().await
}

impl NodeQueries {
    /// What a question waits for.
    fn turns(&self, question: &Action) -> &Semaphore {
        match question {
            Action::HandOver { .. } => &self.handovers,
            _ => &self.questions,
        }
    }

    /// Asks nodes, and notes what they say.
    async fn ask(self, question: Action) {
        let Ok(_turn) = self.turns(&question).acquire().await else { return };
        let note = match question {
            Action::Pulse => {
                Some(Note::Pulse(self.nodes.pulse(self.me).await.map_err(|e| e.to_string())))
            }
            Action::Validators => {
                let answer = self.nodes.validators(self.me).await;
                Some(Note::Validators(answer.map_err(|error| error.to_string())))
            }
            Action::Standing => match self.nodes.runner(self.me).await {
                Ok(view) => Some(Note::Standing(Some(Box::new(view)))),
                Err(error) if error.is_not_found() => Some(Note::Standing(None)),
                Err(_) => None,
            },
            Action::Pinned(programs) => self.nodes.pinned(&programs).await.ok().map(Note::Pinned),
            Action::Poll => self.nodes.poll(self.me).await.ok().map(Note::Polled),
            Action::Read { job, with_spec, avoid, turn } => {
                let reading = self.nodes.reading(job, with_spec, avoid.as_deref(), turn).await;
                Some(Note::Read(job, reading.ok().map(Box::new)))
            }
            Action::Submit(signed, node) => match self.nodes.submit(&signed, node).await {
                Err(error) => error
                    .refusal()
                    .map(|code| Note::Refused(signed.hash, code.to_owned(), error.to_string())),
                Ok(()) => None,
            },
            Action::LookUp(purpose, hash) => {
                self.nodes.look_up(hash).await.ok().map(|status| Note::LookedUp(purpose, status))
            }
            Action::HandOver { chain_id, job, aggregator, reveal, turn } => {
                let result = self.hand_over(chain_id, job, aggregator, &reveal, turn).await;
                Some(Note::HandedOver(job, result))
            }
            Action::Earned(job, attempt) => {
                let history = self.nodes.history(job).await.ok();
                history.map(|history| Note::Earned(job, attempt, earned(&history, self.me)))
            }
            _ => None,
        };
        if let Some(note) = note {
            let _ = self.notes.send(note).await;
        }
    }

    /// Seals a result for its aggregator and gives it to one of its validators.
    async fn hand_over(
        &self,
        chain_id: u64,
        job: JobId,
        aggregator: Address,
        reveal: &Reveal,
        turn: usize,
    ) -> Result<(), String> {
        let view = self.nodes.runner(aggregator).await.map_err(|error| error.to_string())?;
        let bytes = view.public_key.0.try_into().map_err(|_| "its key is none".to_owned())?;
        let key = PublicKey { bytes };
        let random = rand::random();
        let post = prepare(chain_id, job, &self.key, reveal, aggregator, key, &random)
            .ok_or("a node named a key that is not the aggregator's")?;
        let validators = self.nodes.validators(aggregator).await;
        let validators = validators.map_err(|error| error.to_string())?.validators;
        let mut last = "no validator of the aggregator is known".to_owned();
        let mut apis: Vec<String> =
            validators.into_iter().filter_map(|validator| validator.api).collect();
        // One that swallows everything is not the first every time.
        let first = turn % apis.len().max(1);
        apis.rotate_left(first);
        for api in apis {
            match self.try_validator(&api, job, &post).await {
                Ok(()) => return Ok(()),
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    async fn try_validator(
        &self,
        api: &str,
        job: JobId,
        post: &HandoverPost,
    ) -> Result<(), String> {
        match Nodes::hand_over(api, job, post).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("{api} has no session with the aggregator")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// What a job paid a runner, and what went wrong with it.
fn earned(history: &JobHistory, me: Address) -> Earned {
    let Earned { mut amount, mut why, mut outvoted } = Earned::default();
    for entry in &history.entries {
        match &entry.event {
            EventBody::Paid { runner, amount: paid, .. } if runner.0 == me => amount += paid.0,
            EventBody::ResultRejected { runner, .. } if runner.0 == me => {
                outvoted = true;
                why = Some("scored 0: the others' result won, and this one differed".to_owned());
            }
            EventBody::RunnerTimedOut { runner, excused, .. } if runner.0 == me => {
                let blame = if *excused { "excused" } else { "and is scored for it" };
                why = Some(format!("it did not deliver in time, {blame}"));
            }
            EventBody::NonRevealSlash { runner, amount, .. }
            | EventBody::InvalidRevealSlash { runner, amount, .. }
                if runner.0 == me =>
            {
                why = Some(format!("slashed by {} base units", amount.0));
            }
            _ => {}
        }
    }
    Earned { amount, why, outvoted }
}

#[cfg(test)]
mod tests {
    use super::super::genesis::Genesis;
    use super::*;
    use remuda_protocol::crypto::Signature;
    use remuda_protocol::primitives::B256;
    use remuda_protocol::verifier::excuse::Delivery;

    #[tokio::test]
    async fn slow_handovers_do_not_hold_up_rounds() {
        let key = SecretKey::from_label("runner");
        let genesis = Genesis::open(std::path::Path::new("/nowhere")).unwrap();
        let (notes, mut noted) = mpsc::channel(4);
        let queries = NodeQueries {
            me: key.address(),
            key: key.clone(),
            // Nobody is there, which is an answer, too.
            nodes: Nodes::new(&["http://127.0.0.1:9".to_owned()], genesis).unwrap(),
            notes,
            questions: Arc::new(Semaphore::new(QUESTIONS)),
            handovers: Arc::new(Semaphore::new(HANDOVERS)),
        };
        // All that may be handed over at a time is stuck somewhere.
        let _stuck = queries.handovers.acquire_many(HANDOVERS as u32).await.unwrap();
        let result = Delivery::from(Vec::new());
        let result_sig = Signature { bytes: [0; 65] };
        for _ in 0..2 * QUESTIONS {
            let reveal = Reveal {
                runner: key.address(),
                result: result.clone(),
                salt: B256::ZERO,
                result_sig,
            };
            let (job, aggregator) = (B256::ZERO, Address::ZERO);
            let question = Action::HandOver { chain_id: 7, job, aggregator, reveal, turn: 0 };
            tokio::spawn(queries.clone().ask(question));
        }
        tokio::task::yield_now().await;
        tokio::spawn(queries.clone().ask(Action::Pulse));
        let note = tokio::time::timeout(Duration::from_secs(20), noted.recv()).await.unwrap();
        assert!(matches!(note, Some(Note::Pulse(Err(_)))), "{note:?}");
    }

    #[tokio::test]
    async fn newest_progress_is_told() {
        let (notes, mut noted) = mpsc::channel(8);
        let (progress, reported) = watch::channel(Reported::default());
        let telling = tokio::spawn(async move {
            tell_progress(B256::ZERO, 0, reported, &notes).await;
        });
        let progress = LatestProgress(progress);
        let mut told = async |percent| {
            let note = tokio::time::timeout(Duration::from_secs(20), noted.recv()).await.unwrap();
            assert!(matches!(note, Some(Note::Progress(.., p, _)) if p == percent), "{note:?}");
        };
        progress.report(10, "");
        told(10).await;
        for percent in [20, 30, 40] {
            progress.report(percent, "");
        }
        told(40).await;
        telling.abort();
    }
}
