//! What a program can ask of the world around it. `HOST.md` beside this crate's manifest lists the calls,
//! `SDK.md` what the names of the public SDK become.
//!
//! Consensus: a change here forks the chain.

/// The host's answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum HostReply {
    Value(HostValue),
    /// Later: awaiting what the program gets suspends it until the host resumes it with this token.
    Pending(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// Decides which exception the program sees.
    pub kind: HostErrorKind,
    /// The message of that exception.
    pub message: String,
}

impl HostError {
    /// An error of this kind.
    pub fn new(kind: HostErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// What programs can tell apart of a refusal. Each is an exception of the module `cowboy`; all of them
/// derive from `cowboy.HostError`, and that from RuntimeError.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostErrorKind {
    /// The call or its arguments are not allowed, or do not exist.
    Refused,
    /// Nothing may be changed in a call that only reads.
    ReadOnly,
    /// There is no such actor, method, timer or job.
    NotFound,
    Funds,
    /// Too many calls inside each other.
    Depth,
    /// The actor is being called already.
    Reentrant,
    /// A bound of the chain.
    Limit,
    /// No answer came in time.
    Timeout,
    /// What was asked for was tried, and failed.
    Failed,
    /// The chain has nothing like it.
    Unsupported,
}

impl HostErrorKind {
    pub const ALL: [Self; 10] = [
        Self::Refused,
        Self::ReadOnly,
        Self::NotFound,
        Self::Funds,
        Self::Depth,
        Self::Reentrant,
        Self::Limit,
        Self::Timeout,
        Self::Failed,
        Self::Unsupported,
    ];

    /// Its name, as programs see it in the exception's `kind`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::ReadOnly => "read_only",
            Self::NotFound => "not_found",
            Self::Funds => "funds",
            Self::Depth => "depth",
            Self::Reentrant => "reentrant",
            Self::Limit => "limit",
            Self::Timeout => "timeout",
            Self::Failed => "failed",
            Self::Unsupported => "unsupported",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The class in the prelude.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Refused => "_Refused",
            Self::ReadOnly => "_ReadOnly",
            Self::NotFound => "_NotFound",
            Self::Funds => "_InsufficientFunds",
            Self::Depth => "_CallDepth",
            Self::Reentrant => "_Reentrant",
            Self::Limit => "_LimitReached",
            Self::Timeout => "_Timeout",
            Self::Failed => "_Failed",
            Self::Unsupported => "_Unsupported",
        }
    }
}

/// Values that cross between program and host.
#[derive(Clone, Debug, PartialEq)]
pub enum HostValue {
    None,
    Bool(bool),
    /// An integer of up to 64 bits.
    Int(i64),
    /// A larger integer, big-endian two's complement.
    Big(Vec<u8>),
    Float(f64),
    Str(String),
    Bytes(Vec<u8>),
    List(Vec<HostValue>),
    /// A dict, in its order.
    Dict(Vec<(HostValue, HostValue)>),
}

/// The world, as a program sees it. Calls charge before they act: the first answer is the price.
pub trait Host: Send {
    /// What a call costs in cycles, by its name and arguments; charged before `call`.
    fn price(&self, name: &str, args: &[HostValue]) -> u64;
    fn call(&mut self, name: &str, args: &[HostValue]) -> Result<HostReply, HostError>;
}
