//! What the state keeps of an actor.

use crate::base::codec::{Bytes, codec_enum, codec_struct};
use crate::base::primitives::{Address, Amount, B256, Height, JobId};
use crate::rules::deposit::Held;

/// An actor. Its code and its data have keys of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Who may change its code.
    pub owner: Address,
    /// keccak256 of its code.
    pub code_hash: B256,
    pub code_bytes: u32,
    /// Bytes of its storage: values, keys with their place in the order, and a fixed part for each entry.
    pub storage_bytes: u64,
    /// Against what its code and its storage are held.
    pub held: Held,
    /// The key at the top of the order of its keys.
    pub root: Option<Bytes>,
    pub suspended: u32,
    /// Number of the next call that waits.
    pub next_frame: u64,
    /// The next thing to wait for.
    pub next_token: u64,
}
codec_struct!(Actor {
    owner,
    code_hash,
    code_bytes,
    storage_bytes,
    held,
    root,
    suspended,
    next_frame,
    next_token,
});

/// A key's neighbours in the order of an actor's keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyNode {
    /// The key above all smaller ones below this one.
    pub left: Option<Bytes>,
    /// The same for greater ones.
    pub right: Option<Bytes>,
}
codec_struct!(KeyNode { left, right });

/// A call that waits, without the machine's frames: noting an answer must not cost by their size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The method that was called.
    pub method: String,
    pub sender: Address,
    pub origin: Address,
    /// The call that waits for its return value.
    pub reply: Option<(Address, u64)>,
    /// The height at which its present wait began.
    pub since: Height,
    /// Tokens without an answer yet.
    pub open: Vec<u64>,
    /// What it waits for; nothing if its answer is on the way.
    pub awaits: Vec<u64>,
    /// Cycles that it wants for going on after each wait, besides loading its code.
    pub resume_cycles: u64,
    /// What the actor's balance holds it against.
    pub held: Amount,
}
codec_struct!(Frame { method, sender, origin, reply, since, open, awaits, resume_cycles, held });

/// Something that a call asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub frame: u64,
    pub on: WaitOn,
    pub deposit: Amount,
    pub cycles_limit: u64,
    /// What the actor's balance holds it against, with its answer.
    pub held: Amount,
    /// The answer, if the call was not yet waiting for it when it came.
    pub answer: Option<Answer>,
}
codec_struct!(Wait { frame, on, deposit, cycles_limit, held, answer });

/// What a call may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOn {
    Height {
        height: Height,
    },
    /// The end of a job.
    Job {
        job: JobId,
    },
    /// What another actor's method returns.
    Method {
        actor: Address,
    },
}
codec_enum!(WaitOn { 1 => Height { height }, 2 => Job { job }, 3 => Method { actor } });

/// An answer on its way. What the state has anyway is not repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Slept,
    Returned { value: Bytes },
    Job { job: JobId },
    Failed { code: u16, message: String },
}
codec_enum!(Answer {
    1 => Slept {},
    2 => Returned { value },
    3 => Job { job },
    4 => Failed { code, message },
});
