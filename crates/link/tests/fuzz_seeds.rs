//! The inputs that the fuzzer of frames starts from: whole lives of sessions, and one frame of each
//! kind.
//!
//! They are committed under `fuzz/seeds/frame`. This test regenerates and compares them, so that they
//! stay valid. After a change of a frame or of the fuzzed world run it once with REMUDA_PIN=1.

use remuda_link::frame::{
    AckStatus, BackpressureSignal, CancelReason, CapabilityDelta, CloseReason, Frame, Handover,
    HeartbeatPing, HeartbeatPong, Hello, HelloAck, JobAck, JobAssignment, JobCancel, JobProgress,
    JobResult, Role, VERSION,
};
use remuda_link::fuzz::{self, NONCES, identity, job, key, script};
use remuda_link::wire::encode;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// See [`fuzz::frame`]: what happens, with which number, with which bytes.
type Step = (u8, u8, Vec<u8>);

const SIGNED: u8 = 0x80;
const CARRY: Step = (5, 0, Vec::new());

fn hello(role: Role) -> Frame {
    let (party_pubkey, challenge_nonce) = match role {
        Role::Runner => (key().public_key().bytes.to_vec(), NONCES.0),
        Role::Validator => (identity().key().to_vec(), NONCES.1),
    };
    let (version, block_height, subset_epoch) = (VERSION, 100, 3);
    Hello { version, party_pubkey, party_role: role, block_height, challenge_nonce, subset_epoch }
        .into()
}

fn hello_ack(role: Role) -> Frame {
    let Frame::Hello(hello) = hello(role) else { unreachable!() };
    HelloAck {
        version: VERSION,
        party_pubkey: hello.party_pubkey,
        party_role: role,
        signed_challenge: Vec::new(),
        block_height: 100,
    }
    .into()
}

fn ping(nonce: u64) -> Frame {
    HeartbeatPing { block_height: 100, nonce, signed: [0; 65] }.into()
}

fn load(accepting_new: bool) -> Frame {
    let reason = Some("a reason".to_owned());
    BackpressureSignal { active_jobs: 1, max_concurrent: 4, accepting_new, reason }.into()
}

fn capability() -> Frame {
    CapabilityDelta {
        block_height: 100,
        added_capabilities: vec!["http".to_owned()],
        removed_capabilities: vec!["wasm".to_owned()],
        added_entitlements: Vec::new(),
        removed_entitlements: Vec::new(),
        signed: [0; 65],
    }
    .into()
}

fn assignment() -> Frame {
    JobAssignment {
        job_id: job(1),
        attempt: 0,
        job_spec: b"spec".to_vec(),
        block_height: 100,
        deadline_block: 160,
        validator_signed: [0; 64],
    }
    .into()
}

fn ack(status: AckStatus) -> Frame {
    JobAck { job_id: job(1), status, reason: None, signed: [0; 65] }.into()
}

fn progress() -> Frame {
    JobProgress { job_id: job(1), fraction: 50, detail: Some("half".to_owned()) }.into()
}

fn result() -> Frame {
    JobResult { job_id: job(1), result_data: b"signed".to_vec(), runner_signed: [0; 65] }.into()
}

fn cancel() -> Frame {
    JobCancel { job_id: job(1), reason: CancelReason::Expired, validator_signed: [0; 64] }.into()
}

fn handover() -> Frame {
    let (runner, sealed) = ([1; 20], b"sealed".to_vec());
    Handover { job_id: job(1), runner, sealed, runner_signed: [0; 65] }.into()
}

fn pong(block_height: u64) -> Frame {
    HeartbeatPong { block_height, subset_epoch: 4, validator_signed: [0; 64] }.into()
}

/// A frame that somebody made up, and signed.
fn made_up(to: u8, frame: &Frame) -> Step {
    (to | SIGNED, 1, encode(frame)[4..].to_vec())
}

fn all_kinds() -> Vec<u8> {
    let frames = [
        hello(Role::Runner),
        hello_ack(Role::Runner),
        ping(1),
        pong(101),
        load(true),
        capability(),
        assignment(),
        ack(AckStatus::Accepted),
        progress(),
        result(),
        cancel(),
        handover(),
        CloseReason::Shutdown.goodbye(),
    ];
    frames.iter().flat_map(encode).collect()
}

/// Two honest sessions.
fn life() -> Vec<u8> {
    let owner = |what: u8, job: u8| (10, what * 4 + job, b"half".to_vec());
    let mut steps = vec![CARRY, CARRY, CARRY, (6, 1, Vec::new()), CARRY];
    steps.extend([(7, 1, b"spec".to_vec()), (7, 2, Vec::new()), (7, 3, Vec::new()), CARRY]);
    steps.extend([owner(0, 1), owner(1, 2), owner(2, 3), owner(3, 1), owner(4, 1), CARRY]);
    steps.extend([owner(6, 0), owner(7, 0), (11, 1, b"sealed".to_vec()), (9, 10, Vec::new())]);
    steps.extend([CARRY, (8, 1, Vec::new()), owner(5, 2), (12, 2, Vec::new()), CARRY]);
    // One that nobody answers, and one that finds another place.
    steps.extend([(7, 0, b"late".to_vec()), (15, 3, Vec::new()), (6, 16, Vec::new()), CARRY]);
    steps.extend([(13, 1, Vec::new()), (6, 1, Vec::new()), CARRY, (14, 1, Vec::new())]);
    script(&steps)
}

/// A runner's words, made up.
fn runner() -> Vec<u8> {
    let control = [hello(Role::Runner), hello_ack(Role::Runner), ping(1), load(false), load(true)];
    let mut steps: Vec<Step> = control.iter().map(|frame| made_up(0, frame)).collect();
    steps.extend([made_up(0, &capability()), (7, 1, b"spec".to_vec())]);
    let words = [ack(AckStatus::Accepted), progress(), result()];
    steps.extend(words.iter().map(|frame| made_up(1, frame)));
    steps.push(made_up(0, &CloseReason::Shutdown.goodbye()));
    script(&steps)
}

/// A validator's words, made up.
fn validator() -> Vec<u8> {
    let control = [hello(Role::Validator), hello_ack(Role::Validator), pong(101)];
    let mut steps: Vec<Step> = control.iter().map(|frame| made_up(2, frame)).collect();
    steps.extend([made_up(3, &assignment()), made_up(4, &handover()), made_up(4, &cancel())]);
    steps.push(made_up(2, &CloseReason::Jailed.goodbye()));
    script(&steps)
}

/// What an owner still says when its session is over.
fn after_the_end() -> Vec<u8> {
    let mut steps = vec![CARRY, CARRY, CARRY, (7, 1, b"spec".to_vec()), CARRY, (14, 1, Vec::new())];
    steps.extend((0..8).map(|what| (10, what * 4 + 1, b"late".to_vec())));
    steps.extend([(15, 9, Vec::new()), (14, 0, Vec::new()), (6, 1, Vec::new())]);
    steps.extend([(7, 2, Vec::new()), (8, 1, Vec::new()), (11, 1, Vec::new()), CARRY]);
    script(&steps)
}

/// Strings, lists and maps that say they have 2^62 entries.
fn lies() -> Vec<u8> {
    let steps = [0x5B, 0x7B, 0x9B, 0xBB].map(|major| {
        let mut body = vec![0x13, 0xA1, 0x72];
        body.extend_from_slice(b"added_capabilities");
        body.push(major);
        body.extend_from_slice(&(1u64 << 62).to_be_bytes());
        (0, 0, body)
    });
    script(&steps)
}

fn compare(expected: &BTreeMap<&'static str, Vec<u8>>) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/frame");
    for (name, bytes) in expected {
        let path = folder.join(name);
        if std::env::var_os("REMUDA_PIN").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, bytes).unwrap();
        }
        let committed = std::fs::read(&path).unwrap_or_default();
        assert!(committed == *bytes, "fuzz/seeds/frame/{name} is stale: run with REMUDA_PIN=1");
    }
}

#[test]
fn fuzzers_start_from_inputs_that_reach_everything() {
    let seeds = BTreeMap::from([
        ("kinds", all_kinds()),
        ("life", life()),
        ("runner", runner()),
        ("validator", validator()),
        ("after", after_the_end()),
        ("lies", lies()),
    ]);
    compare(&seeds);
    let heard: BTreeSet<&str> = seeds.values().flat_map(|bytes| fuzz::frame(bytes)).collect();
    let all = [
        "Assigned",
        "Cancelled",
        "Duplicate",
        "Epoch",
        "Goodbye",
        "Handover",
        "HardFailure",
        "Head",
        "Load",
        "NoStream",
        "Opened",
        "Opened by the runner",
        "Presence",
        "Progress",
        "SoftFailure",
        "Success",
        "Transaction",
    ];
    assert_eq!(heard, BTreeSet::from(all));
}
