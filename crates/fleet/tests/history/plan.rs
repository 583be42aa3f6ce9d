//! What can happen.

use proptest::collection::vec;
use proptest::prelude::*;
use remuda_fleet::message::{CompleteStatus, Failure};

/// A step of a history. Runs, jobs and leases are named by a number, taken modulo what there is.
#[derive(Clone, Debug)]
pub enum Op {
    Submit(Vec<JobPlan>, Option<u32>, bool),
    Rerun(usize),
    Ask(u8, u8),
    Ack(usize),
    Beat(usize, u64),
    Complete(usize, CompleteStatus, Option<Failure>),
    CancelAck(usize),
    Log(usize, u64, u8),
    Upload(usize),
    /// Any of these messages, of somebody who has no right to send it.
    Steal(Box<Op>),
    CancelRun(usize),
    CancelJob(usize),
    Limit(u8, Option<u32>),
    /// Seconds, and whether a sweep comes then.
    Pass(u8, bool),
    Outage(u16),
    Start,
    /// A runner does its whole duty.
    Work(u8, CompleteStatus),
}

impl Op {
    /// The lease that a message is about.
    pub fn lease(&self) -> Option<usize> {
        match self {
            Self::Ack(n)
            | Self::Beat(n, _)
            | Self::Complete(n, ..)
            | Self::CancelAck(n)
            | Self::Log(n, ..)
            | Self::Upload(n) => Some(*n),
            Self::Steal(message) => message.lease(),
            _ => None,
        }
    }
}

/// A job of a run: needs are earlier jobs, one bit each.
#[derive(Clone, Debug)]
pub struct JobPlan {
    pub needs: u8,
    pub tags: u8,
    pub labels: u8,
    pub priority: i16,
    pub attempts: u32,
    pub on_timeout: bool,
    pub runtime: u32,
}

fn job() -> impl Strategy<Value = JobPlan> {
    let runtime = prop_oneof![Just(20_u32), Just(200), Just(3_600)];
    (0..8_u8, 0..4_u8, 0..4_u8, -1..2_i16, 1..4_u32, any::<bool>(), runtime).prop_map(
        |(needs, tags, labels, priority, attempts, on_timeout, runtime)| JobPlan {
            // Most jobs need nothing and fit anywhere.
            needs: needs.saturating_sub(4),
            tags: tags.saturating_sub(1),
            labels: labels.saturating_sub(1),
            priority,
            attempts,
            on_timeout,
            runtime,
        },
    )
}

fn status() -> impl Strategy<Value = CompleteStatus> {
    use CompleteStatus::*;
    prop_oneof![3 => Just(Succeeded), 2 => Just(Failed), 1 => Just(TimedOut)]
}

fn failure() -> impl Strategy<Value = Option<Failure>> {
    prop_oneof![
        3 => Just(None),
        1 => Just(Some(Failure::SpecInvalid)),
        1 => Just(Some(Failure::RunnerShutdown)),
    ]
}

/// What a runner says of its lease.
fn message() -> impl Strategy<Value = Op> {
    let which = 0..64_usize;
    prop_oneof![
        8 => which.clone().prop_map(Op::Ack),
        6 => (which.clone(), 0..20_u64).prop_map(|(lease, seq)| Op::Beat(lease, seq)),
        8 => (which.clone(), status(), failure())
            .prop_map(|(lease, status, failure)| Op::Complete(lease, status, failure)),
        3 => which.clone().prop_map(Op::CancelAck),
        2 => (which.clone(), 0..3_u64, 1..9_u8).prop_map(|(lease, n, len)| Op::Log(lease, n, len)),
        1 => which.prop_map(Op::Upload),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let which = 0..64_usize;
    let limit = proptest::option::of(1..3_u32);
    prop_oneof![
        3 => (vec(job(), 1..5), limit.clone(), any::<bool>())
            .prop_map(|(jobs, parallel, key)| Op::Submit(jobs, parallel, key)),
        1 => which.clone().prop_map(Op::Rerun),
        8 => (0..5_u8, 0..4_u8).prop_map(|(runner, tags)| Op::Ask(runner, tags)),
        28 => message(),
        2 => message().prop_map(|message| Op::Steal(Box::new(message))),
        1 => which.clone().prop_map(Op::CancelRun),
        3 => which.clone().prop_map(Op::CancelJob),
        1 => (0..3_u8, limit).prop_map(|(label, limit)| Op::Limit(label, limit)),
        8 => (1..20_u8, any::<bool>()).prop_map(|(seconds, sweep)| Op::Pass(seconds, sweep)),
        3 => (1..400_u16).prop_map(Op::Outage),
        1 => Just(Op::Start),
        4 => (0..5_u8, status()).prop_map(|(runner, status)| Op::Work(runner, status)),
    ]
}

pub fn history() -> impl Strategy<Value = Vec<Op>> {
    vec(op(), 1..160)
}
