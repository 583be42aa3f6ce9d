//! A validator's session, as its runner sees it.
//!
//! ```text
//! Hello ──▶ Greeted ── Hello ──▶ Proven ── HelloAck ──▶ Open ── heads, jobs ──▶ Closed
//! ```
//! The runner believes a validator nothing but that it is this validator: whatever costs money is
//! looked up in the chain's state first. That is for the owner of the session to do.

use super::budget::{Budget, cost, cost_of_carrying};
use super::{Allowance, JOBS_MAX, Output, TEXT_LIMIT, shortened};
use crate::frame::{
    AckStatus, BackpressureSignal, CapabilityDelta, Frame, Handover, HeartbeatPing, HeartbeatPong,
    Hello, HelloAck, JobAck, JobAssignment, JobCancel, JobProgress, JobResult, Parting, Role,
    VERSION,
};
use crate::sign::{self, Meeting, ValidatorKey};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::JobId;
use std::collections::{BTreeMap, VecDeque};

/// How long a validator may take to prove itself.
pub const HANDSHAKE_MS: u64 = 10_000;
/// Frames of the control stream in a burst, and a second. A block brings two.
const CONTROL_RATE: (u32, u32) = (512, 256);
/// Frames of job streams in a burst, and a second. 500 jobs a second bring 1,500: each is assigned, has
/// results handed over, and is called off.
const JOB_RATE: (u32, u32) = (4_096, 2_048);

/// Who the runner is, and whom it talks to.
#[derive(Clone, Debug)]
pub struct Settings {
    pub chain_id: u64,
    pub key: SecretKey,
    pub validator: ValidatorKey,
    /// The runner's subset epoch. The validator may be one ahead or behind.
    pub subset_epoch: u64,
}

/// What the owner of a session hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The validator is who it should be, and takes this runner.
    Opened,
    /// The validator has a new final block.
    Head(u64),
    /// The validator says that this subset epoch, later than the runner's, has begun: the runner's
    /// validators may be others.
    Epoch(u64),
    Assigned(Box<JobAssignment>),
    /// No more work.
    Cancelled(JobCancel),
    /// A result for this runner as an aggregator.
    Handover(Handover),
    /// The validator ends the session, with this word.
    Farewell(String),
}

#[derive(Debug)]
enum State {
    Greeted,
    Proven(Meeting),
    Open,
    Closed,
}

/// A job whose stream is open.
struct Job {
    /// What may still be said about it.
    budget: Budget,
    /// The newest transaction, until the budget covers it. Older ones were useless, or are on chain.
    waiting: Option<Vec<u8>>,
}

pub struct Session {
    settings: Settings,
    exporter: [u8; 32],
    nonce: [u8; 32],
    height: u64,
    since_ms: u64,
    pings: u64,
    pinged: Option<u64>,
    /// The newest block that the validator told of, and the latest subset epoch.
    told: u64,
    epoch: u64,
    jobs: BTreeMap<JobId, Job>,
    state: State,
    control: Allowance,
    job: Allowance,
    out: VecDeque<Output<Event>>,
}

impl Session {
    /// A new connection, with the newest block that the runner knows. The nonce must be random, and of
    /// this session alone.
    pub fn new(
        settings: Settings,
        exporter: [u8; 32],
        nonce: [u8; 32],
        height: u64,
        now_ms: u64,
    ) -> Self {
        let hello = Hello {
            version: VERSION,
            party_pubkey: settings.key.public_key().bytes.to_vec(),
            party_role: Role::Runner,
            block_height: height,
            challenge_nonce: nonce,
            subset_epoch: settings.subset_epoch,
        };
        Self {
            exporter,
            nonce,
            height,
            since_ms: now_ms,
            pings: 0,
            pinged: None,
            told: 0,
            epoch: settings.subset_epoch,
            jobs: BTreeMap::new(),
            state: State::Greeted,
            control: Allowance::new(CONTROL_RATE.0, CONTROL_RATE.1, now_ms),
            job: Allowance::new(JOB_RATE.0, JOB_RATE.1, now_ms),
            settings,
            out: VecDeque::from([Output::Control(hello.into())]),
        }
    }

    pub fn poll(&mut self) -> Option<Output<Event>> {
        self.out.pop_front()
    }

    /// Whether both sides have proven themselves.
    pub fn open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    pub fn over(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// When [`Session::tick`] should be called at the latest, while the validator has not proven itself.
    pub fn deadline_ms(&self) -> Option<u64> {
        matches!(self.state, State::Greeted | State::Proven(_))
            .then(|| self.since_ms.saturating_add(HANDSHAKE_MS))
    }

    pub fn tick(&mut self, now_ms: u64) {
        if self.deadline_ms().is_some_and(|deadline| now_ms >= deadline) {
            self.close(Parting::Silent);
        }
    }

    pub fn close(&mut self, why: Parting) {
        if !self.over() {
            self.out.push_back(Output::Control(why.goodbye()));
            self.end(why);
        }
    }

    fn end(&mut self, why: Parting) {
        self.state = State::Closed;
        // Nobody can be told of them any more.
        self.jobs.clear();
        self.out.push_back(Output::Close(why));
    }

    /// When the next frame of the control stream may be heard, if not now. A validator that is faster
    /// is read more slowly.
    pub fn control_ready_ms(&self, now_ms: u64) -> Option<u64> {
        self.control.ready_ms(now_ms)
    }

    /// When the next frame of a job's stream may be heard, if not now.
    pub fn job_ready_ms(&self, now_ms: u64) -> Option<u64> {
        self.job.ready_ms(now_ms)
    }

    /// A frame of the control stream.
    pub fn control(&mut self, frame: Frame, now_ms: u64) {
        if !self.control.take(now_ms) {
            return self.close(Parting::TooFast);
        }
        let done = match (&self.state, frame) {
            (State::Closed, _) => Ok(()),
            (_, Frame::Goodbye(goodbye)) => {
                let reason = shortened(goodbye.reason, TEXT_LIMIT);
                let parting = Parting::from_word(&reason).unwrap_or(Parting::Shutdown);
                self.out.push_back(Output::Event(Event::Farewell(reason)));
                self.end(parting);
                Ok(())
            }
            (State::Greeted, Frame::Hello(hello)) => self.hello(&hello),
            (State::Proven(meeting), Frame::HelloAck(ack)) => {
                let meeting = meeting.clone();
                self.hello_ack(&meeting, &ack)
            }
            (State::Open, Frame::HeartbeatPong(pong)) => self.pong(&pong),
            _ => Err(Parting::Unexpected),
        };
        if let Err(parting) = done {
            self.close(parting);
        }
    }

    fn hello(&mut self, hello: &Hello) -> Result<(), Parting> {
        if hello.version >> 8 != VERSION >> 8 {
            return Err(Parting::UnsupportedVersion);
        }
        let Settings { chain_id, key, validator, subset_epoch } = &self.settings;
        if hello.party_role != Role::Validator || hello.party_pubkey != validator {
            return Err(Parting::Malformed);
        }
        if hello.subset_epoch.abs_diff(*subset_epoch) > 1 {
            return Err(Parting::WrongEpoch);
        }
        let meeting = Meeting {
            chain_id: *chain_id,
            exporter: self.exporter,
            nonce_runner: self.nonce,
            nonce_validator: hello.challenge_nonce,
            runner: key.public_key(),
            validator: *validator,
            subset_epoch: hello.subset_epoch,
        };
        let signed = key.sign(&meeting.digest(Role::Runner));
        self.out.push_back(Output::Control(Frame::HelloAck(HelloAck {
            version: VERSION,
            party_pubkey: meeting.runner.bytes.to_vec(),
            party_role: Role::Runner,
            signed_challenge: signed.bytes.to_vec(),
            block_height: self.height,
        })));
        self.state = State::Proven(meeting);
        self.height = self.height.max(hello.block_height);
        self.told = hello.block_height;
        Ok(())
    }

    fn hello_ack(&mut self, meeting: &Meeting, ack: &HelloAck) -> Result<(), Parting> {
        if ack.party_role != Role::Validator || ack.party_pubkey != meeting.validator {
            return Err(Parting::Malformed);
        }
        let signature: [u8; 64] =
            ack.signed_challenge.as_slice().try_into().map_err(|_| Parting::Malformed)?;
        self.holds(&meeting.digest(Role::Validator), &signature)?;
        self.state = State::Open;
        self.out.push_back(Output::Event(Event::Opened));
        self.turn(meeting.subset_epoch);
        self.ping();
        Ok(())
    }

    fn pong(&mut self, pong: &HeartbeatPong) -> Result<(), Parting> {
        let HeartbeatPong { block_height, subset_epoch, validator_signed } = pong;
        let Settings { chain_id, key, .. } = &self.settings;
        let digest = sign::pong(*chain_id, &key.public_key(), *block_height, *subset_epoch);
        self.holds(&digest, validator_signed)?;
        let blocks = block_height.saturating_sub(self.told);
        if blocks > 0 {
            self.told = *block_height;
            self.refill(blocks);
        }
        self.turn(*subset_epoch);
        self.learn(*block_height);
        Ok(())
    }

    /// Subset epochs only go forward, also if this validator is behind another one.
    fn turn(&mut self, epoch: u64) {
        if epoch > self.epoch {
            self.epoch = epoch;
            self.out.push_back(Output::Event(Event::Epoch(epoch)));
        }
    }

    /// So many blocks more, and what they pay for.
    fn refill(&mut self, blocks: u64) {
        let mut paid = Vec::new();
        for (id, job) in &mut self.jobs {
            job.budget.blocks(blocks);
            if let Some(waiting) =
                job.waiting.take_if(|w| job.budget.pay(cost_of_carrying(w.len())))
            {
                paid.push((*id, waiting));
            }
        }
        for (job, transaction) in paid {
            self.send_result(job, transaction);
        }
    }

    fn holds(
        &self,
        digest: &remuda_protocol::primitives::B256,
        signature: &[u8; 64],
    ) -> Result<(), Parting> {
        if sign::validator_signed(&self.settings.validator, digest, signature) {
            Ok(())
        } else {
            Err(Parting::BadSignature)
        }
    }

    /// A new height, from this validator or from elsewhere: every new one is answered with a ping.
    pub fn learn(&mut self, height: u64) {
        if self.over() {
            return;
        }
        if height > self.height {
            self.height = height;
            self.out.push_back(Output::Event(Event::Head(height)));
        }
        if self.pinged.is_none_or(|pinged| self.height > pinged) {
            self.ping();
        }
    }

    fn ping(&mut self) {
        if !self.open() {
            return;
        }
        self.pings += 1;
        self.pinged = Some(self.height);
        let Settings { chain_id, key, validator, .. } = &self.settings;
        let digest = sign::ping(*chain_id, validator, self.height, self.pings);
        self.out.push_back(Output::Control(Frame::HeartbeatPing(HeartbeatPing {
            block_height: self.height,
            nonce: self.pings,
            signed: key.sign(&digest).bytes,
        })));
    }

    /// Says how busy the runner is.
    pub fn load(&mut self, signal: BackpressureSignal) {
        if self.open() {
            self.out.push_back(Output::Control(signal.into()));
        }
    }

    /// Says what the runner can do again, and what not any more.
    pub fn capability(&mut self, added: Vec<String>, removed: Vec<String>) {
        if !self.open() {
            return;
        }
        let mut delta = CapabilityDelta {
            block_height: self.height,
            added_capabilities: added,
            removed_capabilities: removed,
            added_entitlements: Vec::new(),
            removed_entitlements: Vec::new(),
            signed: [0; 65],
        };
        let Settings { chain_id, key, validator, .. } = &self.settings;
        delta.signed = key.sign(&sign::capability(*chain_id, validator, &delta)).bytes;
        self.out.push_back(Output::Control(delta.into()));
    }

    /// A frame of a stream that the validator opened. The first one names the job; `None` until then.
    /// Returns the stream's job. It came as so many bytes.
    pub fn job(
        &mut self,
        job: Option<JobId>,
        frame: Frame,
        bytes: usize,
        now_ms: u64,
    ) -> Option<JobId> {
        if !self.job.take_many(cost(bytes), now_ms) {
            self.close(Parting::TooFast);
            return job;
        }
        if !self.open() {
            return job;
        }
        let runner = self.settings.key.public_key();
        let chain_id = self.settings.chain_id;
        let done = match (job, frame) {
            (None, Frame::JobAssignment(assignment)) => {
                let digest = sign::assignment(chain_id, &runner, &assignment);
                self.holds(&digest, &assignment.validator_signed)
                    .and_then(|()| self.assigned(assignment))
            }
            (Some(job), Frame::JobCancel(cancel)) if cancel.job_id == job => {
                let digest = sign::cancel(chain_id, &runner, &cancel);
                self.holds(&digest, &cancel.validator_signed).map(|()| {
                    self.jobs.remove(&job);
                    self.out.push_back(Output::Event(Event::Cancelled(cancel)));
                    Some(job)
                })
            }
            (Some(job), Frame::Handover(handover)) if handover.job_id == job => {
                self.out.push_back(Output::Event(Event::Handover(handover)));
                Ok(Some(job))
            }
            _ => Err(Parting::Unexpected),
        };
        done.unwrap_or_else(|parting| {
            self.close(parting);
            job
        })
    }

    fn assigned(&mut self, assignment: JobAssignment) -> Result<Option<JobId>, Parting> {
        let job = assignment.job_id;
        // A stream for each: a second one for the same job is no mistake of an honest validator.
        if self.jobs.len() >= JOBS_MAX || self.jobs.contains_key(&job) {
            return Err(Parting::Unexpected);
        }
        self.jobs.insert(job, Job { budget: Budget::of_runner(), waiting: None });
        self.out.push_back(Output::Event(Event::Assigned(Box::new(assignment))));
        Ok(Some(job))
    }

    pub fn ack(&mut self, job: JobId, status: AckStatus, reason: Option<String>) {
        let Some(open) = self.jobs.get_mut(&job) else { return };
        let reason = reason.map(|reason| shortened(reason, TEXT_LIMIT));
        // The first word about a job: the assignment has paid for it.
        let _ = open.budget.pay(1);
        let Settings { chain_id, key, validator, .. } = &self.settings;
        let mut frame = JobAck { job_id: job, status, reason, signed: [0; 65] };
        frame.signed = key.sign(&sign::ack(*chain_id, validator, &frame)).bytes;
        self.out.push_back(Output::Job(job, frame.into()));
        if matches!(status, AckStatus::Reject(_)) {
            self.finish(job);
        }
    }

    /// Says how far a job is, unless that was said too often.
    pub fn progress(&mut self, job: JobId, fraction: u8, detail: Option<String>) {
        if self.jobs.get_mut(&job).is_some_and(|open| open.budget.pay_for_news()) {
            let detail = detail.map(|detail| shortened(detail, TEXT_LIMIT));
            let frame = JobProgress { job_id: job, fraction: fraction.min(100), detail };
            self.out.push_back(Output::Job(job, frame.into()));
        }
    }

    /// Passes a transaction about a job to the validator: at once, or some blocks later if the job's budget is
    /// used up. Returns `false` if the session has no stream for that job.
    pub fn result(&mut self, job: JobId, transaction: Vec<u8>) -> bool {
        let Some(open) = self.jobs.get_mut(&job).filter(|_| matches!(self.state, State::Open))
        else {
            return false;
        };
        if open.budget.pay(cost_of_carrying(transaction.len())) {
            open.waiting = None;
            self.send_result(job, transaction);
        } else {
            open.waiting = Some(transaction);
        }
        true
    }

    fn send_result(&mut self, job: JobId, transaction: Vec<u8>) {
        let Settings { chain_id, key, validator, .. } = &self.settings;
        let mut frame = JobResult { job_id: job, result_data: transaction, runner_signed: [0; 65] };
        frame.runner_signed = key.sign(&sign::result(*chain_id, validator, &frame)).bytes;
        self.out.push_back(Output::Job(job, frame.into()));
    }

    /// The job is done, or was never taken.
    pub fn finish(&mut self, job: JobId) {
        if self.jobs.remove(&job).is_some() {
            self.out.push_back(Output::FinishJob(job));
        }
    }

    /// A job's stream is gone.
    pub fn job_closed(&mut self, job: JobId) {
        self.jobs.remove(&job);
    }
}
