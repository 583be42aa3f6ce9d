//! The validator's end of a session with a runner.
//!
//! ```text
//! Waiting ── Hello ──▶ Challenged ── HelloAck ──▶ Open ── pings, jobs ──▶ Closed
//! ```
//! Checks come cheapest first: form of the frame, version, rate limit of the address, registration of the
//! key, signature. Presence depends on pings and backpressure alone. The outcome of a push only decides
//! whether more jobs are pushed.

use super::budget::{self, Budget};
use super::{JOBS_MAX, Output, TEXT_LIMIT, shortened};
use crate::frame::{
    AckStatus, BackpressureSignal, CancelReason, CapabilityDelta, CloseReason, Frame, Handover,
    HeartbeatPing, HeartbeatPong, Hello, HelloAck, JobAck, JobAssignment, JobCancel, JobProgress,
    JobResult, Role, VERSION,
};
pub use crate::sign::Signer;
use crate::sign::{self, HandshakeTranscript, ValidatorKey};
use crate::token_bucket::TokenBucket;
use remuda_protocol::crypto::{PublicKey, Signature};
use remuda_protocol::primitives::{Address, B256, JobId, Slot};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

pub const HANDSHAKE_MS: u64 = 5_000;
/// Frames of the control stream: burst, and per second.
const CONTROL_RATE: (u32, u32) = (64, 16);
/// Frames of job streams beyond the jobs' budgets: burst, and per second.
const JOB_RATE: (u32, u32) = (64, 16);
/// Capabilities that a runner may withdraw at a time.
const REMOVED_MAX: usize = 64;
/// A runner that fails repeatedly gets no jobs for at most 2 to the power of this, in blocks.
const QUARANTINE_MAX: u32 = 10;

/// Decides who may have a session.
pub trait Admittance {
    /// Applies the rate limit of the address.
    fn admit_source(&mut self, now_ms: u64, source: IpAddr) -> Result<(), CloseReason>;

    /// The runner with this key, if it may have a session with this validator.
    fn place(&self, key: &PublicKey) -> Result<Place, CloseReason>;

    /// Applies the limit of sessions and the rate limit of the key. Called once the key is proven: otherwise
    /// anybody could use up the key's limit.
    fn admit_session(&mut self, now_ms: u64, place: Place) -> Result<(), CloseReason>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub address: Address,
    /// Its index in presence bitmaps.
    pub slot: Slot,
}

/// Shared by all sessions of a validator.
pub struct Settings {
    pub chain_id: u64,
    pub me: ValidatorKey,
    pub signer: Arc<dyn Signer>,
    /// Blocks without a ping after which a runner is absent.
    pub presence_timeout: u64,
    /// Blocks without an ack after which a push has failed.
    pub ack_timeout: u64,
    /// Bytes of the longest transaction.
    pub transaction_bytes_max: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Both sides are authenticated.
    Opened(Place),
    /// The runner has become present or absent.
    Presence(bool),
    /// The outcome of a push.
    Outcome(JobId, Outcome),
    /// There is no stream for the job: the push was held back, or the runner closed the stream.
    NoStream(JobId),
    Progress(JobProgress),
    /// A transaction for the mempool.
    Transaction(JobId, Vec<u8>),
    Load(BackpressureSignal),
}

/// What became of a push (CIP-11 §10.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The runner accepted the job.
    Success,
    /// The runner has the job from another validator.
    Duplicate,
    /// The runner rejected the job.
    SoftFailure,
    /// The runner did not answer in time.
    HardFailure,
}

#[derive(Debug)]
enum State {
    Waiting,
    Challenged(HandshakeTranscript, Place),
    Open(Box<Open>),
    Closed,
}

#[derive(Debug)]
struct Open {
    place: Place,
    key: PublicKey,
    last_nonce: Option<u64>,
    /// Height at which the last ping arrived.
    last_ping: Option<u64>,
    accepting: bool,
    present: bool,
    removed: BTreeSet<String>,
    /// Jobs with an open stream.
    jobs: BTreeMap<JobId, Pushed>,
    hard_failures: u32,
    no_push_until: u64,
}

/// A job that was pushed.
#[derive(Debug)]
struct Pushed {
    /// Height of the push until it is acknowledged.
    unanswered_since: Option<u64>,
    budget: Budget,
}

pub struct Session {
    settings: Arc<Settings>,
    source: IpAddr,
    exporter: [u8; 32],
    nonce: [u8; 32],
    since_ms: u64,
    head: u64,
    epoch: u64,
    state: State,
    control: TokenBucket,
    job: TokenBucket,
    out: VecDeque<Output<Event>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub height: u64,
    pub subset_epoch: u64,
}

impl Session {
    /// The nonce must be random and unique to this session.
    pub fn new(
        settings: Arc<Settings>,
        source: IpAddr,
        exporter: [u8; 32],
        nonce: [u8; 32],
        head: Head,
        now_ms: u64,
    ) -> Self {
        Self {
            settings,
            source,
            exporter,
            nonce,
            since_ms: now_ms,
            head: head.height,
            epoch: head.subset_epoch,
            state: State::Waiting,
            control: TokenBucket::new(CONTROL_RATE.0, CONTROL_RATE.1, now_ms),
            job: TokenBucket::new(JOB_RATE.0, JOB_RATE.1, now_ms),
            out: VecDeque::new(),
        }
    }

    pub fn poll(&mut self) -> Option<Output<Event>> {
        self.out.pop_front()
    }

    /// Call [`Session::tick`] by then. `None` once the runner is authenticated.
    pub fn deadline_ms(&self) -> Option<u64> {
        matches!(self.state, State::Waiting | State::Challenged(..))
            .then(|| self.since_ms.saturating_add(HANDSHAKE_MS))
    }

    pub fn tick(&mut self, now_ms: u64) {
        if self.deadline_ms().is_some_and(|deadline| now_ms >= deadline) {
            self.close(CloseReason::Silent);
        }
    }

    /// `None` until the runner is authenticated.
    pub fn place(&self) -> Option<Place> {
        match &self.state {
            State::Open(open) => Some(open.place),
            _ => None,
        }
    }

    pub fn present(&self) -> bool {
        matches!(&self.state, State::Open(open) if open.present)
    }

    /// Whether the runner has withdrawn this capability for now.
    pub fn lacks(&self, capability: &str) -> bool {
        matches!(&self.state, State::Open(open) if open.removed.contains(capability))
    }

    pub fn close(&mut self, why: CloseReason) {
        if !matches!(self.state, State::Closed) {
            self.absent();
            self.state = State::Closed;
            self.out.push_back(Output::Control(why.goodbye()));
            self.out.push_back(Output::Close(why));
        }
    }

    pub fn lost(&mut self) {
        self.absent();
        self.state = State::Closed;
    }

    fn absent(&mut self) {
        if self.present() {
            self.out.push_back(Output::Event(Event::Presence(false)));
        }
    }

    pub fn control(&mut self, frame: Frame, now_ms: u64, admittance: &mut dyn Admittance) {
        if !self.control.take(now_ms) {
            return self.close(CloseReason::TooFast);
        }
        let done = match (&mut self.state, frame) {
            (State::Closed, _) => Ok(()),
            (_, Frame::Goodbye(_)) => {
                self.lost();
                self.out.push_back(Output::Close(CloseReason::Shutdown));
                Ok(())
            }
            (State::Waiting, Frame::Hello(hello)) => self.hello(&hello, now_ms, admittance),
            (State::Challenged(..), Frame::HelloAck(ack)) => {
                self.hello_ack(&ack, now_ms, admittance)
            }
            (State::Open(_), Frame::HeartbeatPing(ping)) => self.ping(&ping),
            (State::Open(_), Frame::BackpressureSignal(signal)) => self.backpressure(signal),
            (State::Open(_), Frame::CapabilityDelta(delta)) => self.capability(delta),
            _ => Err(CloseReason::Unexpected),
        };
        if let Err(reason) = done {
            self.close(reason);
        }
    }

    fn hello(
        &mut self,
        hello: &Hello,
        now_ms: u64,
        admittance: &mut dyn Admittance,
    ) -> Result<(), CloseReason> {
        if hello.version >> 8 != VERSION >> 8 {
            return Err(CloseReason::UnsupportedVersion);
        }
        let bytes: [u8; 33] =
            hello.party_pubkey.as_slice().try_into().map_err(|_| CloseReason::Malformed)?;
        if hello.party_role != Role::Runner {
            return Err(CloseReason::Malformed);
        }
        admittance.admit_source(now_ms, self.source)?;
        let key = PublicKey { bytes };
        let place = admittance.place(&key)?;
        let transcript = HandshakeTranscript {
            chain_id: self.settings.chain_id,
            exporter: self.exporter,
            nonce_runner: hello.challenge_nonce,
            nonce_validator: self.nonce,
            runner: key,
            validator: self.settings.me,
            subset_epoch: self.epoch,
        };
        self.out.push_back(Output::Control(Frame::Hello(Hello {
            version: VERSION,
            party_pubkey: self.settings.me.to_vec(),
            party_role: Role::Validator,
            block_height: self.head,
            challenge_nonce: self.nonce,
            subset_epoch: self.epoch,
        })));
        self.state = State::Challenged(transcript, place);
        Ok(())
    }

    fn hello_ack(
        &mut self,
        ack: &HelloAck,
        now_ms: u64,
        admittance: &mut dyn Admittance,
    ) -> Result<(), CloseReason> {
        let State::Challenged(transcript, place) = &self.state else {
            return Err(CloseReason::Unexpected);
        };
        let (transcript, place) = (transcript.clone(), *place);
        if ack.party_role != Role::Runner || ack.party_pubkey != transcript.runner.bytes {
            return Err(CloseReason::Malformed);
        }
        let signature: [u8; 65] =
            ack.signed_challenge.as_slice().try_into().map_err(|_| CloseReason::Malformed)?;
        verify(&transcript.runner, &transcript.digest(Role::Runner), &signature)?;
        admittance.admit_session(now_ms, place)?;
        let signed = self.settings.signer.sign(&transcript.digest(Role::Validator));
        self.out.push_back(Output::Control(Frame::HelloAck(HelloAck {
            version: VERSION,
            party_pubkey: self.settings.me.to_vec(),
            party_role: Role::Validator,
            signed_challenge: signed.to_vec(),
            block_height: self.head,
        })));
        self.out.push_back(Output::Event(Event::Opened(place)));
        self.state = State::Open(Box::new(Open {
            place,
            key: transcript.runner,
            last_nonce: None,
            last_ping: None,
            accepting: true,
            present: false,
            removed: BTreeSet::new(),
            jobs: BTreeMap::new(),
            hard_failures: 0,
            no_push_until: 0,
        }));
        Ok(())
    }

    fn ping(&mut self, ping: &HeartbeatPing) -> Result<(), CloseReason> {
        let State::Open(open) = &mut self.state else { return Err(CloseReason::Unexpected) };
        if open.last_nonce.is_some_and(|last| ping.nonce <= last) {
            return Err(CloseReason::Replay);
        }
        let Settings { chain_id, me, presence_timeout, .. } = *self.settings;
        let digest = sign::ping(chain_id, &me, ping.block_height, ping.nonce);
        verify(&open.key, &digest, &ping.signed)?;
        open.last_nonce = Some(ping.nonce);
        // A runner that is far behind cannot check assignments, so its ping does not count.
        if ping.block_height.saturating_add(presence_timeout) >= self.head {
            open.last_ping = Some(self.head);
        }
        self.pong();
        self.update_presence();
        Ok(())
    }

    fn pong(&mut self) {
        if let State::Open(open) = &self.state {
            let digest = sign::pong(self.settings.chain_id, &open.key, self.head, self.epoch);
            self.out.push_back(Output::Control(Frame::HeartbeatPong(HeartbeatPong {
                block_height: self.head,
                subset_epoch: self.epoch,
                validator_signed: self.settings.signer.sign(&digest),
            })));
        }
    }

    fn backpressure(&mut self, mut signal: BackpressureSignal) -> Result<(), CloseReason> {
        let State::Open(open) = &mut self.state else { return Err(CloseReason::Unexpected) };
        open.accepting = signal.accepting_new;
        signal.reason = signal.reason.map(|reason| shortened(reason, TEXT_LIMIT));
        self.out.push_back(Output::Event(Event::Load(signal)));
        self.update_presence();
        Ok(())
    }

    fn capability(&mut self, delta: CapabilityDelta) -> Result<(), CloseReason> {
        let State::Open(open) = &mut self.state else { return Err(CloseReason::Unexpected) };
        let digest = sign::capability(self.settings.chain_id, &self.settings.me, &delta);
        verify(&open.key, &digest, &delta.signed)?;
        for added in &delta.added_capabilities {
            open.removed.remove(added);
        }
        for removed in delta.removed_capabilities {
            if open.removed.len() < REMOVED_MAX && removed.len() <= TEXT_LIMIT {
                open.removed.insert(removed);
            }
        }
        Ok(())
    }

    fn update_presence(&mut self) {
        let State::Open(open) = &mut self.state else { return };
        let timeout = self.settings.presence_timeout;
        let recent = open.last_ping.is_some_and(|at| self.head < at.saturating_add(timeout));
        let present = recent && open.accepting;
        if present != open.present {
            open.present = present;
            self.out.push_back(Output::Event(Event::Presence(present)));
        }
    }

    /// Announces a new final block.
    pub fn head(&mut self, head: Head, admittance: &dyn Admittance) {
        // A runner answers each block with a ping, however fast blocks are.
        let blocks = head.height.saturating_sub(self.head);
        self.control.grant(blocks);
        self.head = self.head.max(head.height);
        self.epoch = head.subset_epoch;
        let State::Open(open) = &mut self.state else { return };
        // The runner may have left, been jailed, or moved to other validators.
        match admittance.place(&open.key) {
            Ok(place) if place == open.place => {}
            Ok(_) => return self.close(CloseReason::NotRegistered),
            Err(reason) => return self.close(reason),
        }
        open.jobs.values_mut().for_each(|pushed| pushed.budget.blocks(blocks));
        let timeout = self.settings.ack_timeout;
        let late = |pushed: &Pushed| {
            pushed.unanswered_since.is_some_and(|since| self.head >= since + timeout)
        };
        let failed: Vec<JobId> =
            open.jobs.iter().filter(|(_, pushed)| late(pushed)).map(|(job, _)| *job).collect();
        for job in failed {
            open.jobs.remove(&job);
            open.no_push_until = self.head + (1 << open.hard_failures.min(QUARANTINE_MAX));
            open.hard_failures += 1;
            self.out.push_back(Output::FinishJob(job));
            self.out.push_back(Output::Event(Event::Outcome(job, Outcome::HardFailure)));
        }
        self.pong();
        self.update_presence();
    }

    /// Pushes a job. `false` if the push is held back: the runner polls for the job, or gets it from another
    /// validator.
    pub fn push(&mut self, assignment: Assignment) -> bool {
        let State::Open(open) = &mut self.state else { return false };
        if open.jobs.contains_key(&assignment.job_id) {
            return false;
        }
        let held_back = self.head < open.no_push_until;
        if held_back || open.jobs.len() >= JOBS_MAX {
            self.out.push_back(Output::Event(Event::NoStream(assignment.job_id)));
            return false;
        }
        let Assignment { job_id, attempt, job_spec, block_height, deadline_block } = assignment;
        let mut frame = JobAssignment {
            job_id,
            attempt,
            job_spec,
            block_height,
            deadline_block,
            validator_signed: [0; 64],
        };
        let digest = sign::assignment(self.settings.chain_id, &open.key, &frame);
        frame.validator_signed = self.settings.signer.sign(&digest);
        let pushed = Pushed { unanswered_since: Some(self.head), budget: Budget::of_validator() };
        open.jobs.insert(job_id, pushed);
        self.out.push_back(Output::OpenJob(job_id, frame.into()));
        true
    }

    pub fn cancel(&mut self, job_id: JobId, reason: CancelReason) {
        let State::Open(open) = &mut self.state else { return };
        if open.jobs.remove(&job_id).is_none() {
            return;
        }
        let mut frame = JobCancel { job_id, reason, validator_signed: [0; 64] };
        let digest = sign::cancel(self.settings.chain_id, &open.key, &frame);
        frame.validator_signed = self.settings.signer.sign(&digest);
        self.out.push_back(Output::Job(job_id, frame.into()));
        self.out.push_back(Output::FinishJob(job_id));
    }

    /// Forwards a sealed result to the aggregator, on the stream of its job.
    pub fn handover(&mut self, handover: Handover) {
        let State::Open(open) = &self.state else { return };
        if open.jobs.contains_key(&handover.job_id) {
            self.out.push_back(Output::Job(handover.job_id, handover.into()));
        }
    }

    /// Handles a frame of `bytes` bytes on a job's stream.
    pub fn job(&mut self, job: JobId, frame: Frame, bytes: usize, now_ms: u64) {
        let State::Open(open) = &mut self.state else { return };
        // The frame crossed the end of the job. Little can follow: the stream has ended.
        let Some(pushed) = open.jobs.get_mut(&job) else { return };
        let cost = budget::cost(bytes);
        if !pushed.budget.pay(cost) && !self.job.take_many(cost, now_ms) {
            return self.close(CloseReason::TooFast);
        }
        let done = match frame {
            Frame::JobAck(ack) if ack.job_id == job => self.ack(job, &ack),
            Frame::JobProgress(mut progress) if progress.job_id == job => {
                progress.fraction = progress.fraction.min(100);
                progress.detail = progress.detail.map(|detail| shortened(detail, TEXT_LIMIT));
                self.out.push_back(Output::Event(Event::Progress(progress)));
                Ok(())
            }
            Frame::JobResult(result) if result.job_id == job => self.result(job, result),
            _ => Err(CloseReason::Unexpected),
        };
        if let Err(reason) = done {
            self.close(reason);
        }
    }

    fn ack(&mut self, job: JobId, ack: &JobAck) -> Result<(), CloseReason> {
        let State::Open(open) = &mut self.state else { return Err(CloseReason::Unexpected) };
        let Some(pushed) = open.jobs.get_mut(&job) else { return Err(CloseReason::Unexpected) };
        // Checked before the signature: a job has one ack.
        if pushed.unanswered_since.take().is_none() {
            return Err(CloseReason::Unexpected);
        }
        let digest = sign::ack(self.settings.chain_id, &self.settings.me, ack);
        verify(&open.key, &digest, &ack.signed)?;
        open.hard_failures = 0;
        open.no_push_until = 0;
        let outcome = match ack.status {
            AckStatus::Accepted => Outcome::Success,
            AckStatus::Duplicate => Outcome::Duplicate,
            AckStatus::Reject(_) => {
                open.jobs.remove(&job);
                self.out.push_back(Output::FinishJob(job));
                Outcome::SoftFailure
            }
        };
        self.out.push_back(Output::Event(Event::Outcome(job, outcome)));
        Ok(())
    }

    fn result(&mut self, job: JobId, result: JobResult) -> Result<(), CloseReason> {
        let State::Open(open) = &self.state else { return Err(CloseReason::Unexpected) };
        let digest = sign::result(self.settings.chain_id, &self.settings.me, &result);
        verify(&open.key, &digest, &result.runner_signed)?;
        self.out.push_back(Output::Event(Event::Transaction(job, result.result_data)));
        Ok(())
    }

    /// The runner closed a job's stream.
    pub fn job_closed(&mut self, job: JobId) {
        if let State::Open(open) = &mut self.state {
            // An unacknowledged push stays until it counts as failed.
            let answered = |pushed: &Pushed| pushed.unanswered_since.is_none();
            if open.jobs.get(&job).is_some_and(answered) {
                open.jobs.remove(&job);
                self.out.push_back(Output::Event(Event::NoStream(job)));
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub job_id: JobId,
    /// The selection that drew the runner.
    pub attempt: u32,
    /// The specification in the chain's own encoding.
    pub job_spec: Vec<u8>,
    /// The block that assigned it.
    pub block_height: u64,
    /// The last block for a commit, or for the result of a single runner.
    pub deadline_block: u64,
}

fn verify(key: &PublicKey, digest: &B256, signature: &[u8; 65]) -> Result<(), CloseReason> {
    let signature = Signature { bytes: *signature };
    if signature.recover(digest).is_ok_and(|signer| signer == *key) {
        Ok(())
    } else {
        Err(CloseReason::BadSignature)
    }
}
