//! The runner's end of a session with a validator.
//!
//! ```text
//! Hello ──▶ Greeted ── Hello ──▶ Proven ── HelloAck ──▶ Open ── heads, jobs ──▶ Closed
//! ```
//! The session only proves that the peer is this validator. The owner of the session must check every
//! claim that costs money against the chain's state.

use super::budget::{Budget, cost, payload_cost};
use super::{JOBS_MAX, Output, TEXT_LIMIT, shortened};
use crate::frame::{
    AckStatus, BackpressureSignal, CapabilityDelta, CloseReason, Frame, Handover, HeartbeatPing,
    HeartbeatPong, Hello, HelloAck, JobAck, JobAssignment, JobCancel, JobProgress, JobResult, Role,
    VERSION,
};
use crate::sign::{self, HandshakeTranscript, ValidatorKey};
use crate::token_bucket::TokenBucket;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::JobId;
use std::collections::{BTreeMap, VecDeque};

pub const HANDSHAKE_MS: u64 = 10_000;
/// Frames of the control stream: burst, and per second. A block brings two.
const CONTROL_RATE: (u32, u32) = (512, 256);
/// Frames of job streams: burst, and per second. 500 jobs a second bring 1,500: an assignment, a handover
/// and a cancellation each.
const JOB_RATE: (u32, u32) = (4_096, 2_048);

#[derive(Clone, Debug)]
pub struct Settings {
    pub chain_id: u64,
    pub key: SecretKey,
    pub validator: ValidatorKey,
    /// The runner's subset epoch. The validator may be one ahead or behind.
    pub subset_epoch: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Both sides are authenticated.
    Opened,
    /// Height of the validator's newest final block.
    Head(u64),
    /// The validator claims that this later subset epoch has begun, in which the runner may have other
    /// validators.
    Epoch(u64),
    Assigned(Box<JobAssignment>),
    Cancelled(JobCancel),
    /// A result of another runner, for this one as the aggregator.
    Handover(Handover),
    /// The validator ends the session for this reason.
    Goodbye(String),
}

#[derive(Debug)]
enum State {
    Greeted,
    Proven(HandshakeTranscript),
    Open,
    Closed,
}

/// A job whose stream is open.
struct Job {
    budget: Budget,
    /// The newest transaction, until the budget covers it. It supersedes older ones.
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
    /// Height of the newest block that the validator announced.
    validator_height: u64,
    /// The latest subset epoch known.
    epoch: u64,
    jobs: BTreeMap<JobId, Job>,
    state: State,
    control: TokenBucket,
    job: TokenBucket,
    out: VecDeque<Output<Event>>,
}

impl Session {
    /// Starts the handshake. The nonce must be random and unique to this session.
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
            validator_height: 0,
            epoch: settings.subset_epoch,
            jobs: BTreeMap::new(),
            state: State::Greeted,
            control: TokenBucket::new(CONTROL_RATE.0, CONTROL_RATE.1, now_ms),
            job: TokenBucket::new(JOB_RATE.0, JOB_RATE.1, now_ms),
            settings,
            out: VecDeque::from([Output::Control(hello.into())]),
        }
    }

    pub fn poll(&mut self) -> Option<Output<Event>> {
        self.out.pop_front()
    }

    pub fn open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    pub fn over(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Call [`Session::tick`] by then. `None` once the validator is authenticated.
    pub fn deadline_ms(&self) -> Option<u64> {
        matches!(self.state, State::Greeted | State::Proven(_))
            .then(|| self.since_ms.saturating_add(HANDSHAKE_MS))
    }

    pub fn tick(&mut self, now_ms: u64) {
        if self.deadline_ms().is_some_and(|deadline| now_ms >= deadline) {
            self.close(CloseReason::Silent);
        }
    }

    pub fn close(&mut self, why: CloseReason) {
        if !self.over() {
            self.out.push_back(Output::Control(why.goodbye()));
            self.end(why);
        }
    }

    fn end(&mut self, why: CloseReason) {
        self.state = State::Closed;
        self.jobs.clear();
        self.out.push_back(Output::Close(why));
    }

    /// When the next control frame may be read, if not now. A validator over its rate limit is read more
    /// slowly.
    pub fn control_ready_ms(&self, now_ms: u64) -> Option<u64> {
        self.control.ready_ms(now_ms)
    }

    /// The same for frames of job streams.
    pub fn job_ready_ms(&self, now_ms: u64) -> Option<u64> {
        self.job.ready_ms(now_ms)
    }

    pub fn control(&mut self, frame: Frame, now_ms: u64) {
        if !self.control.take(now_ms) {
            return self.close(CloseReason::TooFast);
        }
        let done = match (&self.state, frame) {
            (State::Closed, _) => Ok(()),
            (_, Frame::Goodbye(goodbye)) => {
                let word = shortened(goodbye.reason, TEXT_LIMIT);
                let reason = CloseReason::from_word(&word).unwrap_or(CloseReason::Shutdown);
                self.out.push_back(Output::Event(Event::Goodbye(word)));
                self.end(reason);
                Ok(())
            }
            (State::Greeted, Frame::Hello(hello)) => self.hello(&hello),
            (State::Proven(transcript), Frame::HelloAck(ack)) => {
                let transcript = transcript.clone();
                self.hello_ack(&transcript, &ack)
            }
            (State::Open, Frame::HeartbeatPong(pong)) => self.pong(&pong),
            _ => Err(CloseReason::Unexpected),
        };
        if let Err(reason) = done {
            self.close(reason);
        }
    }

    fn hello(&mut self, hello: &Hello) -> Result<(), CloseReason> {
        if hello.version >> 8 != VERSION >> 8 {
            return Err(CloseReason::UnsupportedVersion);
        }
        let Settings { chain_id, key, validator, subset_epoch } = &self.settings;
        if hello.party_role != Role::Validator || hello.party_pubkey != validator {
            return Err(CloseReason::Malformed);
        }
        if hello.subset_epoch.abs_diff(*subset_epoch) > 1 {
            return Err(CloseReason::WrongEpoch);
        }
        let transcript = HandshakeTranscript {
            chain_id: *chain_id,
            exporter: self.exporter,
            nonce_runner: self.nonce,
            nonce_validator: hello.challenge_nonce,
            runner: key.public_key(),
            validator: *validator,
            subset_epoch: hello.subset_epoch,
        };
        let signed = key.sign(&transcript.digest(Role::Runner));
        self.out.push_back(Output::Control(Frame::HelloAck(HelloAck {
            version: VERSION,
            party_pubkey: transcript.runner.bytes.to_vec(),
            party_role: Role::Runner,
            signed_challenge: signed.bytes.to_vec(),
            block_height: self.height,
        })));
        self.state = State::Proven(transcript);
        self.height = self.height.max(hello.block_height);
        self.validator_height = hello.block_height;
        Ok(())
    }

    fn hello_ack(
        &mut self,
        transcript: &HandshakeTranscript,
        ack: &HelloAck,
    ) -> Result<(), CloseReason> {
        if ack.party_role != Role::Validator || ack.party_pubkey != transcript.validator {
            return Err(CloseReason::Malformed);
        }
        let signature: [u8; 64] =
            ack.signed_challenge.as_slice().try_into().map_err(|_| CloseReason::Malformed)?;
        self.verify(&transcript.digest(Role::Validator), &signature)?;
        self.state = State::Open;
        self.out.push_back(Output::Event(Event::Opened));
        self.update_epoch(transcript.subset_epoch);
        self.ping();
        Ok(())
    }

    fn pong(&mut self, pong: &HeartbeatPong) -> Result<(), CloseReason> {
        let HeartbeatPong { block_height, subset_epoch, validator_signed } = pong;
        let Settings { chain_id, key, .. } = &self.settings;
        let digest = sign::pong(*chain_id, &key.public_key(), *block_height, *subset_epoch);
        self.verify(&digest, validator_signed)?;
        let blocks = block_height.saturating_sub(self.validator_height);
        if blocks > 0 {
            self.validator_height = *block_height;
            self.refill(blocks);
        }
        self.update_epoch(*subset_epoch);
        self.update_height(*block_height);
        Ok(())
    }

    /// Subset epochs never go back, even if this validator is behind another one.
    fn update_epoch(&mut self, epoch: u64) {
        if epoch > self.epoch {
            self.epoch = epoch;
            self.out.push_back(Output::Event(Event::Epoch(epoch)));
        }
    }

    /// New blocks refill the budgets, and pay for waiting transactions.
    fn refill(&mut self, blocks: u64) {
        let mut paid = Vec::new();
        for (id, job) in &mut self.jobs {
            job.budget.blocks(blocks);
            if let Some(waiting) = job.waiting.take_if(|w| job.budget.pay(payload_cost(w.len()))) {
                paid.push((*id, waiting));
            }
        }
        for (job, transaction) in paid {
            self.send_result(job, transaction);
        }
    }

    fn verify(
        &self,
        digest: &remuda_protocol::primitives::B256,
        signature: &[u8; 64],
    ) -> Result<(), CloseReason> {
        if sign::validator_signed(&self.settings.validator, digest, signature) {
            Ok(())
        } else {
            Err(CloseReason::BadSignature)
        }
    }

    /// Every new height, from this validator or elsewhere, is answered with a ping.
    pub fn update_height(&mut self, height: u64) {
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

    pub fn load(&mut self, signal: BackpressureSignal) {
        if self.open() {
            self.out.push_back(Output::Control(signal.into()));
        }
    }

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

    /// Handles a frame of `bytes` bytes on a stream that the validator opened. The first frame names the
    /// job; pass `None` until then. Returns the stream's job.
    pub fn job(
        &mut self,
        job: Option<JobId>,
        frame: Frame,
        bytes: usize,
        now_ms: u64,
    ) -> Option<JobId> {
        if !self.job.take_many(cost(bytes), now_ms) {
            self.close(CloseReason::TooFast);
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
                self.verify(&digest, &assignment.validator_signed)
                    .and_then(|()| self.assigned(assignment))
            }
            (Some(job), Frame::JobCancel(cancel)) if cancel.job_id == job => {
                let digest = sign::cancel(chain_id, &runner, &cancel);
                self.verify(&digest, &cancel.validator_signed).map(|()| {
                    self.jobs.remove(&job);
                    self.out.push_back(Output::Event(Event::Cancelled(cancel)));
                    Some(job)
                })
            }
            (Some(job), Frame::Handover(handover)) if handover.job_id == job => {
                self.out.push_back(Output::Event(Event::Handover(handover)));
                Ok(Some(job))
            }
            _ => Err(CloseReason::Unexpected),
        };
        done.unwrap_or_else(|reason| {
            self.close(reason);
            job
        })
    }

    fn assigned(&mut self, assignment: JobAssignment) -> Result<Option<JobId>, CloseReason> {
        let job = assignment.job_id;
        // An honest validator never opens a second stream for a job.
        if self.jobs.len() >= JOBS_MAX || self.jobs.contains_key(&job) {
            return Err(CloseReason::Unexpected);
        }
        self.jobs.insert(job, Job { budget: Budget::of_runner(), waiting: None });
        self.out.push_back(Output::Event(Event::Assigned(Box::new(assignment))));
        Ok(Some(job))
    }

    pub fn ack(&mut self, job: JobId, status: AckStatus, reason: Option<String>) {
        let Some(open) = self.jobs.get_mut(&job) else { return };
        let reason = reason.map(|reason| shortened(reason, TEXT_LIMIT));
        // The first frame about a job: the assignment covers it.
        let _ = open.budget.pay(1);
        let Settings { chain_id, key, validator, .. } = &self.settings;
        let mut frame = JobAck { job_id: job, status, reason, signed: [0; 65] };
        frame.signed = key.sign(&sign::ack(*chain_id, validator, &frame)).bytes;
        self.out.push_back(Output::Job(job, frame.into()));
        if matches!(status, AckStatus::Reject(_)) {
            self.finish(job);
        }
    }

    /// Dropped if the budget does not cover it.
    pub fn progress(&mut self, job: JobId, fraction: u8, detail: Option<String>) {
        if self.jobs.get_mut(&job).is_some_and(|open| open.budget.pay_for_progress()) {
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
        if open.budget.pay(payload_cost(transaction.len())) {
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

    pub fn finish(&mut self, job: JobId) {
        if self.jobs.remove(&job).is_some() {
            self.out.push_back(Output::FinishJob(job));
        }
    }

    pub fn job_closed(&mut self, job: JobId) {
        self.jobs.remove(&job);
    }
}
