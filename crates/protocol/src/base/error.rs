//! Everything that can be wrong with a transaction, with stable codes.
//!
//! Consensus: a change here forks the chain. Receipts carry the codes; events and answers to callers
//! carry the texts.
//!
//! An [`Inadmissible`] transaction cannot be in a block at all: no account would pay for it. A
//! [`Refusal`] is how an admissible one ends that the rules turn down: it pays its fee, and changes
//! nothing else.

use thiserror::Error;

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $( $code:literal $variant:ident $text:literal; )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
        #[repr(u16)]
        pub enum $name { $( #[doc = $text] #[error($text)] $variant = $code, )* }

        impl $name {
            /// Every value, ascending by code.
            pub const ALL: &[Self] = &[$( Self::$variant, )*];

            pub const fn code(self) -> u16 {
                self as u16
            }

            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => stringify!($variant), )* }
            }

            /// The value with this code.
            pub fn from_code(code: u16) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.code() == code)
            }
        }
    };
}

codes! {
    /// Why a transaction cannot be in this block.
    Inadmissible {
        100 TooLarge "the transaction is larger than the chain allows";
        101 Malformed "the bytes are not the encoding of a transaction";
        102 WrongChain "the transaction is for another chain; check the chain id";
        103 BadSignature "the signature names no signer: it must be r, s, v with v 0 or 1 and a low s";
        104 NonceTooLow "a transaction with this nonce is on chain already";
        105 NonceTooHigh "an earlier nonce of this account is still missing";
        106 PriorityAboveMaximum "max_priority is above max_fee";
        107 FeeBelowBasefee "max_fee is below the basefee; bid more or wait";
        108 LimitTooLow "the cycles or cells limit does not even cover the transaction's own bytes";
        109 LimitTooHigh "the cycles or cells limit is more than a block can hold";
        110 CostOverflow "limits times fees do not fit into 128 bits";
        111 CannotPay "the balance does not cover limits times fees";
        112 BlockFull "the block has no room left for this transaction";
    }
}

codes! {
    /// Why an instruction was turned down.
    Refusal {
        200 OutOfCycles "the cycles limit is used up; raise it";
        201 OutOfCells "the cells limit is used up; raise it";
        202 InsufficientBalance "the balance does not cover this";
        203 AmountOverflow "the amounts do not fit into 128 bits";
        204 ZeroAmount "an amount of 0 does nothing";
        205 SystemAddress "system actors take no transfers";
        206 DepositAboveLimit "the deposit for what this writes into the state exceeds max_deposit, or what the prepaid call has left; raise it (--max-deposit): 1,024 bytes take 0.1 CBY, returned when they are freed";
        207 DepositNotCovered "the balance does not cover the deposit for what this writes into the state";

        300 UnknownRunner "no runner is registered at this address";
        301 AlreadyRegistered "this runner is registered already; update it instead";
        302 NotRegistered "this runner has left; register again";
        303 StakeBelowFloor "the stake would be below max(MIN_STAKE, 1.5 times the declared job value)";
        304 StakeInUse "open jobs and bonded results need this stake; wait until they end";
        305 HasOpenJobs "the runner sits on jobs; pause, finish them, then leave";
        306 NoKinds "a runner offers at least one kind of work";
        307 OfferTooLarge "a list or a name in the offer is too long";
        308 OfferNotDistinct "a list in the offer names something twice, or is not ascending";
        309 BadCommission "a commission is at most 10000 bps";
        310 NoCapacity "a runner takes at least one job at a time";
        311 PriceTooHigh "a price in the rate card is above the limit";
        312 NotPaused "the runner is not paused";
        313 AlreadyPaused "the runner is paused already";
        314 DelegationTooSmall "a delegation is at least 1 CBY and worth at least one share; a part of at least 1 CBY is withdrawn, or all of it";
        315 NotEnoughShares "the delegator has fewer shares than that";
        316 TooFewShares "the delegation is worth fewer shares than min_shares; look at the price of a share again";
        317 TooManyUnbonding "too much stake is leaving that open jobs still need; wait until some of them end";

        400 RunnersOutOfRange "verification.runners must be 1 to 64, and at least the mode's minimum";
        401 ThresholdOutOfRange "verification.threshold must be 1 to verification.runners";
        402 TooManyInputTokens "bounds.max_input_tokens is above 1000000";
        403 TooManyOutputTokens "bounds.max_output_tokens is above 1000000";
        404 WallTimeTooLong "bounds.max_wall_time_seconds is above 3600";
        405 TooMuchMemory "bounds.max_memory_mb is above 65536";
        406 TooManyRetries "bounds.max_retries is above 10";
        407 ReturnTooLarge "result_schema.max_return_bytes must be 1 to 65536";
        408 TimeoutTooLong "timeout_blocks is above the limit";
        409 TooManyChecks "a job has at most 16 checks";
        410 CheckTooLarge "a text in a check is too long";
        411 BadCheck "a check has a malformed path, schema or number";
        412 ChecksDoNotFitMode "these checks do not fit the verification mode";
        413 TooManyResolvers "min_resolvers must be 1 to 16";
        414 CheckNeedsActor "checks that call an actor come with the VM";
        415 ModeUnavailable "this verification mode is not available on this chain yet";
        416 NotDeterministic "deterministic mode needs a pinned executor";
        417 SingleRunnerOnly "EthSend takes mode none: it is one runner, and nobody may send again to check";
        418 FormatNeedsWholeResult "results that are no JSON can only be compared as a whole";
        419 SpecFieldTooLong "a name, address or list in the job is too long";
        420 BadCallback "a callback's handler must be 1 to 64 bytes and its cycles within the lane";
        421 EscrowNotCovered "the balance does not cover max_price + tip + the prepaid callback";
        422 UnknownJob "there is no such job, or it ended so long ago that it has left the state";
        423 NotYourJob "only the submitter may do this";
        424 TooLateToCancel "a runner has committed or timed out, or is or will be alone at work, or the job is over";
        425 TipWithoutPrice "a tip is added to a price; a job without one is unpaid";
        426 FieldsOverlap "a field that results are grouped by is part of another";
        427 JudgingTooExpensive "a result of max_return_bytes costs more to judge than runners' share of a block; return less, or compare fewer fields";
        428 TimeoutTooShort "timeout_blocks is below 10: drawn runners could not commit in time whatever they do";
        429 BadWebRequest "a web request has a method of GET, HEAD, POST, PUT, PATCH or DELETE in capitals, and an address that begins with http:// or https://";
        430 ReturnTooSmall "max_return_bytes is below 128: runners need room to say why a job cannot be done";
        431 SecretsUnavailable "no runner of this chain can open secrets yet; order the work without them";
        432 TeeUnavailable "no runner of this chain has a verified TEE yet; order the work without tee_required";
        433 NotBondable "only a Custom job whose program governance has pinned can be bonded; for other work take a committee, as in majority_vote";
        434 NoFairTrial "too few other runners would take this work at its price to try a bonded result; pay more, or take a committee";

        500 NotSeated "this runner does not sit on this job";
        501 WrongPhase "the job is not in the phase for this";
        502 DeadlinePassed "the deadline for this has passed";
        503 AlreadyCommitted "this runner has committed already";
        504 AlreadyRevealed "this runner's result is known already";
        505 NothingCommitted "this runner has not committed";
        506 NotAggregator "only the job's aggregator may reveal for others";
        507 NoReveals "an aggregate holds at least one reveal";
        508 InvalidReveal "a reveal's signature or commitment does not match";
        509 BadResultSignature "the result's signature is not the runner's";
        511 TooLateToAttest "a crash is attested until 50 blocks after commits were closed, and before the first reveal";
        512 NotChallengeable "only a bonded result inside its dispute window can be challenged";
        513 AlreadyChallenged "this result is on trial already, or has been as often as it can be";
        514 CommitFirst "this job takes commits before results";
        515 ResultDirectly "this job has one runner: it submits its result without a commit";

        600 UnknownTimer "there is no such timer, or it has ended";
        601 NotYourTimer "only the actor that scheduled a timer may do this";
        602 TimerArgDeprecated "bid is withdrawn; use max_fee_per_cycle and max_priority_fee_per_cycle";
        603 TimerInPast "a timer is due in the next block at the earliest";
        604 TimerBeyondTtl "a timer is due, and expires, within the longest time to live";
        605 TimerExpiresBeforeDue "a timer expires when it is due at the earliest";
        606 PayloadTooLarge "a timer's payload is at most 65536 bytes";
        607 TimerGasOutOfRange "a timer's gas limit is 1000 to the cap of the timer configuration";
        608 TimerCellsTooMany "a timer asks for more cells than the timer configuration allows";
        609 ForeignFeePayer "a timer is paid by its actor or by the transaction's sender";
        610 TimerFeeTooHigh "a timer's fees are at most 10^15 per cycle";
        611 TimerRejectedBelowBasefee "max_fee_per_cycle is below the timer lane's basefee";
        612 TooManyTimers "the actor has as many timers as it may have; cancel some or wait";
        613 HeightCrowded "too many timers are due at that height; choose another";
        614 ExpiryCrowded "too many timers expire at that height; choose another";
        615 TimerHasExpired "the timer has expired and waits to be removed";
        616 NotAnExtension "an extension ends later than the timer does now";
        617 NotSystemDeployer "only system deployers may do this";
        618 BadTimerConfig "a number of the timer configuration is out of its range";
        619 NoCode "there is no code at this address";
        620 ForeignAgent "a timer's agent is its actor, or code of whom the actor belongs to";

        700 NoMachine "this chain has no machine that runs code";
        701 CodeTooLarge "the code is longer than an actor's may be, or empty";
        702 NotAProgram "the code does not compile, or its body fails";
        703 ActorExists "this code with this salt was deployed by this account already";
        704 NotOwner "only the actor's owner may change its code";
        705 CallsWaiting "calls of this actor wait for answers in its present code; upgrade when they have ended";
        706 ExceptionRaised "the actor's code raised an exception; the event CallFailed says which";
        707 OutOfMemory "the actor's code used up its memory, its stack or its output";
        708 UnknownMethod "the actor has no method of this name";
        709 TooDeep "actors call each other at most 32 deep";
        710 Reentrant "the actor is being called already; actors are not entered twice in one call";
        711 ReadOnly "this call may look and not change";
        712 StorageKeyTooLong "a storage key has 1 to 256 bytes";
        713 ValueTooLong "a stored value has at most 65536 bytes";
        714 StorageFull "the actor's storage is full; delete something";
        715 EventTooLarge "an event has a topic of at most 64 bytes and data of at most 16384";
        716 PayloadTooLong "a payload or an answer has at most 65536 bytes";
        717 MethodTooLong "a method's name has 1 to 64 bytes";
        718 CallCyclesOutOfRange "a deferred call has 1000 cycles to a quarter of the runner lane";
        719 BadHostCall "the host has no call of this name with such arguments";
        720 BadJob "the specification is not that of a job";
        721 TooManyWaiting "as many calls of this actor wait as may; let some end first";
        722 TooManyOpen "the call has asked for as many things as it may without an answer";
        723 FramesTooLarge "the waiting call needs more than 65536 bytes; keep large data in storage";
        724 NotWaitedFor "this was answered already, or was never asked for";
        725 CalleeWaits "the method waits for an answer; ask for it instead of calling it";
        726 FramesUnreadable "the waiting call cannot be read by this machine";
        727 WaitTooLong "a call waits at most as long as a timer may";
        729 AnotherWaits "another call waits for this job already";
        730 BadScope "the text names no scope: write global, actor:0x…, runner:0x…, pool:NAME or namespace:NAME";
        735 AskTimedOut "the actor that was asked gave no answer in time";
        739 UpgradedCannotWait "a call that gave its actor other code cannot wait; order the work in a later call";
        745 HandlerNotOpen "a job's callback names its submitter, or a handler that another actor has opened with @callback(anyone=True)";
        746 TooManyOpenHandlers "an actor opens at most 32 handlers to others' jobs, each with a name of at most 64 bytes";

        800 ScopeNameTooLong "the name of a pool, a namespace or a role has 1 to 128 bytes";
        801 ActionNameTooLong "the name of a handler or of an own action has 1 to 64 bytes";
        802 ScopeUnavailable "this chain has no tokens";
        803 ActionDoesNotFitScope "membership is the action RunnerJoinPool in the scope of the same pool, and neither goes with anything else";
        804 ActionUnavailable "nothing on this chain asks for this action yet";
        805 AlreadyExpired "valid_until is before this block, or before valid_from";
        806 DelegationTooDeep "delegation_depth_max is at most 5, and below the parent's";
        807 BadConstraints "a rate limit has a window and a use at least; delegatable goes with a depth above 0, and only with one";
        808 NothingToCreate "only pools and namespaces are created";
        809 NameTaken "somebody has created this already; choose another name";
        810 UnknownPool "there is no such pool; create it first";
        811 UnknownNamespace "there is no such namespace; create it first";
        812 NotAuthority "only the authority of this scope may do this";
        813 BadMembership "a membership has a first and a last block at most; it is not used up and not passed on";
        814 TooManyHeld "the grantee holds 256 entitlements; one has to be revoked first, which anybody may do with those that have lapsed";
        815 UnknownEntitlement "there is no such entitlement, or it was revoked";
        816 NotYourEntitlement "only the grantee passes an entitlement on; only its granter, its grantee or the authority of the scope ends it";
        817 EntitlementLapsed "this right has expired, is used up, or was revoked further up";
        818 NotDelegatable "this entitlement may not be passed on";
        819 DelegationTooWide "a delegation allows no more than its parent, in any field";
        820 NotRevocable "this can only be given up by the one who has it";
        821 BadRole "a role has 1 to 8 scopes and 1 to 8 actions, is not about pools, and is not passed on";
        822 UnknownRole "there is no such role";
        823 NotYourRole "only a role's owner gives and takes it";
        824 HasRole "the assignee has this role already";
        825 TooManyRoles "the assignee has 64 roles; one has to be taken first";
        826 HasNoSuchRole "the assignee does not have this role";
        827 AcceptedAlready "this membership was accepted before";
    }
}

impl Inadmissible {
    /// The stable name as the API spells it: [`name`](Self::name) in snake case.
    pub const fn api_code(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::WrongChain => "wrong_chain",
            Self::BadSignature => "bad_signature",
            Self::NonceTooLow => "nonce_too_low",
            Self::NonceTooHigh => "nonce_too_high",
            Self::PriorityAboveMaximum => "priority_above_maximum",
            Self::FeeBelowBasefee => "fee_below_basefee",
            Self::LimitTooLow => "limit_too_low",
            Self::LimitTooHigh => "limit_too_high",
            Self::CostOverflow => "cost_overflow",
            Self::CannotPay => "cannot_pay",
            Self::BlockFull => "block_full",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_so_none_is_given_twice() {
        let codes: Vec<u16> = Inadmissible::ALL
            .iter()
            .map(|e| e.code())
            .chain(Refusal::ALL.iter().map(|e| e.code()))
            .collect();
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(Refusal::from_code(422), Some(Refusal::UnknownJob));
    }

    #[test]
    fn the_apis_codes_are_the_names_in_snake_case() {
        for reason in Inadmissible::ALL {
            let mut snake = String::new();
            for letter in reason.name().chars() {
                if letter.is_uppercase() && !snake.is_empty() {
                    snake.push('_');
                }
                snake.extend(letter.to_lowercase());
            }
            assert_eq!(reason.api_code(), snake);
        }
    }
}
