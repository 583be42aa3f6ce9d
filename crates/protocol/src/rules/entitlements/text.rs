//! Scopes and actions as text: what programs, commands and the API write.
//!
//! A scope is `global`, `actor:0x…`, `token:0x…`, `runner:0x…`, `pool:<name>` or
//! `namespace:<name>`. An action is one of the seed's names (`All`, `ActorSendMessage`,
//! `ActorExecuteHandler:<name>`, `RunnerJoinPool:<name>`, …); every other text is an action of the
//! actors' own. A name is its text, or `0x` and hex digits where it is none.

use super::scope::{Action, Scope};
use crate::base::codec::Bytes;
use crate::base::primitives::{Address, Amount, B256};
use core::fmt;
use core::str::FromStr;
use thiserror::Error;

/// A text that names no scope.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' is no scope: write global, actor:0x…, runner:0x…, pool:<name> or namespace:<name>")]
pub struct NoScope(pub String);

/// A text that names no action.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' is no action: 0x is followed by hex digits, two for each byte")]
pub struct NoAction(pub String);

/// The bytes that a name stands for.
pub fn name(text: &str) -> Option<Bytes> {
    match text.strip_prefix("0x") {
        None => Some(text.as_bytes().into()),
        Some(digits) => bytes(digits).map(Bytes),
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| (*byte as char).to_digit(16).map(|value| value as u8);
    let digits: Vec<u8> = digits.as_bytes().iter().map(digit).collect::<Option<_>>()?;
    let pair = |pair: &[u8]| (pair.len() == 2).then(|| pair[0] << 4 | pair[1]);
    digits.chunks(2).map(pair).collect()
}

/// A name as it is written.
pub struct Name<'n>(pub &'n [u8]);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |text: &&str| !text.starts_with("0x") && !text.chars().any(char::is_control);
        match core::str::from_utf8(self.0).ok().filter(plain) {
            Some(text) => f.write_str(text),
            None => {
                f.write_str("0x")?;
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

impl FromStr for Scope {
    type Err = NoScope;

    fn from_str(text: &str) -> Result<Self, NoScope> {
        let wrong = || NoScope(text.to_owned());
        if text == "global" {
            return Ok(Self::Global);
        }
        let (kind, rest) = text.split_once(':').ok_or_else(wrong)?;
        let address = || Address::from_str(rest).map_err(|_| wrong());
        let named = || name(rest).ok_or_else(wrong);
        match kind {
            "actor" => Ok(Self::Actor { address: address()? }),
            "runner" => Ok(Self::Runner { address: address()? }),
            "token" => Ok(Self::Token { id: B256::from_str(rest).map_err(|_| wrong())? }),
            "pool" => Ok(Self::RunnerPool { id: named()? }),
            "namespace" => Ok(Self::Namespace { name: named()? }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::Actor { address } => write!(f, "actor:{address:#x}"),
            Self::Token { id } => write!(f, "token:{id:#x}"),
            Self::Runner { address } => write!(f, "runner:{address:#x}"),
            Self::RunnerPool { id } => write!(f, "pool:{}", Name(id)),
            Self::Namespace { name } => write!(f, "namespace:{}", Name(name)),
        }
    }
}

/// The actions without a name of their own.
const PLAIN: &[(&str, Action)] = &[
    ("All", Action::All),
    ("TokenTransfer", Action::TokenTransfer),
    ("TokenMint", Action::TokenMint),
    ("TokenBurn", Action::TokenBurn),
    ("TokenFreeze", Action::TokenFreeze),
    ("TokenSetHook", Action::TokenSetHook),
    ("TokenTransferOwnership", Action::TokenTransferOwnership),
    ("ActorDeploy", Action::ActorDeploy),
    ("ActorSendMessage", Action::ActorSendMessage),
    ("RunnerRegister", Action::RunnerRegister { min_stake_override: None }),
    ("RunnerSubmitJob", Action::RunnerSubmitJob),
    ("RunnerSubmitResult", Action::RunnerSubmitResult),
    ("SystemTransfer", Action::SystemTransfer),
    ("SystemCreateAccount", Action::SystemCreateAccount),
    ("SystemUpgrade", Action::SystemUpgrade),
];

impl FromStr for Action {
    type Err = NoAction;

    fn from_str(text: &str) -> Result<Self, NoAction> {
        if let Some((_, action)) = PLAIN.iter().find(|(plain, _)| *plain == text) {
            return Ok(action.clone());
        }
        let wrong = || NoAction(text.to_owned());
        let named = |rest| name(rest).ok_or_else(wrong);
        match text.split_once(':') {
            Some(("ActorExecuteHandler", rest)) => {
                Ok(Self::ActorExecuteHandler { name: named(rest)? })
            }
            Some(("RunnerJoinPool", rest)) => Ok(Self::RunnerJoinPool { pool: named(rest)? }),
            Some(("RunnerRegister", rest)) => {
                let stake = rest.parse().map_err(|_| wrong())?;
                Ok(Self::RunnerRegister { min_stake_override: Some(Amount(stake)) })
            }
            Some(("Custom", rest)) => Ok(Self::Custom { name: named(rest)? }),
            _ => Ok(Self::Custom { name: named(text)? }),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ActorExecuteHandler { name } => write!(f, "ActorExecuteHandler:{}", Name(name)),
            Self::RunnerJoinPool { pool } => write!(f, "RunnerJoinPool:{}", Name(pool)),
            Self::RunnerRegister { min_stake_override: Some(stake) } => {
                write!(f, "RunnerRegister:{}", stake.get())
            }
            Self::Custom { name } => {
                let bare = Name(name).to_string();
                // Without the prefix it may read as another action.
                match bare.parse() {
                    Ok(Self::Custom { name: same }) if same == *name => f.write_str(&bare),
                    _ => write!(f, "Custom:{bare}"),
                }
            }
            plain => {
                let named = PLAIN.iter().find(|(_, action)| action == plain);
                f.write_str(named.map_or("", |(text, _)| text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some_name() -> impl Strategy<Value = Bytes> {
        let bytes = proptest::collection::vec(any::<u8>(), 1..40).prop_map(Bytes);
        let words = "[A-Za-z0-9:x]{1,20}".prop_map(|text: String| Bytes(text.into_bytes()));
        let actions =
            proptest::sample::select(PLAIN).prop_map(|(text, _)| Bytes(text.as_bytes().to_vec()));
        prop_oneof![bytes, words, actions, Just(Bytes(b"0xab".to_vec()))]
    }

    proptest! {
        #[test]
        fn every_scope_and_action_is_read_back_from_its_text(
            name in some_name(), byte in any::<u8>(), stake in any::<u128>()
        ) {
            let address = Address::repeat_byte(byte);
            for scope in [
                Scope::Global,
                Scope::Actor { address },
                Scope::Token { id: B256::repeat_byte(byte) },
                Scope::Runner { address },
                Scope::RunnerPool { id: name.clone() },
                Scope::Namespace { name: name.clone() },
            ] {
                prop_assert_eq!(scope.to_string().parse::<Scope>(), Ok(scope));
            }
            let named = [
                Action::ActorExecuteHandler { name: name.clone() },
                Action::RunnerJoinPool { pool: name.clone() },
                Action::RunnerRegister { min_stake_override: Some(Amount(stake)) },
                Action::Custom { name },
            ];
            for action in PLAIN.iter().map(|(_, action)| action.clone()).chain(named) {
                prop_assert_eq!(action.to_string().parse::<Action>(), Ok(action));
            }
        }
    }

    #[test]
    fn a_text_that_is_no_scope_is_refused() {
        for text in ["", "all", "actor:", "actor:0x12", "pool:0x1", "pool:0xzz", "token:abc"] {
            assert_eq!(text.parse::<Scope>(), Err(NoScope(text.to_owned())));
        }
    }
}
