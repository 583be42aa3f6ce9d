//! Both ends of a connection, put together without a network.

use proptest::prelude::*;
use remuda_link::frame::{
    AckStatus, BackpressureSignal, CancelReason, CloseReason, Frame, Handover, HeartbeatPing,
    Hello, JobProgress, JobResult, RejectReason, Role, VERSION,
};
use remuda_link::session::validator::{Admittance, Assignment, Event, Head, Outcome, Place};
use remuda_link::session::{Output, runner, validator};
use remuda_link::sign::{self, Identity};
use remuda_link::wire::encode;
use remuda_protocol::crypto::{PublicKey, SecretKey};
use remuda_protocol::primitives::{Address, B256, JobId, Slot};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

const CHAIN: u64 = 7;
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const EPOCH: u64 = 3;
const JOB: JobId = B256::repeat_byte(9);

/// What the chain says of each key.
#[derive(Default)]
struct Chain {
    places: BTreeMap<PublicKey, Result<Place, CloseReason>>,
    attempts: u32,
    seats: u32,
}

impl Admittance for Chain {
    fn admit_source(&mut self, _: u64, _: IpAddr) -> Result<(), CloseReason> {
        self.attempts += 1;
        if self.attempts > 10 { Err(CloseReason::RateLimited) } else { Ok(()) }
    }

    fn place(&self, key: &PublicKey) -> Result<Place, CloseReason> {
        self.places.get(key).copied().unwrap_or(Err(CloseReason::NotRegistered))
    }

    fn admit_session(&mut self, _: u64, _: Place) -> Result<(), CloseReason> {
        self.seats += 1;
        if self.seats > 5 { Err(CloseReason::TooManySessions) } else { Ok(()) }
    }
}

/// A runner and a validator, with a wire between them that tests may cut open.
struct Pair {
    runner: runner::Session,
    validator: validator::Session,
    chain: Chain,
    key: SecretKey,
    seen_by_runner: Vec<runner::Event>,
    seen_by_validator: Vec<Event>,
    parted: Vec<CloseReason>,
    now_ms: u64,
}

fn key() -> SecretKey {
    SecretKey::from_label("runner")
}

fn identity() -> Arc<Identity> {
    Arc::new(Identity::from_seed(&[5; 32]).unwrap())
}

fn place() -> Place {
    Place { address: key().address(), slot: Slot(2) }
}

fn settings() -> Arc<validator::Settings> {
    Arc::new(validator::Settings {
        chain_id: CHAIN,
        me: identity().key(),
        signer: identity(),
        presence_timeout: 15,
        ack_timeout: 15,
        transaction_bytes_max: 131_072,
    })
}

fn validator_session(exporter: [u8; 32]) -> validator::Session {
    let head = Head { height: 100, subset_epoch: EPOCH };
    validator::Session::new(settings(), HERE, exporter, [2; 32], head, 0)
}

fn runner_session(key: &SecretKey, exporter: [u8; 32]) -> runner::Session {
    runner_session_of(key, exporter, EPOCH)
}

fn runner_session_of(key: &SecretKey, exporter: [u8; 32], subset_epoch: u64) -> runner::Session {
    let (key, validator) = (key.clone(), identity().key());
    let settings = runner::Settings { chain_id: CHAIN, key, validator, subset_epoch };
    runner::Session::new(settings, exporter, [1; 32], 100, 0)
}

impl Pair {
    fn new() -> Self {
        Self::with([7; 32], [7; 32])
    }

    fn with(exporter_of_runner: [u8; 32], exporter_of_validator: [u8; 32]) -> Self {
        let mut chain = Chain::default();
        chain.places.insert(key().public_key(), Ok(place()));
        Self {
            runner: runner_session(&key(), exporter_of_runner),
            validator: validator_session(exporter_of_validator),
            chain,
            key: key(),
            seen_by_runner: Vec::new(),
            seen_by_validator: Vec::new(),
            parted: Vec::new(),
            now_ms: 0,
        }
    }

    fn open() -> Self {
        let mut pair = Self::new();
        pair.settle();
        assert!(pair.runner.open() && pair.validator.place().is_some(), "{:?}", pair.parted);
        pair
    }

    /// Carries frames to and fro until nobody has anything to say.
    fn settle(&mut self) {
        loop {
            if let Some(output) = self.runner.poll() {
                match output {
                    Output::Control(frame) => {
                        self.validator.control(frame, self.now_ms, &mut self.chain);
                    }
                    Output::Job(job, frame) => {
                        let bytes = encode(&frame).len();
                        self.validator.job(job, frame, bytes, self.now_ms);
                    }
                    Output::FinishJob(job) => self.validator.job_closed(job),
                    Output::Event(event) => self.seen_by_runner.push(event),
                    Output::Close(reason) => self.parted.push(reason),
                    Output::OpenJob(..) => panic!("runners open no streams"),
                }
            } else if let Some(output) = self.validator.poll() {
                match output {
                    Output::Control(frame) => self.runner.control(frame, self.now_ms),
                    Output::OpenJob(_, frame) => {
                        let bytes = encode(&frame).len();
                        self.runner.job(None, frame, bytes, self.now_ms);
                    }
                    Output::Job(job, frame) => {
                        let bytes = encode(&frame).len();
                        self.runner.job(Some(job), frame, bytes, self.now_ms);
                    }
                    Output::FinishJob(job) => self.runner.job_closed(job),
                    Output::Event(event) => self.seen_by_validator.push(event),
                    Output::Close(reason) => self.parted.push(reason),
                }
            } else {
                return;
            }
        }
    }

    /// A block a second.
    fn head(&mut self, height: u64) {
        self.now_ms += 1_000;
        self.validator.head(Head { height, subset_epoch: EPOCH }, &self.chain);
    }

    fn push(&mut self) -> bool {
        self.validator.push(assignment())
    }

    /// What a validator does with one frame from an open session.
    fn tell(&mut self, frame: Frame) {
        self.validator.control(frame, self.now_ms, &mut self.chain);
        self.settle();
    }
}

fn assignment() -> Assignment {
    Assignment {
        job_id: JOB,
        attempt: 0,
        job_spec: b"spec".to_vec(),
        block_height: 100,
        deadline_block: 160,
    }
}

fn hello(key: &SecretKey) -> Hello {
    Hello {
        version: VERSION,
        party_pubkey: key.public_key().bytes.to_vec(),
        party_role: Role::Runner,
        block_height: 100,
        challenge_nonce: [1; 32],
        subset_epoch: EPOCH,
    }
}

fn ping(key: &SecretKey, height: u64, nonce: u64) -> HeartbeatPing {
    let digest = sign::ping(CHAIN, &identity().key(), height, nonce);
    HeartbeatPing { block_height: height, nonce, signed: key.sign(&digest).bytes }
}

// spec §9.10
#[test]
fn honest_handshake_opens_both_ends_and_marks_the_runner_present() {
    let mut pair = Pair::open();
    assert_eq!(pair.seen_by_validator, [Event::Opened(place()), Event::Presence(true)]);
    pair.head(101);
    pair.settle();
    assert!(pair.seen_by_runner.contains(&runner::Event::Head(101)));
    assert!(pair.parted.is_empty() && pair.validator.present());
}

// spec §9.10
#[test]
fn relayed_hello_fails_in_another_tls_session() {
    let mut pair = Pair::with([7; 32], [8; 32]);
    pair.settle();
    assert_eq!(pair.parted[0], CloseReason::BadSignature);
    assert!(!pair.runner.open() && pair.validator.place().is_none());
}

/// A validator of the same runner passes its words on to another one, under its own name.
#[test]
fn hello_is_bound_to_its_validator() {
    let middle = Identity::from_seed(&[6; 32]).unwrap().key();
    let mut pair = Pair::new();
    let settings =
        runner::Settings { chain_id: CHAIN, key: key(), validator: middle, subset_epoch: EPOCH };
    pair.runner = runner::Session::new(settings, [7; 32], [1; 32], 100, 0);
    let Some(Output::Control(hello)) = pair.runner.poll() else { panic!("a Hello") };
    pair.validator.control(hello, 0, &mut pair.chain);
    let Some(Output::Control(Frame::Hello(mut answer))) = pair.validator.poll() else {
        panic!("an answer")
    };
    answer.party_pubkey = middle.to_vec();
    pair.runner.control(answer.into(), 0);
    pair.settle();
    assert_eq!(pair.parted[0], CloseReason::BadSignature);
    assert!(!pair.runner.open() && pair.validator.place().is_none());
}

#[test]
fn replayed_handshake_fails_in_a_new_session() {
    let mut pair = Pair::new();
    let mut recorded = Vec::new();
    while !pair.runner.open() {
        while let Some(output) = pair.runner.poll() {
            if let Output::Control(frame) = output {
                recorded.push(frame.clone());
                pair.validator.control(frame, 0, &mut pair.chain);
            }
        }
        while let Some(output) = pair.validator.poll() {
            if let Output::Control(frame) = output {
                pair.runner.control(frame, 0);
            }
        }
    }
    // The same words, even with the same exporter: the validator's nonce is another.
    let head = Head { height: 100, subset_epoch: EPOCH };
    let mut again = validator::Session::new(settings(), HERE, [7; 32], [3; 32], head, 0);
    for frame in recorded {
        again.control(frame, 0, &mut pair.chain);
    }
    assert!(again.place().is_none());
    let outputs: Vec<_> = std::iter::from_fn(|| again.poll()).collect();
    assert!(outputs.contains(&Output::Close(CloseReason::BadSignature)), "{outputs:?}");
}

// spec §9.10
#[test]
fn unregistered_key_costs_no_signature_check() {
    for reason in [CloseReason::NotRegistered, CloseReason::Jailed, CloseReason::WrongSubset] {
        let mut pair = Pair::new();
        pair.chain.places.insert(key().public_key(), Err(reason));
        pair.settle();
        assert_eq!(pair.parted[0], reason);
        assert_eq!(pair.chain.seats, 0);
    }
}

// spec §9.10
#[test]
fn malformed_hello_is_refused_before_the_registry_is_read() {
    let good = hello(&key());
    let bad = [
        (Hello { version: 0x0200, ..good.clone() }, CloseReason::UnsupportedVersion),
        (Hello { party_pubkey: vec![2; 32], ..good.clone() }, CloseReason::Malformed),
        (Hello { party_role: Role::Validator, ..good }, CloseReason::Malformed),
    ];
    for (hello, reason) in bad {
        let mut pair = Pair::new();
        pair.tell(hello.into());
        assert_eq!(pair.parted[0], reason);
        assert_eq!(pair.chain.attempts, 0);
    }
}

#[test]
fn address_over_its_rate_limit_is_refused() {
    let mut chain = Chain::default();
    chain.places.insert(key().public_key(), Ok(place()));
    let refused = (0..20).filter(|_| {
        let mut session = validator_session([7; 32]);
        session.control(hello(&key()).into(), 0, &mut chain);
        std::iter::from_fn(|| session.poll()).any(|o| o == Output::Close(CloseReason::RateLimited))
    });
    assert_eq!(refused.count(), 10);
}

// spec §9.10
#[test]
fn handshake_timeout_closes_the_connection() {
    let mut pair = Pair::new();
    let deadline = pair.validator.deadline_ms().unwrap();
    pair.validator.tick(deadline - 1);
    assert!(pair.validator.poll().is_none());
    pair.validator.tick(deadline);
    assert_eq!(pair.validator.poll(), Some(Output::Control(CloseReason::Silent.goodbye())));
}

// spec §9.12
#[test]
fn repeated_ping_nonce_closes_the_session() {
    for nonce in [0, 1] {
        let mut pair = Pair::open();
        let key = pair.key.clone();
        pair.tell(ping(&key, 100, nonce).into());
        assert_eq!(pair.parted[0], CloseReason::Replay);
        assert_eq!(pair.seen_by_validator.last(), Some(&Event::Presence(false)));
    }
}

// spec §9.11
#[test]
fn ping_signed_by_another_key_closes_the_session() {
    let mut pair = Pair::open();
    pair.tell(ping(&SecretKey::from_label("other"), 100, 9).into());
    assert_eq!(pair.parted[0], CloseReason::BadSignature);
}

// spec §9.12
#[test]
fn silent_or_lagging_runner_is_absent() {
    let mut pair = Pair::open();
    let key = pair.key.clone();
    // Heads that the runner never hears of.
    for height in 101..115 {
        pair.head(height);
        while pair.validator.poll().is_some() {}
        assert!(pair.validator.present(), "at {height}");
    }
    pair.head(115);
    assert!(!pair.validator.present());
    pair.validator.control(ping(&key, 99, 10).into(), 0, &mut pair.chain);
    assert!(!pair.validator.present(), "its newest block is too old");
    pair.validator.control(ping(&key, 100, 11).into(), 0, &mut pair.chain);
    assert!(pair.validator.present());
}

// spec §9.12
#[test]
fn runner_is_absent_while_it_accepts_no_jobs() {
    let mut pair = Pair::open();
    let signal = |accepting_new| BackpressureSignal {
        active_jobs: 4,
        max_concurrent: 4,
        accepting_new,
        reason: Some("x".repeat(1_000)),
    };
    pair.runner.load(signal(false));
    pair.settle();
    assert!(!pair.validator.present());
    let Some(Event::Load(load)) =
        pair.seen_by_validator.iter().find(|event| matches!(event, Event::Load(_)))
    else {
        panic!("{:?}", pair.seen_by_validator)
    };
    assert_eq!(load.reason.as_ref().unwrap().len(), 200);
    pair.runner.load(signal(true));
    pair.settle();
    assert!(pair.validator.present());
}

#[test]
fn leaving_the_registry_or_the_subset_closes_the_session() {
    for reason in [CloseReason::NotRegistered, CloseReason::Jailed, CloseReason::WrongSubset] {
        let mut pair = Pair::open();
        pair.chain.places.insert(key().public_key(), Err(reason));
        pair.head(101);
        pair.settle();
        assert_eq!(pair.parted[0], reason);
        assert!(!pair.validator.present());
    }
    let mut pair = Pair::open();
    let elsewhere = Place { slot: Slot(3), ..place() };
    pair.chain.places.insert(key().public_key(), Ok(elsewhere));
    pair.head(101);
    pair.settle();
    assert_eq!(pair.parted[0], CloseReason::NotRegistered, "it came back with another slot");
}

// spec §9.13
#[test]
fn pushed_job_is_acknowledged_and_returns_a_transaction() {
    let mut pair = Pair::open();
    assert!(pair.push());
    assert!(!pair.push(), "once is enough");
    pair.settle();
    assert!(matches!(pair.seen_by_runner.last(), Some(runner::Event::Assigned(a))
        if a.job_id == JOB && a.job_spec == b"spec"));
    pair.runner.ack(JOB, AckStatus::Accepted, None);
    pair.runner.progress(JOB, 200, Some("half".to_owned()));
    assert!(pair.runner.result(JOB, b"transaction".to_vec()));
    pair.settle();
    let tail = &pair.seen_by_validator[2..];
    assert_eq!(tail[0], Event::Outcome(JOB, Outcome::Success));
    assert!(matches!(&tail[1], Event::Progress(progress) if progress.fraction == 100));
    assert_eq!(tail[2], Event::Transaction(JOB, b"transaction".to_vec()));
    assert!(pair.parted.is_empty());
}

// spec §9.11
#[test]
fn tampered_assignment_closes_the_session() {
    let mut pair = Pair::open();
    assert!(pair.push());
    let Some(Output::OpenJob(_, Frame::JobAssignment(mut frame))) = pair.validator.poll() else {
        panic!("a push")
    };
    frame.job_spec = b"other".to_vec();
    pair.runner.job(None, frame.into(), 300, 0);
    pair.settle();
    assert_eq!(pair.parted[0], CloseReason::BadSignature);
    assert!(!pair.seen_by_runner.iter().any(|event| matches!(event, runner::Event::Assigned(_))));
}

#[test]
fn rejects_and_duplicates_count_as_answers() {
    for (status, outcome) in [
        (AckStatus::Duplicate, Outcome::Duplicate),
        (AckStatus::Reject(RejectReason::Capacity), Outcome::SoftFailure),
    ] {
        let mut pair = Pair::open();
        pair.push();
        pair.settle();
        pair.runner.ack(JOB, status, Some("because".to_owned()));
        pair.settle();
        assert_eq!(pair.seen_by_validator.last(), Some(&Event::Outcome(JOB, outcome)));
        assert!(pair.validator.present());
    }
}

// spec §9.13
#[test]
fn unanswered_push_delays_pushes_but_keeps_presence() {
    let mut pair = Pair::open();
    for failures in 0..4u64 {
        assert!(pair.push(), "after {failures} failures");
        pair.settle();
        let start = 100 + failures * 100;
        for height in start..start + 15 {
            pair.head(height);
            pair.settle();
        }
        let pushed_at = if failures == 0 { 100 } else { start - 1 };
        pair.head(pushed_at + 15);
        pair.settle();
        let failed = Event::Outcome(JOB, Outcome::HardFailure);
        let count = pair.seen_by_validator.iter().filter(|event| **event == failed).count();
        assert_eq!(count as u64, failures + 1);
        assert!(pair.validator.present(), "pings go on");
        assert!(!pair.push(), "it is left alone for a while");
        pair.head(start + 99);
        pair.settle();
    }
}

#[test]
fn frames_about_a_cancelled_job_are_ignored() {
    let mut pair = Pair::open();
    pair.push();
    pair.settle();
    pair.runner.ack(JOB, AckStatus::Accepted, None);
    pair.settle();
    pair.validator.cancel(JOB, CancelReason::Reassigned);
    pair.settle();
    assert!(matches!(pair.seen_by_runner.last(), Some(runner::Event::Cancelled(cancel))
        if cancel.reason == CancelReason::Reassigned));
    assert!(!pair.runner.result(JOB, b"late".to_vec()));
}

#[test]
fn closed_session_sends_nothing() {
    for goodbye in [true, false] {
        let mut pair = Pair::open();
        pair.push();
        pair.settle();
        if goodbye {
            pair.runner.control(CloseReason::Shutdown.goodbye(), 0);
        } else {
            pair.runner.close(CloseReason::Shutdown);
        }
        let last = std::iter::from_fn(|| pair.runner.poll()).last();
        assert_eq!(last, Some(Output::Close(CloseReason::Shutdown)));
        // Its owner does not know yet.
        pair.runner.update_height(200);
        pair.runner.ack(JOB, AckStatus::Accepted, None);
        pair.runner.progress(JOB, 50, None);
        assert!(!pair.runner.result(JOB, b"late".to_vec()));
        pair.runner.finish(JOB);
        assert_eq!(pair.runner.poll(), None);
    }
}

// spec §9.14
#[test]
fn control_flood_closes_the_session() {
    let mut pair = Pair::open();
    let key = pair.key.clone();
    for nonce in 10..100 {
        pair.tell(ping(&key, 100, nonce).into());
    }
    assert_eq!(pair.parted[0], CloseReason::TooFast);
}

// spec §9.12, §9.14
#[test]
fn one_ping_per_block_is_within_the_rate_limit() {
    let mut pair = Pair::open();
    for height in 101..1_101 {
        pair.now_ms += 20;
        pair.validator.head(Head { height, subset_epoch: EPOCH }, &pair.chain);
        pair.settle();
    }
    assert_eq!(pair.parted, [], "fifty blocks a second");
    assert!(pair.validator.present());
}

fn progress(job: JobId) -> Frame {
    JobProgress { job_id: job, fraction: 50, detail: None }.into()
}

fn result(key: &SecretKey, job: JobId, bytes: usize) -> Frame {
    let mut frame = JobResult { job_id: job, result_data: vec![7; bytes], runner_signed: [0; 65] };
    frame.runner_signed = key.sign(&sign::result(CHAIN, &identity().key(), &frame)).bytes;
    frame.into()
}

fn id(number: usize) -> JobId {
    let mut id = B256::ZERO;
    id[..8].copy_from_slice(&(number as u64).to_be_bytes());
    id
}

impl Pair {
    /// Has so many jobs with open streams.
    fn with_jobs(count: usize) -> Self {
        let mut pair = Self::open();
        for number in 0..count {
            assert!(pair.validator.push(Assignment { job_id: id(number), ..assignment() }));
        }
        pair.settle();
        pair
    }

    /// Sends frames, one job after the other, and returns how many are accepted before the session ends.
    fn flood(&mut self, jobs: usize, frame: impl Fn(JobId) -> Frame) -> usize {
        for heard in 0..10_000 {
            let job = id(heard % jobs);
            let frame = frame(job);
            let bytes = encode(&frame).len();
            self.validator.job(job, frame, bytes, self.now_ms);
            self.settle();
            if let Some(reason) = self.parted.first() {
                assert_eq!(*reason, CloseReason::TooFast);
                return heard;
            }
        }
        panic!("nothing ends this session");
    }

    fn transactions(&self) -> usize {
        let is_one = |event: &&Event| matches!(event, Event::Transaction(..));
        self.seen_by_validator.iter().filter(is_one).count()
    }
}

#[test]
fn job_flood_closes_the_session() {
    // What an assignment is good for, what may be on its way, and what a session may say besides.
    assert_eq!(Pair::with_jobs(1).flood(1, progress), 32 + 16 + 64);
    assert_eq!(Pair::with_jobs(5).flood(5, progress), 5 * (32 + 16) + 64);
}

#[test]
fn large_frames_cost_more_budget() {
    let key = key();
    let mut pair = Pair::with_jobs(1);
    let heard = pair.flood(1, |job| result(&key, job, 128 * 1024));
    assert_eq!(heard, 5 + 8, "of nine tokens each");
    assert_eq!(pair.transactions(), heard, "1.6 MiB in all");
}

#[test]
fn honest_session_survives_500_jobs_per_second() {
    let mut pair = Pair::open();
    for number in 0..1_000 {
        pair.now_ms += 2;
        let job = id(number);
        if number % 50 == 0 {
            let head = Head { height: 101 + number as u64 / 50, subset_epoch: EPOCH };
            pair.validator.head(head, &pair.chain);
        }
        assert!(pair.validator.push(Assignment { job_id: job, ..assignment() }));
        pair.settle();
        pair.runner.ack(job, AckStatus::Accepted, None);
        (1..10).for_each(|tenth| pair.runner.progress(job, tenth * 10, None));
        assert!(pair.runner.result(job, b"commit".to_vec()));
        assert!(pair.runner.result(job, b"reveal".to_vec()));
        pair.settle();
        pair.validator.cancel(job, CancelReason::Failed);
        pair.settle();
        assert_eq!(pair.parted, [], "after {number} jobs");
    }
    assert_eq!(pair.transactions(), 2_000);
    assert!(pair.validator.present());
}

#[test]
fn resends_are_throttled_and_keep_the_session() {
    let mut pair = Pair::with_jobs(1);
    for number in 0..100 {
        assert!(pair.runner.result(id(0), vec![number; 100_000]));
    }
    pair.settle();
    assert_eq!(pair.transactions(), 4, "of seven tokens each");
    for height in 101..104 {
        pair.head(height);
        pair.settle();
    }
    let newest = Event::Transaction(id(0), vec![99; 100_000]);
    assert_eq!(pair.seen_by_validator.last(), Some(&newest), "the last one said");
    assert_eq!((pair.transactions(), &pair.parted[..]), (5, &[][..]));
}

/// What has been said and not heard, each way.
#[derive(Default)]
struct Wire {
    to_validator: VecDeque<Output<runner::Event>>,
    to_runner: VecDeque<Output<Event>>,
    /// The newest block that the runner has heard of.
    told: u64,
}

impl Wire {
    fn hear(&mut self, pair: &mut Pair) {
        while let Some(output) = pair.runner.poll() {
            if let Output::Event(runner::Event::Assigned(assigned)) = &output {
                pair.runner.ack(assigned.job_id, AckStatus::Accepted, Some("because".to_owned()));
            }
            self.to_validator.push_back(output);
        }
        self.to_runner.extend(std::iter::from_fn(|| pair.validator.poll()));
    }

    fn validator_hears(&mut self, pair: &mut Pair) {
        match self.to_validator.pop_front() {
            Some(Output::Control(frame)) => pair.validator.control(frame, 0, &mut pair.chain),
            Some(Output::Job(job, frame)) => {
                let bytes = encode(&frame).len();
                pair.validator.job(job, frame, bytes, 0);
            }
            Some(Output::FinishJob(job)) => pair.validator.job_closed(job),
            _ => {}
        }
    }

    fn runner_hears(&mut self, pair: &mut Pair) {
        match self.to_runner.pop_front() {
            Some(Output::Control(frame)) => {
                if let Frame::HeartbeatPong(pong) = &frame {
                    self.told = self.told.max(pong.block_height);
                }
                pair.runner.control(frame, 0);
            }
            Some(Output::OpenJob(_, frame)) => _ = pair.runner.job(None, frame, 300, 0),
            Some(Output::Job(job, frame)) => _ = pair.runner.job(Some(job), frame, 300, 0),
            Some(Output::FinishJob(job)) => pair.runner.job_closed(job),
            Some(Output::Event(_) | Output::Close(_)) | None => {}
        }
    }
}

proptest! {
    /// No clock helps: everything happens in the same millisecond, but for blocks.
    #[test]
    fn honest_runner_never_exceeds_its_budget(
        steps in proptest::collection::vec((0..8u8, 0..4usize, 0..140_000usize), 1..600)
    ) {
        let mut pair = Pair::open();
        let (mut wire, mut height) = (Wire { told: 100, ..Wire::default() }, 100);
        let mut pushed = 0;
        for (what, older, bytes) in steps {
            let job = id(usize::saturating_sub(pushed, older));
            match what {
                0 => {
                    pushed += 1;
                    pair.validator.push(Assignment { job_id: id(pushed), ..assignment() });
                }
                // Who is further behind is absent.
                1 if height < wire.told + 15 => {
                    height += 1;
                    pair.validator.head(Head { height, subset_epoch: EPOCH }, &pair.chain);
                }
                2 => pair.validator.cancel(job, CancelReason::Failed),
                3 => (0..20).for_each(|_| pair.runner.progress(job, 50, None)),
                4 => _ = pair.runner.result(job, vec![7; bytes]),
                5 => _ = pair.runner.result(job, vec![7; bytes % 1_000]),
                6 => wire.validator_hears(&mut pair),
                _ => wire.runner_hears(&mut pair),
            }
            wire.hear(&mut pair);
            let over = |output: &Output<Event>| matches!(output, Output::Close(_));
            prop_assert!(!wire.to_runner.iter().any(over));
        }
    }
}

#[test]
fn validator_over_its_rate_limit_is_throttled() {
    let mut pair = Pair::with_jobs(1);
    let handover = Handover {
        job_id: id(0),
        runner: [1; 20],
        sealed: vec![7; 60_000],
        runner_signed: [0; 65],
    };
    let mut heard = 0;
    while pair.runner.job_ready_ms(pair.now_ms).is_none() {
        pair.runner.job(Some(id(0)), handover.clone().into(), 60_200, pair.now_ms);
        heard += 1;
    }
    assert_eq!(heard, 4_096 / 4, "of four tokens each");
    let ready = pair.runner.job_ready_ms(0).expect("later");
    assert_eq!(pair.runner.job_ready_ms(ready), None);
    pair.runner.job(Some(id(0)), handover.into(), 60_200, ready);
    pair.settle();
    assert_eq!(pair.parted, []);
}

#[test]
fn new_subset_epoch_is_announced_with_its_first_block() {
    let mut pair = Pair::open();
    pair.head(101);
    pair.settle();
    let head = Head { height: 102, subset_epoch: EPOCH + 1 };
    pair.validator.head(head, &pair.chain);
    pair.settle();
    pair.validator.head(Head { height: 103, ..head }, &pair.chain);
    pair.settle();
    use runner::Event::{Epoch, Head as Told, Opened};
    let told = [Opened, Told(101), Epoch(EPOCH + 1), Told(102), Told(103)];
    assert_eq!(pair.seen_by_runner, told);
}

#[test]
fn reconnecting_runner_learns_the_current_epoch() {
    let mut pair = Pair::new();
    pair.runner = runner_session_of(&key(), [7; 32], EPOCH - 1);
    pair.settle();
    assert_eq!(pair.seen_by_runner, [runner::Event::Opened, runner::Event::Epoch(EPOCH)]);
    let mut pair = Pair::new();
    pair.runner = runner_session_of(&key(), [7; 32], EPOCH + 1);
    pair.settle();
    assert_eq!(pair.seen_by_runner, [runner::Event::Opened], "this one is behind");
}

// spec §9.10
#[test]
fn validator_with_another_key_is_refused() {
    let mut session = runner_session(&key(), [7; 32]);
    session.poll();
    let other = Identity::from_seed(&[6; 32]).unwrap().key();
    let greeting = Hello {
        party_pubkey: other.to_vec(),
        party_role: Role::Validator,
        challenge_nonce: [2; 32],
        ..hello(&key())
    };
    session.control(greeting.clone().into(), 0);
    assert_eq!(session.poll(), Some(Output::Control(CloseReason::Malformed.goodbye())));
    let mut session = runner_session(&key(), [7; 32]);
    session.poll();
    let far =
        Hello { party_pubkey: identity().key().to_vec(), subset_epoch: EPOCH + 2, ..greeting };
    session.control(far.into(), 0);
    assert_eq!(session.poll(), Some(Output::Control(CloseReason::WrongEpoch.goodbye())));
}

#[test]
fn place_has_the_address_of_the_key() {
    assert_eq!(place().address, key().public_key().address().unwrap());
    assert_ne!(place().address, Address::ZERO);
}
