//! Actors: code on the chain.
//!
//! Consensus: a change here forks the chain.
//!
//! This module knows who is called when, within what limits, who pays, and what a failed call takes
//! back; what code means is the machine's business ([`Actors`]). [`NoActors`] is the machine of a chain
//! without code.
//!
//! - `deploy`: how code comes and changes
//! - `call`: how a call begins and ends; `host`, `entitle`: what a running call may ask for
//! - `storage`, `sorted_keys`: an actor's own data and their order
//! - `wait`: calls that wait for an answer over several blocks
//!
//! `rules/actors` has the records and the prices.

pub mod call;
mod deploy;
mod entitle;
pub mod host;
mod jobs;
mod sorted_keys;
pub mod storage;
pub mod wait;

use crate::base::error::Refusal;
use crate::base::primitives::{Address, JobId};
use crate::base::state::{View, read};
use crate::rules::dispatcher::job::Status;
use crate::rules::key::ActorKey;
use crate::rules::timers::agents::{AgentFault, BidAnswer, GbaContext, TimerCall};
use crate::rules::verifier::settle::VerifiedResult;
use core::fmt::Debug;
use host::Host;

/// Runs actors' code. The same call gives the same answer on every machine. Without the methods that have
/// a default no code can be deployed, wait or bid.
pub trait Actors: Debug + Send + Sync {
    /// Whether an actor has code. Without it a timer's fire calls nobody: it costs the fire itself,
    /// and no payload is read for it.
    fn has_code(&self, view: &dyn View, actor: Address) -> bool {
        read(view, &ActorKey { actor }).is_some()
    }

    /// Whether a text is a program, and which handlers it opens to others' jobs. Paid for by its length.
    fn check(&self, _source: &str) -> Result<Vec<String>, Refusal> {
        Err(Refusal::NoMachine)
    }

    /// Calls a method. What it consumes it takes through [`Host::charge`]; an error takes back
    /// everything it wrote, and is paid for.
    fn call(&self, host: &mut Host<'_, '_>, call: &Call<'_>) -> Result<Ended, Refusal>;

    /// Goes on with a call that waited for `token`.
    fn resume(
        &self,
        _host: &mut Host<'_, '_>,
        _frames: &[u8],
        _token: u64,
        _answer: &Answered,
    ) -> Result<Ended, Refusal> {
        Err(Refusal::NoMachine)
    }

    /// `getGasBid(context)` of an agent: read-only, so it gets a view and nothing to write to.
    fn gas_bid(&self, _view: &dyn View, _agent: Address, _context: &GbaContext) -> BidAnswer {
        BidAnswer { cycles: 0, bid: Err(AgentFault::NoCode) }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    pub method: &'c str,
    pub argument: Argument<'c>,
    /// Nothing happens if there is no such method; otherwise that is an error.
    pub optional: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Argument<'c> {
    Payload(&'c [u8]),
    Timer(&'c TimerCall),
    /// A job that ended. That of another submitter is only for a handler that the code marks as open.
    Job(&'c JobEnd),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEnd {
    pub job: JobId,
    pub submitter: Address,
    /// Settled, failed or cancelled.
    pub status: Status,
    /// What a settled job gave.
    pub result: Option<VerifiedResult>,
}

/// How a call ended for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Returned(Vec<u8>),
    Waits {
        /// For one of these tokens.
        tokens: Vec<u64>,
        frames: Vec<u8>,
    },
}

/// The answer that a waiting call gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    Slept,
    /// What the asked method returned.
    Returned(Vec<u8>),
    Job(JobEnd),
    Failed {
        code: u16,
        message: String,
    },
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NoActors;

impl Actors for NoActors {
    fn has_code(&self, _: &dyn View, _: Address) -> bool {
        false
    }

    fn call(&self, _: &mut Host<'_, '_>, _: &Call<'_>) -> Result<Ended, Refusal> {
        Err(Refusal::NoCode)
    }
}
