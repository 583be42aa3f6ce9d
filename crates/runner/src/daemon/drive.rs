//! Performs the actions of the core, and feeds it the resulting events.

use super::dependencies::{Dependency, PROBE_EVERY};
use super::faults::{Certainty, JOURNAL, PartTest};
use super::handover::prepare;
use super::links::{LinkNews, Links, News};
use super::nodes::Nodes;
use super::runner_core::{Action, Event, Payout, RunnerCore};
use super::status::StatusView;
use super::task::{Task, TaskError, TaskRunner};
use crate::backend::Backend;
use crate::backoff::Backoff;
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

/// Concurrent questions to nodes.
const QUESTIONS: usize = 16;
/// Concurrent handovers. They go through other operators' nodes, so slow ones must not delay questions to
/// the operator's own.
const HANDOVERS: usize = 8;
/// Least time between two progress reports of a job.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
const PROGRESS_CHARS_MAX: usize = 100;
const STATUS_INTERVAL: Duration = Duration::from_millis(250);
/// Between two tests of a faulty part. Some tests cost money at a provider.
const TEST_PAUSE: Backoff = Backoff { first: PROBE_EVERY, max: Duration::from_secs(5 * 60) };

#[derive(Clone)]
struct NodeQueries {
    me: Address,
    key: SecretKey,
    nodes: Nodes,
    events: mpsc::Sender<Event>,
    questions: Arc<Semaphore>,
    handovers: Arc<Semaphore>,
}

pub(crate) struct Driver {
    core: RunnerCore,
    queries: NodeQueries,
    tasks: TaskRunner,
    connector: Connector,
    links: Option<Links>,
    commands: BTreeMap<ValidatorKey, mpsc::Sender<Command>>,
    running: BTreeMap<JobId, AbortHandle>,
    news_in: mpsc::Sender<News>,
    status: watch::Sender<StatusView>,
    started: Instant,
    prober: JoinHandle<()>,
    /// Faulty parts, for the prober.
    faulty: watch::Sender<Vec<String>>,
    /// Locks the data directory while it is open.
    _lock: File,
}

pub(crate) struct Parts {
    pub(crate) core: RunnerCore,
    pub(crate) key: SecretKey,
    pub(crate) nodes: Nodes,
    pub(crate) tasks: TaskRunner,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) connector: Connector,
    pub(crate) events_in: mpsc::Sender<Event>,
    pub(crate) status: watch::Sender<StatusView>,
    pub(crate) lock: File,
}

impl Driver {
    /// Runs until the runner is drained or told to stop.
    pub(crate) async fn run(
        parts: Parts,
        mut events: mpsc::Receiver<Event>,
        mut stop: watch::Receiver<bool>,
    ) {
        let (news_in, mut news) = mpsc::channel(1_024);
        let queries = NodeQueries {
            me: parts.key.address(),
            key: parts.key,
            nodes: parts.nodes,
            events: parts.events_in,
            questions: Arc::new(Semaphore::new(QUESTIONS)),
            handovers: Arc::new(Semaphore::new(HANDOVERS)),
        };
        let (faulty, to_test) = watch::channel(Vec::new());
        let prober = Prober {
            backend: parts.tasks.backend.clone(),
            dependencies: parts.dependencies,
            journal: parts.tasks.journal.clone(),
            to_test,
            tests: BTreeMap::new(),
            events: queries.events.clone(),
        };
        let prober = tokio::spawn(prober.run());
        let mut driver = Self {
            core: parts.core,
            queries,
            tasks: parts.tasks,
            connector: parts.connector,
            links: None,
            commands: BTreeMap::new(),
            running: BTreeMap::new(),
            news_in,
            status: parts.status,
            started: Instant::now(),
            prober,
            faulty,
            _lock: parts.lock,
        };
        let mut published = Instant::now();
        while !driver.core.drained() {
            let tick = tokio::time::sleep(driver.core.tick_every());
            let event = tokio::select! {
                biased;
                _ = stop.changed() => break,
                Some(news) = news.recv() => driver.news(news),
                Some(event) = events.recv() => event,
                () = tick => Event::Tick,
            };
            driver.handle(event);
            // A steady stream of events would starve the ticks.
            driver.handle(Event::Tick);
            if let Some(links) = &driver.links {
                links.height(driver.core.height());
            }
            if published.elapsed() >= STATUS_INTERVAL {
                published = Instant::now();
                driver.status.send_replace(driver.core.status());
            }
        }
        driver.leave().await;
    }

    fn handle(&mut self, event: Event) {
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        for action in self.core.handle(event, now_ms) {
            self.perform(action);
        }
    }

    async fn leave(mut self) {
        self.prober.abort();
        for worker in self.running.values() {
            worker.abort();
        }
        self.tasks.backend.shut_down().await;
        self.status.send_replace(self.core.status());
        for commands in self.commands.values() {
            let _ = commands.try_send(Command::Close);
        }
        self.commands.clear();
        match self.links.take() {
            Some(links) => links.stop().await,
            None => self.connector.stop().await,
        }
    }

    fn news(&mut self, (validator, news): News) -> Event {
        match news {
            LinkNews::Opened(commands) => {
                self.commands.insert(validator, commands);
                Event::SessionOpened(validator)
            }
            LinkNews::Event(event, rtt) => Event::Session(validator, event, rtt),
            LinkNews::Closed(why) => {
                self.commands.remove(&validator);
                Event::SessionClosed(validator, why)
            }
        }
    }

    fn command(&self, validator: ValidatorKey, command: Command) {
        let Some(commands) = self.commands.get(&validator) else { return };
        if let Err(mpsc::error::TrySendError::Full(command)) = commands.try_send(command) {
            // The queue is full: wait for it beside the loop.
            let commands = commands.clone();
            tokio::spawn(async move {
                let _ = tokio::time::timeout(Duration::from_secs(5), commands.send(command)).await;
            });
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Ack(validator, job, status, reason) => {
                self.command(validator, Command::Ack(job, status, reason));
            }
            Action::Progress(validator, job, percent, detail) => {
                let detail = Some(detail).filter(|detail| !detail.is_empty());
                self.command(validator, Command::Progress(job, percent, detail));
            }
            Action::FinishStream(validator, job) => self.command(validator, Command::Finish(job)),
            Action::ForwardTx(validator, job, bytes) => {
                self.command(validator, Command::Result(job, bytes));
            }
            Action::Load(validators, signal) => {
                for validator in validators {
                    self.command(validator, Command::Load(signal.clone()));
                }
            }
            Action::Capability(validators, added, removed) => {
                for validator in validators {
                    let command = Command::Capability(added.clone(), removed.clone());
                    self.command(validator, command);
                }
            }
            Action::SetLinks(chain_id, targets) => {
                let links = self.links.get_or_insert_with(|| {
                    let (connector, key) = (self.connector.clone(), self.queries.key.clone());
                    Links::new(connector, key, chain_id, self.news_in.clone())
                });
                links.height(self.core.height());
                for gone in links.set_targets(targets) {
                    self.commands.remove(&gone);
                }
            }
            Action::RotateNodes => self.queries.nodes.turn(),
            Action::TestParts(parts) => _ = self.faulty.send_replace(parts),
            Action::StartWork(task) => self.work(*task),
            Action::StopWork(job) => {
                self.running.remove(&job).inspect(AbortHandle::abort);
            }
            Action::RemoveFromJournal(job, attempt) => {
                let journal = self.tasks.journal.clone();
                tokio::task::spawn_blocking(move || {
                    if let Err(error) = journal.remove(job, attempt) {
                        warn!(%job, %error, "cannot remove a finished job from the journal");
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
        self.running.retain(|_, worker| !worker.is_finished());
        let (tasks, events) = (self.tasks.clone(), self.queries.events.clone());
        let (job, attempt) = (task.job.job_id, task.attempt);
        let worker = tokio::spawn(async move {
            let (progress, reported) = watch::channel(Reported::default());
            let progress = LatestProgress(progress);
            // A panic must not lose the slot.
            let run = AssertUnwindSafe(tasks.run(&task, &progress)).catch_unwind();
            let result = tokio::select! {
                result = run => result,
                never = push_progress(job, attempt, reported, &events) => match never {},
            };
            let panicked = || TaskError {
                why: "the work panicked".to_owned(),
                fault: Some(Certainty::Suspected),
            };
            let result = result.unwrap_or_else(|_| Err(panicked()));
            let _ = events.send(Event::WorkDone(job, attempt, result)).await;
        });
        self.running.insert(job, worker.abort_handle());
    }
}

/// Probes the dependencies and the journal at intervals, and tests faulty parts.
struct Prober {
    backend: Arc<dyn Backend>,
    dependencies: Vec<Dependency>,
    journal: Journal,
    to_test: watch::Receiver<Vec<String>>,
    /// When each part is tested next, and how many tests have failed.
    tests: BTreeMap<String, (Instant, u32)>,
    events: mpsc::Sender<Event>,
}

impl Prober {
    async fn run(mut self) {
        while self.probe().await.is_ok() {
            tokio::select! {
                () = tokio::time::sleep(PROBE_EVERY) => {}
                // A new fault is tested at once.
                Ok(()) = self.to_test.changed() => {}
            }
        }
    }

    async fn probe(&mut self) -> Result<(), mpsc::error::SendError<Event>> {
        let journal = self.journal.clone();
        let written = tokio::task::spawn_blocking(move || journal.probe()).await;
        if let Ok(written) = written {
            let written = written.map_err(|why| format!("journal not writable: {why}"));
            self.events.send(Event::JournalProbed(written)).await?;
        }
        self.test_faulty().await?;
        // The backend knows what the workers of a fleet provide.
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
        self.events.send(Event::DependenciesProbed(found)).await
    }

    async fn test_faulty(&mut self) -> Result<(), mpsc::error::SendError<Event>> {
        let faulty = self.to_test.borrow_and_update().clone();
        self.tests.retain(|part, _| faulty.contains(part));
        for part in faulty.into_iter().filter(|part| part != JOURNAL) {
            let now = Instant::now();
            let (next, failures) = self.tests.get(&part).copied().unwrap_or((now, 0));
            if now < next {
                continue;
            }
            let test = match self.backend.probe(&part).await {
                None => PartTest::NotTestable,
                Some(Ok(())) => PartTest::Passed,
                Some(Err(why)) => PartTest::Failed(why),
            };
            // Asking for an untestable part costs nothing.
            let failed = u32::from(test != PartTest::NotTestable);
            let next = (now + TEST_PAUSE.pause(failures), failures + failed);
            self.tests.insert(part.clone(), next);
            self.events.send(Event::PartTested(part, test)).await?;
        }
        Ok(())
    }
}

/// Percent and detail.
type Reported = (u8, String);

/// Keeps the newest report for [`push_progress`].
struct LatestProgress(watch::Sender<Reported>);

impl Progress for LatestProgress {
    fn report(&self, percent: u8, detail: &str) {
        self.0.send_replace((percent, detail.chars().take(PROGRESS_CHARS_MAX).collect()));
    }
}

/// Pushes the newest report of a job to the core at limited frequency, until it is dropped.
async fn push_progress(
    job: JobId,
    attempt: u32,
    mut reported: watch::Receiver<Reported>,
    events: &mpsc::Sender<Event>,
) -> Infallible {
    while reported.changed().await.is_ok() {
        let (percent, detail) = reported.borrow_and_update().clone();
        // Dropped if the queue is full: a newer report follows.
        let _ = events.try_send(Event::Progress(job, attempt, percent, detail));
        tokio::time::sleep(PROGRESS_INTERVAL).await;
    }
    std::future::pending().await
}

impl NodeQueries {
    fn limit(&self, question: &Action) -> &Semaphore {
        match question {
            Action::HandOver { .. } => &self.handovers,
            _ => &self.questions,
        }
    }

    /// Asks nodes, and feeds the core the answer.
    async fn ask(self, question: Action) {
        let Ok(_turn) = self.limit(&question).acquire().await else { return };
        let event = match question {
            Action::GetChainStatus => {
                Some(Event::ChainStatus(self.nodes.pulse(self.me).await.map_err(|e| e.to_string())))
            }
            Action::GetValidators => {
                let answer = self.nodes.validators(self.me).await;
                Some(Event::Validators(answer.map_err(|error| error.to_string())))
            }
            Action::GetRegistration => match self.nodes.runner(self.me).await {
                Ok(view) => Some(Event::Registration(Some(Box::new(view)))),
                Err(error) if error.is_not_found() => Some(Event::Registration(None)),
                Err(_) => None,
            },
            Action::GetPinnedPrograms(programs) => {
                self.nodes.pinned(&programs).await.ok().map(Event::PinnedPrograms)
            }
            Action::GetAssignedJobs => self.nodes.poll(self.me).await.ok().map(Event::AssignedJobs),
            Action::GetJob { job, with_spec, avoid, turn } => {
                let reading = self.nodes.reading(job, with_spec, avoid.as_deref(), turn).await;
                Some(Event::Job(job, reading.ok().map(Box::new)))
            }
            Action::SubmitTx(signed, node) => match self.nodes.submit(&signed, node).await {
                Err(error) => error
                    .refusal()
                    .map(|code| Event::TxRefused(signed.hash, code.to_owned(), error.to_string())),
                Ok(()) => None,
            },
            Action::GetTxStatus(purpose, hash) => {
                self.nodes.look_up(hash).await.ok().map(|status| Event::TxStatus(purpose, status))
            }
            Action::HandOver { chain_id, job, aggregator, reveal, turn } => {
                let result = self.hand_over(chain_id, job, aggregator, &reveal, turn).await;
                Some(Event::HandedOver(job, result))
            }
            Action::GetPayout(job, attempt) => {
                let history = self.nodes.history(job).await.ok();
                history.map(|history| Event::Payout(job, attempt, payout(&history, self.me)))
            }
            _ => None,
        };
        if let Some(event) = event {
            let _ = self.events.send(event).await;
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
        let bytes = view.public_key.0.try_into().map_err(|_| "malformed public key".to_owned())?;
        let key = PublicKey { bytes };
        let random = rand::random();
        let post = prepare(chain_id, job, &self.key, reveal, aggregator, key, &random)
            .ok_or("a node named a key that is not the aggregator's")?;
        let validators = self.nodes.validators(aggregator).await;
        let validators = validators.map_err(|error| error.to_string())?.validators;
        let mut last = "no validator of the aggregator is known".to_owned();
        let mut apis: Vec<String> =
            validators.into_iter().filter_map(|validator| validator.api).collect();
        // Rotate, because a validator may drop what it accepts.
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

fn payout(history: &JobHistory, me: Address) -> Payout {
    let Payout { mut amount, mut why, mut outvoted } = Payout::default();
    for entry in &history.entries {
        match &entry.event {
            EventBody::Paid { runner, amount: paid, .. } if runner.0 == me => amount += paid.0,
            EventBody::ResultRejected { runner, .. } if runner.0 == me => {
                outvoted = true;
                why = Some("scored 0: another result won the vote".to_owned());
            }
            EventBody::RunnerTimedOut { runner, excused, .. } if runner.0 == me => {
                let blame = if *excused { "excused" } else { "scored" };
                why = Some(format!("missed the deadline, {blame}"));
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
    Payout { amount, why, outvoted }
}

#[cfg(test)]
mod tests {
    use super::super::genesis::Genesis;
    use super::*;
    use remuda_protocol::crypto::Signature;
    use remuda_protocol::primitives::B256;
    use remuda_protocol::verifier::excuse::Delivery;

    #[tokio::test]
    async fn slow_handovers_do_not_delay_rounds() {
        let key = SecretKey::from_label("runner");
        let genesis = Genesis::open(std::path::Path::new("/nowhere")).unwrap();
        let (events, mut answers) = mpsc::channel(4);
        let queries = NodeQueries {
            me: key.address(),
            key: key.clone(),
            // A refused connection is an answer, too.
            nodes: Nodes::new(&["http://127.0.0.1:9".to_owned()], genesis).unwrap(),
            events,
            questions: Arc::new(Semaphore::new(QUESTIONS)),
            handovers: Arc::new(Semaphore::new(HANDOVERS)),
        };
        // All handovers are stuck.
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
        tokio::spawn(queries.clone().ask(Action::GetChainStatus));
        let event = tokio::time::timeout(Duration::from_secs(20), answers.recv()).await.unwrap();
        assert!(matches!(event, Some(Event::ChainStatus(Err(_)))), "{event:?}");
    }

    #[tokio::test]
    async fn newest_progress_is_pushed() {
        let (events, mut answers) = mpsc::channel(8);
        let (progress, reported) = watch::channel(Reported::default());
        let telling = tokio::spawn(async move {
            push_progress(B256::ZERO, 0, reported, &events).await;
        });
        let progress = LatestProgress(progress);
        let mut told = async |percent| {
            let event =
                tokio::time::timeout(Duration::from_secs(20), answers.recv()).await.unwrap();
            assert!(matches!(event, Some(Event::Progress(.., p, _)) if p == percent), "{event:?}");
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
