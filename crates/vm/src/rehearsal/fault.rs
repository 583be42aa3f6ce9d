//! Failures of calls on the chain, read back from what their events say.

use std::collections::BTreeMap;

use remuda_protocol::actors::call::ON_TIMER;
use remuda_protocol::error::Refusal;
use remuda_protocol::event::{Event, Receipt};
use remuda_protocol::primitives::Address;

use super::Place;
use super::stage::Source;
use crate::chain::convert::{bytes, dict, number, text};
use crate::{CompileError, HostValue};

#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) actor: Address,
    method: String,
    code: u16,
    error: String,
}

pub(super) struct FaultText {
    kind: String,
    message: String,
    method: String,
    code: u16,
    actor: Address,
    pub(super) place: Option<Place>,
    file: Option<String>,
}

impl Fault {
    pub(super) fn of(event: &Event) -> Option<Self> {
        let timer = |actor: &Address, error: &str| {
            let (method, error) = (ON_TIMER.to_owned(), error.to_owned());
            Some(Self { actor: *actor, method, code: 0, error })
        };
        match event {
            Event::CallFailed { actor, method, code, error } => {
                let (method, error) = (method.clone(), error.clone());
                Some(Self { actor: *actor, method, code: *code, error })
            }
            Event::TimerExpired { actor, .. } => {
                timer(actor, "TimerExpired: the lane's fee was above the timer's for too long")
            }
            Event::TimerCancelledInsufficientFunds { actor, .. } => {
                timer(actor, "InsufficientFunds: the timer's payer has too little balance")
            }
            _ => None,
        }
    }

    /// Why a transaction failed: what its call said, or the chain's own reason.
    pub(super) fn of_receipt(receipt: &Receipt, actor: Address, method: &str) -> Option<Self> {
        if receipt.code == 0 {
            return None;
        }
        receipt
            .events
            .iter()
            .filter(|event| matches!(event, Event::CallFailed { .. }))
            .find_map(Self::of)
            .or_else(|| {
                let error = match Refusal::from_code(receipt.code) {
                    Some(refusal) => refusal.to_string(),
                    None => format!("refused with code {}", receipt.code),
                };
                Some(Self { actor, method: method.to_owned(), code: receipt.code, error })
            })
    }

    pub(super) fn text(&self, sources: &BTreeMap<Address, Source>) -> FaultText {
        let source = sources.get(&self.actor);
        let (kind, message, at) = match Refusal::from_code(self.code) {
            Some(Refusal::ExceptionRaised) | None => exception(&self.error),
            Some(refusal) => (format!("{refusal:?}"), self.error.clone(), None),
        };
        let place = source.zip(at).map(|(source, (line, function))| {
            Place::of(&source.file, &source.text, line, function)
        });
        FaultText {
            kind,
            message,
            method: self.method.clone(),
            code: self.code,
            actor: self.actor,
            place,
            file: source.map(|source| source.file.clone()),
        }
    }
}

/// Kind, message, and the place at the end: `ValueError: no (line 3, in add)`.
fn exception(error: &str) -> (String, String, Option<(u32, String)>) {
    let placed = error.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (line "));
    let placed = placed.and_then(|(fault, place)| {
        let (line, function) = place.split_once(", in ")?;
        Some((fault, (line.parse().ok()?, function.to_owned())))
    });
    let (fault, place) = placed.map_or((error, None), |(fault, place)| (fault, Some(place)));
    let (kind, message) = fault.split_once(": ").unwrap_or((fault, ""));
    (kind.to_owned(), message.to_owned(), place)
}

impl FaultText {
    /// A source that does not compile.
    pub(super) fn syntax(error: &CompileError, source: &str) -> Self {
        let line = u32::try_from(error.line).unwrap_or(u32::MAX);
        let advice = match error.advice.is_empty() {
            true => String::new(),
            false => format!(" ({})", error.advice),
        };
        Self {
            kind: "SyntaxError".to_owned(),
            message: format!("{}{advice}", error.message),
            method: "init".to_owned(),
            code: Refusal::NotAProgram.code(),
            actor: Address::ZERO,
            place: Some(Place::of(&error.file, source, line, "<module>".to_owned())),
            file: Some(error.file.clone()),
        }
    }

    pub(super) fn text(&self) -> String {
        let Self { kind, message, .. } = self;
        let colon = if message.is_empty() { "" } else { ": " };
        let at = match (&self.place, &self.file) {
            (Some(Place { file, line, function, .. }), _) => {
                format!("{file}, line {line}, in {function}: ")
            }
            (None, Some(file)) => format!("{file}, {}: ", self.method),
            (None, None) => String::new(),
        };
        format!("{at}{kind}{colon}{message}")
    }

    /// As `ActorError` gets it.
    pub(super) fn value(&self) -> HostValue {
        let place = self.place.as_ref();
        let or_none = |found: Option<&str>| found.map_or(HostValue::None, text);
        dict([
            ("text", text(&self.text())),
            ("kind", text(&self.kind)),
            ("message", text(&self.message)),
            ("method", text(&self.method)),
            ("code", number(self.code.into())),
            ("actor", bytes(self.actor.as_slice())),
            ("file", or_none(self.file.as_deref())),
            ("line", place.map_or(HostValue::None, |place| number(place.line.into()))),
            ("function", or_none(place.map(|place| &place.function[..]))),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::exception;

    #[test]
    fn kind_message_and_place_are_read_back() {
        let at = |line, function: &str| Some((line, function.to_owned()));
        let read = |text: &str| exception(text);
        let (kind, message, place) = read("ValueError: a: b (c) (line 12, in f.<locals>.g)");
        assert_eq!((&kind[..], &message[..]), ("ValueError", "a: b (c)"));
        assert_eq!(place, at(12, "f.<locals>.g"));
        let (kind, message, place) = read("AssertionError (line 3, in add)");
        assert_eq!((&kind[..], &message[..], place), ("AssertionError", "", at(3, "add")));
        let (kind, message, place) = read("KeyError: cut off (li");
        assert_eq!((&kind[..], &message[..], place), ("KeyError", "cut off (li", None));
    }
}
