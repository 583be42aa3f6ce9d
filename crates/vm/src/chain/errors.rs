//! What a program sees of the chain's refusals and answers.

use remuda_protocol::actors::Answered;
use remuda_protocol::error::Refusal;

use super::convert;
use crate::{HostError, HostErrorKind as Kind, HostValue, Raised};

/// Which exception a refusal is.
fn kind(refusal: Refusal) -> Kind {
    match refusal {
        Refusal::InsufficientBalance | Refusal::EscrowNotCovered => Kind::Funds,
        Refusal::UnknownJob
        | Refusal::UnknownTimer
        | Refusal::NoCode
        | Refusal::UnknownMethod
        | Refusal::UnknownRunner
        | Refusal::UnknownPool
        | Refusal::UnknownNamespace
        | Refusal::UnknownEntitlement => Kind::NotFound,
        Refusal::AskTimedOut => Kind::Timeout,
        Refusal::TooDeep => Kind::Depth,
        Refusal::Reentrant => Kind::Reentrant,
        Refusal::ReadOnly => Kind::ReadOnly,
        Refusal::ScopeUnavailable
        | Refusal::ActionUnavailable
        | Refusal::NoMachine
        | Refusal::ModeUnavailable => Kind::Unsupported,
        Refusal::StorageKeyTooLong
        | Refusal::ValueTooLong
        | Refusal::StorageFull
        | Refusal::EventTooLarge
        | Refusal::PayloadTooLong
        | Refusal::PayloadTooLarge
        | Refusal::TooManyWaiting
        | Refusal::TooManyOpen
        | Refusal::TooManyTimers
        | Refusal::TooManyHeld
        | Refusal::ScopeNameTooLong
        | Refusal::ActionNameTooLong
        | Refusal::FramesTooLarge
        | Refusal::HeightCrowded
        | Refusal::ExpiryCrowded
        | Refusal::WaitTooLong => Kind::Limit,
        Refusal::ExceptionRaised
        | Refusal::OutOfMemory
        | Refusal::OutOfCycles
        | Refusal::OutOfCells
        | Refusal::FramesUnreadable => Kind::Failed,
        _ => Kind::Refused,
    }
}

/// The exception for a refusal.
pub(super) fn host_error(refusal: Refusal, message: String) -> HostError {
    HostError { kind: kind(refusal), message }
}

/// The answer that a waiting call gets.
pub(super) fn answer(answer: &Answered) -> Result<HostValue, HostError> {
    match answer {
        Answered::Slept => Ok(HostValue::None),
        Answered::Returned(value) => Ok(HostValue::Bytes(value.clone())),
        Answered::Failed { code, message } => {
            let refusal = Refusal::from_code(*code).unwrap_or(Refusal::ExceptionRaised);
            // That it failed counts, not why.
            let kind = match kind(refusal) {
                kept @ (Kind::NotFound | Kind::Timeout) => kept,
                _ => Kind::Failed,
            };
            Err(HostError { kind, message: message.clone() })
        }
        Answered::Job(end) => match convert::failure(&end.status) {
            None => Ok(convert::job_end(end)),
            Some((kind, message)) => Err(HostError { kind, message: message.to_owned() }),
        },
    }
}

/// An exception in one line, with the place that it came from.
pub(super) fn raised(exception: &Raised) -> String {
    let Raised { kind, message, traceback } = exception;
    let place = traceback.last().map(|(function, line)| format!(" (line {line}, in {function})"));
    let colon = if message.is_empty() { "" } else { ": " };
    format!("{kind}{colon}{message}{}", place.unwrap_or_default())
}
