//! What a program can ask of the world around it. `SDK.md` beside this crate's manifest says what the
//! names of the public SDK become.

/// The host's answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum HostReply {
    /// The value, at once.
    Value(HostValue),
    /// Later: awaiting what the program gets suspends it until the host resumes it with this token.
    Pending(u64),
}

/// Why the host refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// Shown to the program as the message of a RuntimeError.
    pub message: String,
}

/// Values that cross between program and host.
#[derive(Clone, Debug, PartialEq)]
pub enum HostValue {
    /// None.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer of up to 64 bits.
    Int(i64),
    /// A larger integer, big-endian two's complement.
    Big(Vec<u8>),
    /// A float.
    Float(f64),
    /// Text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list or tuple.
    List(Vec<HostValue>),
    /// A dict, in its order.
    Dict(Vec<(HostValue, HostValue)>),
}

/// The world, as a program sees it. Calls charge before they act: the first answer is the price.
pub trait Host: Send {
    /// What a call costs in cycles, by its name and arguments; charged before `call`.
    fn price(&self, name: &str, args: &[HostValue]) -> u64;
    /// Does it.
    fn call(&mut self, name: &str, args: &[HostValue]) -> Result<HostReply, HostError>;
}
