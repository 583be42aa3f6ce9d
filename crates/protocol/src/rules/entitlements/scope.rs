//! What a right is about, and what it allows (CIP-2 §7.1).

use crate::base::codec::{Bytes, Encode, codec_enum};
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, B256, keccak256};

/// Bytes of the id of a pool or the name of a namespace; a job's `required_runner_pool` has as many.
pub const NAME_BYTES_MAX: usize = 128;
/// Bytes of a handler's or an own action's name.
pub const ACTION_BYTES_MAX: usize = 64;

/// The boundary of a right. None lies inside another: a right in the global scope is no right in an
/// actor's, or governance could open every actor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Global,
    Actor {
        address: Address,
    },
    /// A token. This chain has none.
    Token {
        id: B256,
    },
    Runner {
        address: Address,
    },
    RunnerPool {
        id: Bytes,
    },
    /// A registered name.
    Namespace {
        name: Bytes,
    },
}
codec_enum!(Scope {
    1 => Global {},
    2 => Actor { address },
    3 => Token { id },
    4 => Runner { address },
    5 => RunnerPool { id },
    6 => Namespace { name },
});

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    All,
    TokenTransfer,
    /// Make more of a token.
    TokenMint,
    TokenBurn,
    TokenFreeze,
    TokenSetHook,
    /// Give a token away as a whole.
    TokenTransferOwnership,
    ActorDeploy,
    ActorSendMessage,
    /// Call a handler of an actor.
    ActorExecuteHandler {
        name: Bytes,
    },
    RunnerRegister {
        /// With less stake than others.
        min_stake_override: Option<Amount>,
    },
    RunnerSubmitJob,
    RunnerSubmitResult,
    /// Be a member of a pool.
    RunnerJoinPool {
        pool: Bytes,
    },
    /// Move money of the system.
    SystemTransfer,
    SystemCreateAccount,
    SystemUpgrade,
    Custom {
        name: Bytes,
    },
}
codec_enum!(Action {
    1 => All {},
    10 => TokenTransfer {},
    11 => TokenMint {},
    12 => TokenBurn {},
    13 => TokenFreeze {},
    14 => TokenSetHook {},
    15 => TokenTransferOwnership {},
    20 => ActorDeploy {},
    21 => ActorSendMessage {},
    22 => ActorExecuteHandler { name },
    30 => RunnerRegister { min_stake_override },
    31 => RunnerSubmitJob {},
    32 => RunnerSubmitResult {},
    33 => RunnerJoinPool { pool },
    40 => SystemTransfer {},
    41 => SystemCreateAccount {},
    42 => SystemUpgrade {},
    50 => Custom { name },
});

impl Scope {
    /// keccak256 of its encoding.
    pub fn hash(&self) -> B256 {
        keccak256(self.to_bytes())
    }

    /// Whether its name has a length that names may have.
    pub(crate) fn check_length(&self) -> Result<(), Refusal> {
        match self {
            Self::RunnerPool { id: name } | Self::Namespace { name }
                if !(1..=NAME_BYTES_MAX).contains(&name.len()) =>
            {
                Err(Refusal::ScopeNameTooLong)
            }
            _ => Ok(()),
        }
    }
}

impl Action {
    /// keccak256 of its encoding.
    pub fn hash(&self) -> B256 {
        keccak256(self.to_bytes())
    }

    pub fn join(pool: &Bytes) -> Self {
        Self::RunnerJoinPool { pool: pool.clone() }
    }
}

/// Whether an action means anything in a scope, and both are to be had on this chain.
pub(crate) fn check_pair(scope: &Scope, action: &Action) -> Result<(), Refusal> {
    scope.check_length()?;
    match (scope, action) {
        (Scope::Token { .. }, _) => return Err(Refusal::ScopeUnavailable),
        // Membership is one thing: selection reads it where nothing else is.
        (Scope::RunnerPool { id }, Action::RunnerJoinPool { pool }) if id == pool => {}
        (Scope::RunnerPool { .. }, _) | (_, Action::RunnerJoinPool { .. }) => {
            return Err(Refusal::ActionDoesNotFitScope);
        }
        _ => {}
    }
    match action {
        Action::All | Action::ActorSendMessage | Action::RunnerJoinPool { .. } => Ok(()),
        Action::ActorExecuteHandler { name } | Action::Custom { name } => {
            let fits = (1..=ACTION_BYTES_MAX).contains(&name.len());
            if fits { Ok(()) } else { Err(Refusal::ActionNameTooLong) }
        }
        _ => Err(Refusal::ActionUnavailable),
    }
}

/// What a right is found by: `keccak256("cowboy-right-v1:" ‖ keccak256(scope) ‖ keccak256(action))`.
pub fn right(scope: &Scope, action: &Action) -> B256 {
    let mut bytes = b"cowboy-right-v1:".to_vec();
    bytes.extend_from_slice(scope.hash().as_slice());
    bytes.extend_from_slice(action.hash().as_slice());
    keccak256(bytes)
}
