//! What fuzzers call: any bytes, and the properties that must hold for them.

use crate::frame::{AckStatus, BackpressureSignal, CancelReason, CloseReason, Frame, Handover};
use crate::frame::{RejectReason, Role};
use crate::session::validator::{Admittance, Assignment, Head, Outcome, Place};
use crate::session::{Output, TEXT_LIMIT, runner, validator};
use crate::sign::{self, HandshakeTranscript, Identity};
use crate::wire::{CONTROL_LIMIT, FrameDecoder, JOB_LIMIT, WireError, decode, encode};
use remuda_protocol::crypto::{PublicKey, SecretKey};
use remuda_protocol::primitives::{B256, JobId, Slot};
use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};

const CHAIN: u64 = 7;
const EPOCH: u64 = 3;
const START: u64 = 100;
const EXPORTER: [u8; 32] = [7; 32];
/// What the two sessions of the fuzzed world say in their Hellos.
pub const NONCES: ([u8; 32], [u8; 32]) = ([1; 32], [2; 32]);
/// What a session says to one thing that it is told: an answer and an event, or a presence, a
/// goodbye and the end.
const ANSWERS_MAX: usize = 3;
/// Further outputs of a runner after a block: a subset epoch, and the waiting transactions of four jobs.
const MORE_OF_RUNNER: usize = 1 + 4;

/// Bytes are a stream that comes in pieces, and are also things that happen to two sessions. Returns
/// what the sessions' owners heard of.
pub fn frame(bytes: &[u8]) -> BTreeSet<&'static str> {
    stream(bytes);
    let mut world = World::new();
    let mut rest = bytes;
    // What happens, a number with it, how many bytes with it: so a stream of frames is a script, too.
    while let [what, number, high, low, tail @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(tail.len());
        let (body, after) = tail.split_at(length);
        rest = after;
        world.step(*what, *number, body);
    }
    world.heard
}

/// An input for [`frame`] from what happens.
pub fn script(steps: &[(u8, u8, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (what, number, body) in steps {
        out.extend_from_slice(&[*what, *number]);
        out.extend_from_slice(&(body.len() as u16).to_be_bytes());
        out.extend_from_slice(body);
    }
    out
}

/// Decoding does not depend on how the stream is split, and round-trips.
fn stream(bytes: &[u8]) {
    for limit in [CONTROL_LIMIT, JOB_LIMIT] {
        let whole = cut(bytes, limit, |_| usize::MAX);
        // The bytes themselves say where.
        let pieces = cut(bytes, limit, |first| usize::from(first) + 1);
        assert_eq!(whole, pieces, "a cut made a difference");
        for frame in &whole.0 {
            sound(frame);
        }
    }
}

fn cut(
    bytes: &[u8],
    limit: usize,
    length: impl Fn(u8) -> usize,
) -> (Vec<Frame>, Option<WireError>) {
    let (mut decoder, mut frames, mut rest) = (FrameDecoder::new(limit), Vec::new(), bytes);
    while let [first, ..] = rest {
        let (now, later) = rest.split_at(length(*first).min(rest.len()));
        decoder.push(now);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
        assert!(decoder.buffered() < 4 + limit, "it waits for more than a frame");
        rest = later;
    }
    (frames, None)
}

/// Checks that a frame round-trips. Returns its length.
fn sound(frame: &Frame) -> usize {
    let bytes = encode(frame);
    assert_eq!(decode(&bytes[4..]).as_ref(), Ok(frame));
    bytes.len() - 4
}

/// The runner of the fuzzed world.
pub fn key() -> &'static SecretKey {
    static KEY: OnceLock<SecretKey> = OnceLock::new();
    KEY.get_or_init(|| SecretKey::from_label("fuzz"))
}

pub fn identity() -> &'static Arc<Identity> {
    static IDENTITY: OnceLock<Arc<Identity>> = OnceLock::new();
    IDENTITY.get_or_init(|| Arc::new(Identity::from_seed(&[5; 32]).expect("32 bytes")))
}

/// A job of the fuzzed world.
pub fn job(number: u8) -> JobId {
    B256::repeat_byte(number % 4)
}

/// The registry's answer.
struct Chain(Result<Place, CloseReason>);

impl Chain {
    fn place() -> Place {
        Place { address: key().address(), slot: Slot(2) }
    }
}

impl Admittance for Chain {
    fn admit_source(&mut self, _: u64, _: IpAddr) -> Result<(), CloseReason> {
        Ok(())
    }

    fn place(&self, who: &PublicKey) -> Result<Place, CloseReason> {
        if *who == key().public_key() { self.0 } else { Err(CloseReason::NotRegistered) }
    }

    fn admit_session(&mut self, _: u64, _: Place) -> Result<(), CloseReason> {
        Ok(())
    }
}

/// Frames in flight from one side.
struct Side<E> {
    said: VecDeque<Output<E>>,
    open: bool,
    over: bool,
}

impl<E> Side<E> {
    fn new() -> Self {
        Self { said: VecDeque::new(), open: false, over: false }
    }

    /// Checks an output: none follows the end, and each is within the peer's limits.
    fn says(&mut self, output: Output<E>) {
        assert!(!self.over, "it spoke after its end");
        match &output {
            Output::Control(frame) => assert!(sound(frame) <= CONTROL_LIMIT),
            Output::OpenJob(_, frame) | Output::Job(_, frame) => {
                assert!(sound(frame) <= JOB_LIMIT);
            }
            Output::Close(_) => self.over = true,
            Output::FinishJob(_) | Output::Event(_) => {}
        }
        self.said.push_back(output);
    }
}

struct World {
    chain: Chain,
    now_ms: u64,
    height: u64,
    validator: validator::Session,
    from_validator: Side<validator::Event>,
    present: bool,
    runner: runner::Session,
    from_runner: Side<runner::Event>,
    heard: BTreeSet<&'static str>,
}

impl World {
    fn new() -> Self {
        let settings = validator::Settings {
            chain_id: CHAIN,
            me: identity().key(),
            signer: identity().clone(),
            presence_timeout: 15,
            ack_timeout: 15,
            transaction_bytes_max: 131_072,
        };
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let head = Head { height: START, subset_epoch: EPOCH };
        let validator =
            validator::Session::new(Arc::new(settings), here, EXPORTER, NONCES.1, head, 0);
        let settings = runner::Settings {
            chain_id: CHAIN,
            key: key().clone(),
            validator: identity().key(),
            subset_epoch: EPOCH,
        };
        let mut world = Self {
            chain: Chain(Ok(Chain::place())),
            now_ms: 0,
            height: START,
            validator,
            from_validator: Side::new(),
            present: false,
            runner: runner::Session::new(settings, EXPORTER, NONCES.0, START, 0),
            from_runner: Side::new(),
            heard: BTreeSet::new(),
        };
        world.listen(ANSWERS_MAX);
        world
    }

    fn step(&mut self, what: u8, number: u8, body: &[u8]) {
        let signed = what & 0x80 != 0;
        let mut answers_max = ANSWERS_MAX;
        match what & 0x0F {
            0..=4 => self.frame(what & 0x0F, number, body, signed),
            5 => self.carry(),
            6 => {
                self.height += u64::from(number);
                let head = Head { height: self.height, subset_epoch: EPOCH };
                self.validator.head(head, &self.chain);
                // There are four jobs, and each may have failed.
                answers_max += 2 * 4;
            }
            7 => {
                self.validator.push(Assignment {
                    job_id: job(number),
                    attempt: 0,
                    job_spec: body.to_vec(),
                    block_height: self.height,
                    deadline_block: self.height + 60,
                });
            }
            8 => self.validator.cancel(job(number), CancelReason::Expired),
            9 => {
                self.now_ms += u64::from(number) * 100;
                self.validator.tick(self.now_ms);
                self.runner.tick(self.now_ms);
            }
            10 => self.work(number, body),
            11 => self.validator.handover(Handover {
                job_id: job(number),
                runner: [number; 20],
                sealed: body.to_vec(),
                runner_signed: [number; 65],
            }),
            12 => {
                self.validator.job_closed(job(number));
                self.runner.job_closed(job(number));
            }
            13 => {
                self.chain.0 = match number % 5 {
                    0 => Ok(Chain::place()),
                    1 => Ok(Place { slot: Slot(3), ..Chain::place() }),
                    2 => Err(CloseReason::NotRegistered),
                    3 => Err(CloseReason::Jailed),
                    _ => Err(CloseReason::WrongSubset),
                }
            }
            14 => match number % 3 {
                0 => self.validator.close(CloseReason::Shutdown),
                1 => self.runner.close(CloseReason::Shutdown),
                _ => {
                    self.validator.lost();
                    self.listen(ANSWERS_MAX);
                    self.from_validator.over = true;
                }
            },
            _ => self.runner.update_height(self.height + u64::from(number)),
        }
        self.listen(answers_max);
    }

    /// A forged frame, perhaps with a valid signature.
    fn frame(&mut self, to: u8, number: u8, body: &[u8], signed: bool) {
        let frame = match decode(body) {
            Ok(frame) if signed => sign(frame),
            Ok(frame) => frame,
            Err(_) if to < 2 => return self.validator.close(CloseReason::Malformed),
            Err(_) => return self.runner.close(CloseReason::Malformed),
        };
        match to {
            0 => self.validator.control(frame, self.now_ms, &mut self.chain),
            1 => self.validator.job(job(number), frame, 4 + body.len(), self.now_ms),
            2 => self.runner.control(frame, self.now_ms),
            3 => drop(self.runner.job(None, frame, 4 + body.len(), self.now_ms)),
            _ => drop(self.runner.job(Some(job(number)), frame, 4 + body.len(), self.now_ms)),
        }
    }

    /// Delivers the frames in flight.
    fn carry(&mut self) {
        for output in std::mem::take(&mut self.from_runner.said) {
            match output {
                Output::Control(frame) => {
                    self.validator.control(frame, self.now_ms, &mut self.chain);
                }
                Output::Job(job, frame) => {
                    let bytes = 4 + sound(&frame);
                    self.validator.job(job, frame, bytes, self.now_ms);
                }
                Output::FinishJob(job) => self.validator.job_closed(job),
                Output::OpenJob(..) => panic!("runners open no streams"),
                Output::Event(_) | Output::Close(_) => {}
            }
            self.listen(ANSWERS_MAX);
        }
        for output in std::mem::take(&mut self.from_validator.said) {
            match output {
                Output::Control(frame) => self.runner.control(frame, self.now_ms),
                Output::OpenJob(_, frame) => {
                    let bytes = 4 + sound(&frame);
                    self.runner.job(None, frame, bytes, self.now_ms);
                }
                Output::Job(job, frame) => {
                    let bytes = 4 + sound(&frame);
                    self.runner.job(Some(job), frame, bytes, self.now_ms);
                }
                Output::FinishJob(job) => self.runner.job_closed(job),
                Output::Event(_) | Output::Close(_) => {}
            }
            self.listen(ANSWERS_MAX);
        }
    }

    /// What the runner's owner does.
    fn work(&mut self, number: u8, body: &[u8]) {
        let (job, text) = (job(number), String::from_utf8_lossy(body).into_owned());
        match number / 4 % 8 {
            0 => self.runner.ack(job, AckStatus::Accepted, Some(text)),
            1 => self.runner.ack(job, AckStatus::Duplicate, None),
            2 => self.runner.ack(job, AckStatus::Reject(RejectReason::Capacity), None),
            3 => self.runner.progress(job, number, Some(text)),
            4 => drop(self.runner.result(job, body.to_vec())),
            5 => self.runner.finish(job),
            6 => self.runner.load(BackpressureSignal {
                active_jobs: 1,
                max_concurrent: 4,
                accepting_new: body.is_empty(),
                reason: Some(text),
            }),
            _ => self.runner.capability(vec![text.clone()], vec![text]),
        }
    }

    /// Hears both sides out. Owners hear of an opened session first, and nothing twice.
    fn listen(&mut self, answers_max: usize) {
        let mut answers = 0;
        while let Some(output) = self.validator.poll() {
            answers += 1;
            if let Output::Event(event) = &output {
                self.validator_event(event);
            }
            self.from_validator.says(output);
        }
        assert!(answers <= answers_max, "a validator said {answers} things at once");
        assert_eq!(self.validator.present(), self.present, "its owner believes something else");
        assert!(!self.from_validator.over || self.validator.place().is_none());
        answers = 0;
        while let Some(output) = self.runner.poll() {
            answers += 1;
            if let Output::Event(event) = &output {
                self.runner_event(event);
            }
            self.from_runner.says(output);
        }
        let answers_max = answers_max + MORE_OF_RUNNER;
        assert!(answers <= answers_max, "a runner said {answers} things at once");
        assert!(!self.from_runner.over || !self.runner.open());
    }

    fn validator_event(&mut self, event: &validator::Event) {
        use validator::Event;
        let side = &mut self.from_validator;
        assert_eq!(side.open, !matches!(event, Event::Opened(_)), "{event:?} has no place here");
        self.heard.insert(match event {
            Event::Opened(_) => {
                side.open = true;
                "Opened"
            }
            Event::Presence(present) => {
                assert_ne!(*present, self.present, "that is no news");
                self.present = *present;
                "Presence"
            }
            Event::Progress(progress) => {
                assert!(progress.fraction <= 100);
                assert!(progress.detail.as_ref().is_none_or(|text| text.len() <= TEXT_LIMIT));
                "Progress"
            }
            Event::Load(load) => {
                assert!(load.reason.as_ref().is_none_or(|text| text.len() <= TEXT_LIMIT));
                "Load"
            }
            Event::Outcome(_, Outcome::Success) => "Success",
            Event::Outcome(_, Outcome::Duplicate) => "Duplicate",
            Event::Outcome(_, Outcome::SoftFailure) => "SoftFailure",
            Event::Outcome(_, Outcome::HardFailure) => "HardFailure",
            Event::Transaction(..) => "Transaction",
            Event::NoStream(_) => "NoStream",
        });
    }

    fn runner_event(&mut self, event: &runner::Event) {
        use runner::Event;
        let side = &mut self.from_runner;
        match event {
            Event::Opened => {
                assert!(!side.open, "it opened twice");
                side.open = true;
            }
            Event::Assigned(_) | Event::Cancelled(_) | Event::Handover(_) => assert!(side.open),
            Event::Goodbye(word) => assert!(word.len() <= TEXT_LIMIT),
            Event::Epoch(epoch) => assert!(*epoch > EPOCH && side.open),
            Event::Head(_) => {}
        }
        self.heard.insert(match event {
            Event::Opened => "Opened by the runner",
            Event::Assigned(_) => "Assigned",
            Event::Cancelled(_) => "Cancelled",
            Event::Handover(_) => "Handover",
            Event::Goodbye(_) => "Goodbye",
            Event::Head(_) => "Head",
            Event::Epoch(_) => "Epoch",
        });
    }
}

/// No fuzzer guesses a signature, so it is helped to get behind them.
fn sign(mut frame: Frame) -> Frame {
    use crate::session::validator::Signer as _;
    let (me, to) = (identity().key(), key().public_key());
    match &mut frame {
        Frame::HelloAck(ack) => {
            let transcript = HandshakeTranscript {
                chain_id: CHAIN,
                exporter: EXPORTER,
                nonce_runner: NONCES.0,
                nonce_validator: NONCES.1,
                runner: to,
                validator: me,
                subset_epoch: EPOCH,
            };
            let digest = transcript.digest(ack.party_role);
            ack.signed_challenge = match ack.party_role {
                Role::Runner => key().sign(&digest).bytes.to_vec(),
                Role::Validator => identity().sign(&digest).to_vec(),
            };
        }
        Frame::HeartbeatPing(ping) => {
            let digest = sign::ping(CHAIN, &me, ping.block_height, ping.nonce);
            ping.signed = key().sign(&digest).bytes;
        }
        Frame::HeartbeatPong(pong) => {
            let digest = sign::pong(CHAIN, &to, pong.block_height, pong.subset_epoch);
            pong.validator_signed = identity().sign(&digest);
        }
        Frame::CapabilityDelta(delta) => {
            delta.signed = key().sign(&sign::capability(CHAIN, &me, delta)).bytes;
        }
        Frame::JobAssignment(assignment) => {
            let digest = sign::assignment(CHAIN, &to, assignment);
            assignment.validator_signed = identity().sign(&digest);
        }
        Frame::JobAck(ack) => ack.signed = key().sign(&sign::ack(CHAIN, &me, ack)).bytes,
        Frame::JobResult(result) => {
            result.runner_signed = key().sign(&sign::result(CHAIN, &me, result)).bytes;
        }
        Frame::JobCancel(cancel) => {
            cancel.validator_signed = identity().sign(&sign::cancel(CHAIN, &to, cancel));
        }
        Frame::Hello(_)
        | Frame::BackpressureSignal(_)
        | Frame::JobProgress(_)
        | Frame::Handover(_)
        | Frame::Goodbye(_) => {}
    }
    frame
}
