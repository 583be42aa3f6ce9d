//! Every key of the state, in one table: tag, name, parts, and the type of the value.
//!
//! Consensus: a change here forks the chain.

use crate::base::account::Account;
use crate::base::codec::{Bytes, Encode};
use crate::base::primitives::{Address, B256, Height, JobId, Slot};
use crate::base::state::StateKey;
use crate::rules::actors::record::{Actor, Frame, KeyNode, Wait};
use crate::rules::agenda::Task;
use crate::rules::callback::DeferredCall;
use crate::rules::dispatcher::job::{Job, MruRecord, PendingSelection, Retry};
use crate::rules::dispatcher::spec::JobSpec;
use crate::rules::entitlements::record::{
    Assignment, Entitlement, Holder, Namespace, Role, RunnerPool,
};
use crate::rules::fees::Basefees;
use crate::rules::presence::{AncestorRecord, AttestationRecord, PresenceState};
use crate::rules::registry::runner::{Profile, Runner, SlotRecord};
use crate::rules::registry::versioned::Versioned;
use crate::rules::timers::config::TimerConfig;
use crate::rules::timers::record::{Timer, TimerLane};
use crate::rules::tip::{ChainState, EpochCommittee, Supply, Validator, Warm};
use crate::rules::verifier::challenge::Bond;
use crate::rules::verifier::settle::VerifiedResult;

macro_rules! keys {
    ($( $(#[$doc:meta])* $tag:literal => $name:ident { $($part:ident: $ty:ty),* } -> $value:ty; )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name { $( #[doc = stringify!($part)] pub $part: $ty, )* }

        impl StateKey for $name {
            type Value = $value;

            fn write(&self, out: &mut Vec<u8>) {
                out.push($tag);
                $( self.$part.encode(out); )*
            }
        }
        impl $name {
            /// First byte of all keys of this kind.
            pub const TAG: u8 = $tag;
        }
    )*
    #[cfg(test)]
    const TAGS: &[u8] = &[$($tag),*];
    };
}

keys! {
    1 => ChainKey {} -> ChainState;
    2 => SupplyKey {} -> Supply;
    3 => BasefeesKey {} -> Basefees;
    /// Committee size of the running epoch.
    4 => EpochCommitteeKey {} -> EpochCommittee;
    5 => AccountKey { address: Address } -> Account;
    /// Beacon of a view.
    6 => BeaconKey { view: u64 } -> B256;
    /// Who makes blocks.
    7 => ValidatorsKey {} -> Vec<Validator>;

    /// Number of tasks set for a height.
    8 => AgendaLengthKey { height: Height } -> u32;
    /// A task set for a height.
    9 => AgendaKey { height: Height, index: u32 } -> Task;

    16 => ProfileKey { runner: Address } -> Versioned<Profile>;
    17 => RunnerKey { runner: Address } -> Runner;
    /// Which runner has or had a slot.
    18 => SlotKey { slot: Slot } -> SlotRecord;
    /// Shares of a delegator in a runner's delegated stake.
    19 => DelegationKey { runner: Address, delegator: Address } -> u128;

    32 => JobKey { job: JobId } -> Job;
    /// What a job asks for.
    33 => JobSpecKey { job: JobId } -> JobSpec;
    /// Jobs that wait for their round, first in first out.
    34 => PendingKey { index: u64 } -> PendingSelection;
    /// Who served a submitter last.
    35 => MruKey { submitter: Address, kind: u8 } -> MruRecord;
    /// A revealed result, until its job ends.
    36 => RevealKey { job: JobId, runner: Address } -> Bytes;
    /// The result that a settled job called back with.
    37 => ResultKey { job: JobId } -> VerifiedResult;
    /// Stake that answers for a bonded result.
    38 => BondKey { job: JobId } -> Bond;
    /// A deferred call, first in first out.
    39 => CallKey { index: u64 } -> DeferredCall;
    /// When a selection query was last asked, by its hash: nodes keep its lists for a while.
    40 => WarmKey { query: B256 } -> Warm;

    /// A job that is to draw again, first in first out.
    41 => RetryKey { index: u64 } -> Retry;
    42 => PresenceKey {} -> PresenceState;
    /// A validator's newest attestation on chain.
    43 => AttestationKey { validator: u32 } -> AttestationRecord;
    /// A recent block, by its height modulo the length of the window.
    44 => AncestorKey { place: u64 } -> AncestorRecord;

    /// An executor binary that governance vouches for.
    48 => PinnedExecutorKey { hash: B256 } -> bool;
    /// A runner pool, by the hash of its id.
    49 => PoolKey { pool: B256 } -> RunnerPool;
    /// Accounts that may send system instructions; none without a record.
    50 => SystemDeployersKey {} -> Vec<Address>;

    64 => TimerKey { timer: B256 } -> Timer;
    /// What a timer carries, if that is too long for its record.
    65 => TimerPayloadKey { timer: B256 } -> Bytes;
    /// How many timers an actor ever scheduled.
    66 => TimerCounterKey { actor: Address } -> u64;
    /// The parent beacon of a block whose timers became due, for as long as one of them waits.
    67 => DueBeaconKey { height: Height } -> B256;
    /// Timers that are due at a height, in the order in which they were scheduled.
    68 => ChunkKey { height: Height, chunk: u32 } -> Vec<B256>;
    /// How often whose timers fired in a block, for as long as the fairness window has it.
    69 => FiresKey { height: Height } -> Vec<(Address, u32)>;
    70 => TimerLaneKey {} -> TimerLane;
    71 => TimerConfigKey {} -> TimerConfig;

    80 => ActorKey { actor: Address } -> Actor;
    81 => CodeKey { actor: Address } -> String;
    84 => FrameKey { actor: Address, frame: u64 } -> Frame;
    /// Something that a call asked for.
    85 => WaitKey { actor: Address, token: u64 } -> Wait;
    /// Which call waits for the end of a job.
    86 => JobWaitKey { job: JobId } -> (Address, u64);
    /// The machine's frames of a call that waits.
    87 => FrameBytesKey { actor: Address, frame: u64 } -> Bytes;
    /// Handlers that an actor's code opens to others' jobs; no record if there are none.
    88 => OpenHandlersKey { actor: Address } -> Vec<String>;

    /// A grantee's right.
    96 => EntitlementKey { entitlement: B256 } -> Entitlement;
    /// How many rights and roles an address has, and how many it gave.
    97 => HolderKey { address: Address } -> Holder;
    /// The rights of an address, by place.
    98 => HeldKey { holder: Address, place: u32 } -> B256;
    /// The records that give an address one right, by the hash of scope and action.
    99 => RightKey { holder: Address, right: B256 } -> Vec<B256>;
    /// The memberships of a pool, by place.
    100 => PoolMemberKey { pool: B256, place: u32 } -> B256;
    /// Who made a namespace, by the hash of its name.
    101 => NamespaceKey { namespace: B256 } -> Namespace;
    102 => RoleKey { role: B256 } -> Role;
    /// The roles of an address, by place.
    103 => AssignedKey { holder: Address, place: u32 } -> B256;
    /// A role that an address has.
    104 => AssignmentKey { holder: Address, role: B256 } -> Assignment;
}

/// An actor's own entry. Its keys are of any length, so it is not in the table.
#[derive(Clone, Copy, Debug)]
pub struct StorageKey<'k> {
    pub actor: Address,
    pub key: &'k [u8],
}

/// Where a key stands in the order of an actor's keys.
#[derive(Clone, Copy, Debug)]
pub struct StorageNodeKey<'k> {
    pub actor: Address,
    pub key: &'k [u8],
}

impl StorageKey<'_> {
    /// First byte of all keys of this kind.
    pub const TAG: u8 = 82;
}
impl StorageNodeKey<'_> {
    /// First byte of all keys of this kind.
    pub const TAG: u8 = 83;
}

impl StateKey for StorageKey<'_> {
    type Value = Bytes;

    fn write(&self, out: &mut Vec<u8>) {
        out.push(Self::TAG);
        out.extend_from_slice(self.actor.as_slice());
        out.extend_from_slice(self.key);
    }
}
impl StateKey for StorageNodeKey<'_> {
    type Value = KeyNode;

    fn write(&self, out: &mut Vec<u8>) {
        out.push(Self::TAG);
        out.extend_from_slice(self.actor.as_slice());
        out.extend_from_slice(self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::TAGS;

    #[test]
    fn no_two_kinds_of_key_share_a_tag() {
        assert!(TAGS.windows(2).all(|pair| pair[0] < pair[1]));
        let own = [super::StorageKey::TAG, super::StorageNodeKey::TAG];
        assert!(own.iter().all(|tag| !TAGS.contains(tag)));
    }
}
