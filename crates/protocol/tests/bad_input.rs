//! Whatever is wrong with a transaction or a block is refused with its own code, and costs its
//! sender the fee and nobody anything else.

#[path = "bad_input/actors.rs"]
mod actors;
use crate::common;
#[path = "bad_input/entitlements.rs"]
mod entitlements;
#[path = "bad_input/timers.rs"]
mod timers;

use common::{
    ANSWER, STAKE, World, callback, calm, every_instruction, offer, single_job, vote_job,
};
use proptest::prelude::*;
use remuda_protocol::account::Account;
use remuda_protocol::block::{Block, SeedSignature, presence_hash, seeds_root, transactions_root};
use remuda_protocol::codec::{Bytes, Decode, Encode};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::{Job, Status};
use remuda_protocol::dispatcher::spec::{DataFormat, JobKind, JobSpec, JobType, Message};
use remuda_protocol::error::{Inadmissible, Refusal};
use remuda_protocol::event::{CrashSignal, Event, Receipt};
use remuda_protocol::execute::{BlockError, Draft, apply_block, intrinsic, propose_block};
use remuda_protocol::key::{AccountKey, BasefeesKey, RunnerKey, SupplyKey, TimerLaneKey};
use remuda_protocol::local::{LocalChain, PROPOSER};
use remuda_protocol::presence::PresenceRefusal;
use remuda_protocol::primitives::{Address, Amount, B256, Height, JobId};
use remuda_protocol::registry::pool::{Pool, VIRTUAL_SHARES};
use remuda_protocol::registry::runner::{Offer, Profile, Runner};
use remuda_protocol::registry::unbonding::{BATCHES_MAX, Batch};
use remuda_protocol::state::{Key, MemoryState, StateKey};
use remuda_protocol::supply::recorded;
use remuda_protocol::system::TREASURY;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::transaction::{Instruction, SignedTransaction, Transaction};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::json::Decimal;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A refusal, and a way to earn it: brings the world to where the last transaction is due, and
/// returns that transaction.
struct Case {
    refusal: Refusal,
    name: &'static str,
    make: fn(&mut World) -> Signed,
}

struct Signed {
    sender: Address,
    bytes: Vec<u8>,
}

fn case(refusal: Refusal, name: &'static str, make: fn(&mut World) -> Signed) -> Case {
    Case { refusal, name, make }
}

/// Refusals that no transaction can earn, and why.
const UNREACHABLE: &[(Refusal, &str)] = &[
    (
        Refusal::OutOfCells,
        "no instruction consumes cells beyond its intrinsic ones, which admission has checked",
    ),
    // What only code can bring about; `crates/vm/tests/chain` does.
    (Refusal::NotAProgram, NEEDS_CODE),
    (Refusal::ActorExists, NEEDS_CODE),
    (Refusal::NotOwner, NEEDS_CODE),
    (Refusal::CallsWaiting, NEEDS_CODE),
    (Refusal::ExceptionRaised, NEEDS_CODE),
    (Refusal::OutOfMemory, NEEDS_CODE),
    (Refusal::UnknownMethod, NEEDS_CODE),
    (Refusal::TooDeep, NEEDS_CODE),
    (Refusal::Reentrant, NEEDS_CODE),
    (Refusal::ReadOnly, NEEDS_CODE),
    (Refusal::StorageKeyTooLong, NEEDS_CODE),
    (Refusal::ValueTooLong, NEEDS_CODE),
    (Refusal::StorageFull, NEEDS_CODE),
    (Refusal::EventTooLarge, NEEDS_CODE),
    (Refusal::CallCyclesOutOfRange, NEEDS_CODE),
    (Refusal::BadHostCall, NEEDS_CODE),
    (Refusal::BadJob, NEEDS_CODE),
    (Refusal::TooManyWaiting, NEEDS_CODE),
    (Refusal::TooManyOpen, NEEDS_CODE),
    (Refusal::FramesTooLarge, NEEDS_CODE),
    (Refusal::NotWaitedFor, NEEDS_CODE),
    (Refusal::CalleeWaits, NEEDS_CODE),
    (Refusal::FramesUnreadable, NEEDS_CODE),
    (Refusal::WaitTooLong, NEEDS_CODE),
    (Refusal::AnotherWaits, NEEDS_CODE),
    (Refusal::AskTimedOut, NEEDS_CODE),
    (Refusal::UpgradedCannotWait, NEEDS_CODE),
    (Refusal::BadScope, NEEDS_CODE),
    (Refusal::TooManyOpenHandlers, NEEDS_CODE),
];
const NEEDS_CODE: &str = "a chain without a machine runs no code";

impl World {
    fn signed(&self, key: &SecretKey, instruction: Instruction) -> Signed {
        let body = self.chain.transaction(key.address(), instruction);
        Signed { sender: key.address(), bytes: body.sign(key).to_bytes() }
    }

    /// A job of the customer, spoiled.
    fn spoiled(&self, mut spec: JobSpec, spoil: impl FnOnce(&mut JobSpec)) -> Signed {
        spoil(&mut spec);
        self.signed(&self.customer(), Instruction::SubmitJob { spec })
    }

    fn spoiled_vote(&self, spoil: impl FnOnce(&mut JobSpec)) -> Signed {
        self.spoiled(vote_job(3, Amount::cby(1)), spoil)
    }

    /// A job whose checks are these.
    fn checked(&self, mode: VerificationMode, checks: Vec<VerifierCheck>) -> Signed {
        self.spoiled_vote(|spec| {
            spec.verification.mode = mode;
            spec.verification.checks = checks;
        })
    }

    /// A change of the first runner's offer, spoiled.
    fn spoiled_offer(&self, spoil: impl FnOnce(&mut Offer)) -> Signed {
        let mut offer = offer();
        spoil(&mut offer);
        self.signed(&self.runner(0), Instruction::UpdateRunner { offer })
    }

    /// A job with one runner at work.
    fn single(&mut self, mode: VerificationMode) -> (JobId, SecretKey) {
        let job = self.assigned(single_job(mode, Amount::cby(10)));
        let runner = self.seated(job).remove(0);
        (job, runner)
    }

    /// A job with three runners at work.
    fn vote(&mut self) -> (JobId, Vec<SecretKey>) {
        let job = self.assigned(vote_job(3, Amount::cby(10)));
        let seated = self.seated(job);
        (job, seated)
    }

    /// A job whose three runners have committed to the answer.
    fn committed(&mut self) -> (JobId, Vec<SecretKey>) {
        let (job, seated) = self.vote();
        self.commit_all(job, ANSWER);
        assert_eq!(self.status(job), Status::Committed);
        (job, seated)
    }

    fn outsider(&self, job: JobId) -> SecretKey {
        let seated: BTreeSet<Address> = self.job(job).seats.iter().map(|s| s.runner).collect();
        self.runners.iter().find(|key| !seated.contains(&key.address())).unwrap().clone()
    }

    fn commit(&self, key: &SecretKey, job: JobId) -> Signed {
        let commitment = B256::repeat_byte(1);
        self.signed(key, Instruction::CommitResult { job, commitment })
    }

    fn reveal(&self, key: &SecretKey, job: JobId) -> Signed {
        let (_, reveal) = self.chain.sealed(key, job, ANSWER).expect("it is seated");
        self.signed(key, Instruction::RevealResult { job, reveal })
    }

    fn result(&self, key: &SecretKey, job: JobId) -> Signed {
        let (_, reveal) = self.chain.sealed(key, job, ANSWER).expect("it is seated");
        let (result, result_sig) = (reveal.result, reveal.result_sig);
        self.signed(key, Instruction::SubmitResult { job, result, result_sig })
    }

    fn crash(&self, key: &SecretKey, job: JobId) -> Signed {
        self.signed(key, Instruction::CrashAttestation { job, signal: CrashSignal::Oom })
    }

    fn signed_challenge(&self, key: &SecretKey, job: JobId) -> Signed {
        self.signed(key, Instruction::ChallengeResult { job })
    }

    fn cancel(&self, key: &SecretKey, job: JobId) -> Signed {
        self.signed(key, Instruction::CancelJob { job })
    }
}

fn vote_on(field: &str) -> VerifierCheck {
    VerifierCheck::MajorityVote { field: field.into() }
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse_plain(text).unwrap()
}

fn text(bytes: usize) -> String {
    "x".repeat(bytes)
}

fn money_cases() -> Vec<Case> {
    use Refusal::*;
    vec![
        case(OutOfCycles, "a limit that covers the bytes but not the selection", |w| {
            let (key, spec) = (w.customer(), vote_job(3, Amount::cby(1)));
            let mut body = w.chain.transaction(key.address(), Instruction::SubmitJob { spec });
            let size = body.to_bytes().len() + SignedTransaction::SIGNATURE_BYTES;
            body.cycles_limit = intrinsic(&body.instruction, size).cycles;
            Signed { sender: key.address(), bytes: body.sign(&key).to_bytes() }
        }),
        case(OutOfCycles, "a useless result that does not pay for the next draw", |w| {
            let (job, runner) = w.single(VerificationMode::None);
            let (_, reveal) = w.chain.sealed(&runner, job, b"no json").unwrap();
            let (result, result_sig) = (reveal.result, reveal.result_sig);
            let instruction = Instruction::SubmitResult { job, result, result_sig };
            let used = w.clone().ok(&runner, instruction.clone()).used.cycles.get();
            let mut body = w.chain.transaction(runner.address(), instruction);
            body.cycles_limit = used - 1;
            Signed { sender: runner.address(), bytes: body.sign(&runner).to_bytes() }
        }),
        case(DepositAboveLimit, "an offer that nobody signed a deposit for", |w| {
            let instruction = Instruction::UpdateRunner { offer: common::full_offer() };
            let mut body = w.chain.transaction(w.runner(0).address(), instruction);
            body.max_deposit = Amount::ZERO;
            Signed { sender: w.runner(0).address(), bytes: body.sign(&w.runner(0)).to_bytes() }
        }),
        case(DepositNotCovered, "a deposit of more than there is", |w| {
            let poor = SecretKey::from_label("poor");
            let (to, amount) = (poor.address(), Amount::cby(3));
            w.ok(&w.customer(), Instruction::Transfer { to, amount });
            let timer = ScheduleTimer {
                height: w.chain.height().plus(9),
                payload: vec![7; 60_000].into(),
                ..ScheduleTimer::default()
            };
            w.signed(&poor, Instruction::ScheduleTimer { timer })
        }),
        case(InsufficientBalance, "a transfer of more than there is", |w| {
            let amount = w.balance(&w.customer());
            w.signed(&w.customer(), Instruction::Transfer { to: PROPOSER, amount })
        }),
        case(InsufficientBalance, "a stake of more than there is", |w| {
            let amount = w.balance(&w.runner(0));
            w.signed(&w.runner(0), Instruction::Stake { amount })
        }),
        case(InsufficientBalance, "unstaking more than is staked", |w| {
            let amount = Amount(STAKE.get() + 1);
            w.signed(&w.runner(0), Instruction::Unstake { amount })
        }),
        case(InsufficientBalance, "a delegation of more than there is", |w| {
            let (runner, amount) = (w.runner(0).address(), w.balance(&w.customer()));
            w.signed(&w.customer(), Instruction::Delegate { runner, amount, min_shares: 0 })
        }),
        case(InsufficientBalance, "a registration with money that is not there", |w| {
            let stake = w.balance(&w.customer());
            w.signed(&w.customer(), Instruction::RegisterRunner { stake, offer: offer() })
        }),
        case(AmountOverflow, "price and tip beyond 128 bits", |w| {
            w.spoiled_vote(|spec| {
                spec.max_price = Amount(u128::MAX);
                spec.tip = Amount(1);
            })
        }),
        case(AmountOverflow, "price and callback beyond 128 bits", |w| {
            w.spoiled_vote(|spec| {
                spec.max_price = Amount(u128::MAX);
                spec.callback = Some(callback(1));
            })
        }),
        case(ZeroAmount, "a transfer of nothing", |w| {
            let amount = Amount::ZERO;
            w.signed(&w.customer(), Instruction::Transfer { to: PROPOSER, amount })
        }),
        case(ZeroAmount, "a stake of nothing", |w| {
            w.signed(&w.runner(0), Instruction::Stake { amount: Amount::ZERO })
        }),
        case(ZeroAmount, "unstaking nothing", |w| {
            w.signed(&w.runner(0), Instruction::Unstake { amount: Amount::ZERO })
        }),
        case(ZeroAmount, "undelegating nothing", |w| {
            let runner = w.runner(0).address();
            w.signed(&w.customer(), Instruction::Undelegate { runner, shares: 0 })
        }),
        case(SystemAddress, "a transfer to the treasury", |w| {
            let amount = Amount(1);
            w.signed(&w.customer(), Instruction::Transfer { to: TREASURY, amount })
        }),
        case(SystemAddress, "a transfer to the zero address", |w| {
            let (to, amount) = (Address::ZERO, Amount(1));
            w.signed(&w.customer(), Instruction::Transfer { to, amount })
        }),
    ]
}

fn registry_cases() -> Vec<Case> {
    use Refusal::*;
    vec![
        case(UnknownRunner, "a heartbeat of somebody who is no runner", |w| {
            w.signed(&w.customer(), Instruction::Heartbeat)
        }),
        case(UnknownRunner, "a delegation to somebody who is no runner", |w| {
            let (runner, amount) = (w.stranger().address(), Amount::cby(1));
            w.signed(&w.customer(), Instruction::Delegate { runner, amount, min_shares: 0 })
        }),
        case(UnknownRunner, "an undelegation from somebody who is no runner", |w| {
            let runner = w.stranger().address();
            w.signed(&w.customer(), Instruction::Undelegate { runner, shares: 1 })
        }),
        case(AlreadyRegistered, "a second registration", |w| {
            let (stake, offer) = (STAKE, offer());
            w.signed(&w.runner(0), Instruction::RegisterRunner { stake, offer })
        }),
        case(NotRegistered, "a heartbeat after leaving", |w| {
            w.ok(&w.runner(0), Instruction::DeregisterRunner);
            w.signed(&w.runner(0), Instruction::Heartbeat)
        }),
        case(NotRegistered, "leaving twice", |w| {
            w.ok(&w.runner(0), Instruction::DeregisterRunner);
            w.signed(&w.runner(0), Instruction::DeregisterRunner)
        }),
        case(StakeBelowFloor, "a registration under the minimum", |w| {
            let stake = Amount(w.chain.params.min_stake - 1);
            w.signed(&w.customer(), Instruction::RegisterRunner { stake, offer: offer() })
        }),
        case(StakeBelowFloor, "a registration under 1.5 times the declared value", |w| {
            let mut offer = offer();
            offer.declared_max_job_value = Amount::cby(20_000);
            let stake = Amount(Amount::cby(30_000).get() - 1);
            w.signed(&w.customer(), Instruction::RegisterRunner { stake, offer })
        }),
        case(StakeBelowFloor, "a declared value beyond all bounds", |w| {
            w.spoiled_offer(|offer| offer.declared_max_job_value = Amount(u128::MAX))
        }),
        case(StakeBelowFloor, "unstaking below the minimum", |w| {
            let amount = Amount(STAKE.get() - w.chain.params.min_stake + 1);
            w.signed(&w.runner(0), Instruction::Unstake { amount })
        }),
        case(StakeInUse, "unstaking what an open job needs", |w| {
            let job = w.assigned(vote_job(3, Amount::cby(20_000)));
            let amount = Amount::cby(10_001);
            w.signed(&w.seated(job)[0], Instruction::Unstake { amount })
        }),
        case(StakeInUse, "leaving while a bonded result can be challenged", |w| {
            let job = w.settled(single_job(VerificationMode::EconomicBond, Amount::cby(10)));
            w.signed(&w.seated(job)[0], Instruction::DeregisterRunner)
        }),
        case(HasOpenJobs, "leaving a seat", |w| {
            let (_, seated) = w.vote();
            w.signed(&seated[0], Instruction::DeregisterRunner)
        }),
        case(NoKinds, "an offer of nothing", |w| w.spoiled_offer(|offer| offer.kinds.clear())),
        case(OfferTooLarge, "65 models", |w| {
            w.spoiled_offer(|offer| offer.models = (0..65).map(|i| format!("{i:02}")).collect())
        }),
        case(OfferTooLarge, "65 chains", |w| {
            w.spoiled_offer(|offer| offer.eth_chains = (0..65).collect())
        }),
        case(OfferTooLarge, "a resolver with a name of 129 bytes", |w| {
            w.spoiled_offer(|offer| offer.resolvers = vec![text(129)])
        }),
        case(OfferTooLarge, "a model without a name", |w| {
            w.spoiled_offer(|offer| offer.models = vec![String::new()])
        }),
        case(OfferNotDistinct, "a resolver twice", |w| {
            w.spoiled_offer(|offer| offer.resolvers = vec!["a".into(), "a".into()])
        }),
        case(OfferNotDistinct, "kinds out of order", |w| {
            w.spoiled_offer(|offer| offer.kinds = vec![JobKind::Custom, JobKind::Llm])
        }),
        case(OfferNotDistinct, "an executor twice", |w| {
            w.spoiled_offer(|offer| offer.executors = vec![B256::ZERO; 2])
        }),
        case(BadCommission, "more than everything", |w| {
            w.spoiled_offer(|offer| offer.commission_bps = 10_001)
        }),
        case(NoCapacity, "no jobs at a time", |w| {
            w.spoiled_offer(|offer| offer.max_concurrent_jobs = 0)
        }),
        case(NoCapacity, "jobs without end", |w| {
            w.spoiled_offer(|offer| offer.max_concurrent_jobs = 10_001)
        }),
        case(PriceTooHigh, "a price beyond the limit", |w| {
            w.spoiled_offer(|offer| offer.rates.per_1k_out = Amount(10u128.pow(27) + 1))
        }),
        case(NotPaused, "resuming without a pause", |w| {
            w.signed(&w.runner(0), Instruction::ResumeRunner)
        }),
        case(AlreadyPaused, "a second pause", |w| {
            w.ok(&w.runner(0), Instruction::PauseRunner);
            w.signed(&w.runner(0), Instruction::PauseRunner)
        }),
        case(DelegationTooSmall, "a delegation under 1 CBY", |w| {
            let (runner, amount) = (w.runner(0).address(), Amount(Amount::CBY.get() - 1));
            w.signed(&w.customer(), Instruction::Delegate { runner, amount, min_shares: 0 })
        }),
        case(DelegationTooSmall, "a withdrawal of dust", |w| {
            let (runner, amount) = (w.runner(0).address(), Amount::cby(5));
            w.ok(&w.customer(), Instruction::Delegate { runner, amount, min_shares: 0 });
            w.signed(&w.customer(), Instruction::Undelegate { runner, shares: 1 })
        }),
        case(NotEnoughShares, "more shares than were bought", |w| {
            let (runner, amount) = (w.runner(0).address(), Amount::cby(5));
            w.ok(&w.customer(), Instruction::Delegate { runner, amount, min_shares: 0 });
            let shares = amount.get() * VIRTUAL_SHARES + 1;
            w.signed(&w.customer(), Instruction::Undelegate { runner, shares })
        }),
        case(TooFewShares, "a delegation at another price than it was meant for", |w| {
            let (runner, amount) = (w.runner(0).address(), Amount::cby(5));
            let min_shares = amount.get() * VIRTUAL_SHARES + 1;
            w.signed(&w.customer(), Instruction::Delegate { runner, amount, min_shares })
        }),
        case(TooManyUnbonding, "stake that leaves in 65 parts between open jobs", |w| {
            let runner = w.runner(0);
            w.rewrite(&RunnerKey { runner: runner.address() }, |record| {
                let pool = Pool { amount: Amount::ZERO, shares: VIRTUAL_SHARES };
                let batch = |began| Batch { began: Height(began), pool, duties: 1 };
                record.unbonding.batches = (0..BATCHES_MAX as u64).map(batch).collect();
            });
            w.signed(&runner, Instruction::Unstake { amount: Amount::cby(1) })
        }),
        case(NotEnoughShares, "somebody else's shares", |w| {
            let (runner, amount) = (w.runner(0).address(), Amount::cby(5));
            w.ok(&w.customer(), Instruction::Delegate { runner, amount, min_shares: 0 });
            w.signed(&w.stranger(), Instruction::Undelegate { runner, shares: 1 })
        }),
    ]
}

fn bounds_cases() -> Vec<Case> {
    use Refusal::*;
    vec![
        case(RunnersOutOfRange, "no runners", |w| {
            w.spoiled(single_job(VerificationMode::None, Amount::cby(1)), |spec| {
                spec.verification.runners = 0;
            })
        }),
        case(RunnersOutOfRange, "65 runners", |w| {
            w.spoiled_vote(|spec| spec.verification.runners = 65)
        }),
        case(RunnersOutOfRange, "a vote of two", |w| {
            w.spoiled_vote(|spec| spec.verification.runners = 2)
        }),
        case(ThresholdOutOfRange, "nobody has to agree", |w| {
            w.spoiled_vote(|spec| spec.verification.threshold = 0)
        }),
        case(ThresholdOutOfRange, "more have to agree than there are", |w| {
            w.spoiled_vote(|spec| spec.verification.threshold = 4)
        }),
        case(TooManyInputTokens, "input tokens", |w| {
            w.spoiled_vote(|spec| spec.bounds.max_input_tokens = 1_000_001)
        }),
        case(TooManyOutputTokens, "output tokens", |w| {
            w.spoiled_vote(|spec| spec.bounds.max_output_tokens = 1_000_001)
        }),
        case(WallTimeTooLong, "wall time", |w| {
            w.spoiled_vote(|spec| spec.bounds.max_wall_time_seconds = 3_601)
        }),
        case(TooMuchMemory, "memory", |w| {
            w.spoiled_vote(|spec| spec.bounds.max_memory_mb = 65_537)
        }),
        case(TooManyRetries, "retries", |w| w.spoiled_vote(|spec| spec.bounds.max_retries = 11)),
        case(ReturnTooLarge, "results of 65,537 bytes", |w| {
            w.spoiled_vote(|spec| spec.result_schema.max_return_bytes = 65_537)
        }),
        case(ReturnTooLarge, "results of no bytes", |w| {
            w.spoiled_vote(|spec| spec.result_schema.max_return_bytes = 0)
        }),
        case(ReturnTooSmall, "results of 127 bytes", |w| {
            w.spoiled_vote(|spec| spec.result_schema.max_return_bytes = 127)
        }),
        case(TimeoutTooLong, "timeout", |w| {
            let most = w.chain.params.max_timeout_blocks;
            w.spoiled_vote(|spec| spec.timeout_blocks = most + 1)
        }),
        case(TimeoutTooShort, "a time in which nobody can commit", |w| {
            w.spoiled_vote(|spec| spec.timeout_blocks = 9)
        }),
    ]
}

fn check_cases() -> Vec<Case> {
    use Refusal::*;
    use VerificationMode::{Deterministic, MajorityVote, SemanticSimilarity, StructuredMatch};
    vec![
        case(TooManyChecks, "17 checks", |w| {
            let checks = (0..17).map(|i| vote_on(&format!("f{i}"))).collect();
            w.checked(StructuredMatch, checks)
        }),
        case(CheckTooLarge, "a field name of 1,025 bytes", |w| {
            w.checked(MajorityVote, vec![vote_on(&text(1_025))])
        }),
        case(CheckTooLarge, "a schema of 4,097 bytes", |w| {
            let schema = format!("{{}}{}", " ".repeat(4_095));
            w.checked(StructuredMatch, vec![VerifierCheck::JsonSchemaValid { schema }])
        }),
        case(CheckTooLarge, "33 fields", |w| {
            let fields = (0..33).map(|i| format!("f{i}")).collect();
            w.checked(StructuredMatch, vec![VerifierCheck::StructuredMatch { fields }])
        }),
        case(BadCheck, "a malformed path", |w| w.checked(MajorityVote, vec![vote_on("a..b")])),
        case(BadCheck, "a schema with an unknown keyword", |w| {
            let schema = r#"{"pattern":"a"}"#.into();
            w.checked(StructuredMatch, vec![VerifierCheck::JsonSchemaValid { schema }])
        }),
        case(BadCheck, "an empty range", |w| {
            let (min, max) = (decimal("2"), decimal("1"));
            let range = VerifierCheck::NumericRange { field: "v".into(), min, max };
            w.checked(StructuredMatch, vec![range, vote_on("v")])
        }),
        case(BadCheck, "a negative tolerance", |w| {
            let tolerance = decimal("-1");
            let near = VerifierCheck::NumericTolerance { field: "v".into(), tolerance };
            w.checked(StructuredMatch, vec![near, vote_on("v")])
        }),
        case(ChecksDoNotFitMode, "a vote on nothing", |w| w.checked(MajorityVote, vec![])),
        case(ChecksDoNotFitMode, "a vote on two fields", |w| {
            w.checked(MajorityVote, vec![vote_on("a"), vote_on("b")])
        }),
        case(ChecksDoNotFitMode, "checks that let everybody win", |w| {
            let schema = "{}".into();
            w.checked(StructuredMatch, vec![VerifierCheck::JsonSchemaValid { schema }])
        }),
        case(ChecksDoNotFitMode, "a vote of one", |w| {
            w.spoiled(single_job(VerificationMode::None, Amount::cby(1)), |spec| {
                spec.verification.checks = vec![vote_on("a")];
            })
        }),
        case(ChecksDoNotFitMode, "a check of what must be equal anyway", |w| {
            w.checked(Deterministic, vec![vote_on("")])
        }),
        case(TooManyResolvers, "a DNS check without resolvers", |w| {
            w.checked(MajorityVote, vec![vote_on("a"), dns_check(0)])
        }),
        case(TooManyResolvers, "a DNS check with 17 resolvers", |w| {
            w.checked(MajorityVote, vec![vote_on("a"), dns_check(17)])
        }),
        case(CheckNeedsActor, "a check by an actor", |w| {
            let custom =
                VerifierCheck::Custom { actor: Address::repeat_byte(1), method: "m".into() };
            w.checked(StructuredMatch, vec![vote_on("a"), custom])
        }),
        case(ModeUnavailable, "similarity", |w| w.checked(SemanticSimilarity, vec![])),
        case(NotDeterministic, "a web request cannot be repeated", |w| {
            w.checked(Deterministic, vec![])
        }),
        case(NotDeterministic, "an executor that nobody vouches for", |w| {
            w.spoiled_vote(|spec| {
                spec.job_type = custom_job(B256::repeat_byte(9));
                spec.verification.mode = Deterministic;
                spec.verification.checks.clear();
            })
        }),
        case(SingleRunnerOnly, "a transaction sent three times", |w| {
            w.spoiled_vote(|spec| spec.job_type = eth_send(b"tx"))
        }),
        case(NotBondable, "a transaction that a challenge would send again", |w| {
            w.spoiled(single_job(VerificationMode::EconomicBond, Amount::cby(1)), |spec| {
                spec.job_type = eth_send(b"tx");
            })
        }),
        case(NotBondable, "a bonded web page, which may change before its trial", |w| {
            let web = vote_job(3, Amount::cby(1)).job_type;
            w.spoiled(single_job(VerificationMode::EconomicBond, Amount::cby(1)), |spec| {
                spec.job_type = web;
            })
        }),
        case(NoFairTrial, "a bonded job with too few judges", |w| {
            *w = World::new(calm(), 5);
            w.spoiled(single_job(VerificationMode::EconomicBond, Amount::cby(1)), |_| ())
        }),
        case(SecretsUnavailable, "a job with a secret", |w| {
            w.spoiled_vote(|spec| spec.secrets = vec!["key".into()])
        }),
        case(TeeUnavailable, "a job for runners with a TEE", |w| {
            w.spoiled_vote(|spec| spec.tee_required = true)
        }),
        case(FormatNeedsWholeResult, "a field of bytes", |w| {
            w.spoiled_vote(|spec| spec.result_schema.data_format = DataFormat::Bytes)
        }),
        case(FormatNeedsWholeResult, "a range of text", |w| {
            w.spoiled_vote(|spec| {
                let (min, max) = (decimal("1"), decimal("2"));
                let range = VerifierCheck::NumericRange { field: String::new(), min, max };
                spec.verification.mode = StructuredMatch;
                spec.verification.checks = vec![range, vote_on("")];
                spec.result_schema.data_format = DataFormat::Text;
            })
        }),
        case(JudgingTooExpensive, "512 fields of results that fill a transaction", |w| {
            let fields = |n: usize| (0..32).map(|i| format!("f{n}_{i}")).collect();
            let check = |n| VerifierCheck::StructuredMatch { fields: fields(n) };
            w.spoiled_vote(|spec| {
                spec.result_schema.max_return_bytes = 65_536;
                spec.verification.mode = StructuredMatch;
                spec.verification.checks = (0..16).map(check).collect();
            })
        }),
        case(FieldsOverlap, "a field inside another", |w| {
            let fields = vec!["a".into(), "a.b[0]".into()];
            w.checked(StructuredMatch, vec![VerifierCheck::StructuredMatch { fields }])
        }),
        case(FieldsOverlap, "one field in two checks", |w| {
            w.checked(StructuredMatch, vec![vote_on("a"), vote_on("a")])
        }),
        case(FieldsOverlap, "a field beside the whole document", |w| {
            w.checked(StructuredMatch, vec![vote_on(""), vote_on("a")])
        }),
    ]
}

fn dns_check(min_resolvers: u32) -> VerifierCheck {
    let (fqdn, expected_value) = ("example.org".into(), "v".into());
    VerifierCheck::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers }
}

fn custom_job(executor_hash: B256) -> JobType {
    JobType::Custom { executor_hash, params: Bytes::default() }
}

fn eth_send(raw: &[u8]) -> JobType {
    JobType::EthSend { chain_id: 1, raw_transaction: Bytes(raw.to_vec()) }
}

fn llm(model: &str, messages: usize) -> JobType {
    let message = Message { role: "user".into(), content: String::new() };
    let messages = vec![message; messages];
    JobType::Llm { model: model.into(), messages, temperature_milli: 0, seed: 0 }
}

fn text_cases() -> Vec<Case> {
    use Refusal::*;
    vec![
        case(SpecFieldTooLong, "a URL of 4,097 bytes", |w| {
            w.spoiled_vote(|spec| {
                if let JobType::Http { url, .. } = &mut spec.job_type {
                    *url = text(4_097);
                }
            })
        }),
        case(SpecFieldTooLong, "a request without a URL", |w| {
            w.spoiled_vote(|spec| {
                if let JobType::Http { url, .. } = &mut spec.job_type {
                    url.clear();
                }
            })
        }),
        case(BadWebRequest, "an address that is none of the web", |w| {
            w.spoiled_vote(|spec| {
                if let JobType::Http { url, .. } = &mut spec.job_type {
                    *url = "ftp://example.org/price".into();
                }
            })
        }),
        case(BadWebRequest, "a scheme and nothing else", |w| {
            w.spoiled_vote(|spec| {
                if let JobType::Http { url, .. } = &mut spec.job_type {
                    *url = "https://".into();
                }
            })
        }),
        case(BadWebRequest, "a method in small letters", |w| {
            w.spoiled_vote(|spec| {
                if let JobType::Http { method, .. } = &mut spec.job_type {
                    *method = "get".into();
                }
            })
        }),
        case(SpecFieldTooLong, "65 headers", |w| {
            w.spoiled_vote(|spec| {
                if let JobType::Http { headers, .. } = &mut spec.job_type {
                    *headers = vec![("h".into(), String::new()); 65];
                }
            })
        }),
        case(SpecFieldTooLong, "a model without a name", |w| {
            w.spoiled_vote(|spec| spec.job_type = llm("", 1))
        }),
        case(SpecFieldTooLong, "a conversation without a word", |w| {
            w.spoiled_vote(|spec| spec.job_type = llm("m", 0))
        }),
        case(SpecFieldTooLong, "a tool without a name", |w| {
            w.spoiled_vote(|spec| {
                let (server, tool, arguments) = ("s".into(), String::new(), "{}".into());
                spec.job_type = JobType::Mcp { server, tool, arguments };
            })
        }),
        case(SpecFieldTooLong, "a transaction without bytes", |w| {
            w.spoiled(single_job(VerificationMode::None, Amount::cby(1)), |spec| {
                spec.job_type = eth_send(b"");
            })
        }),
        case(SpecFieldTooLong, "65 secrets", |w| {
            w.spoiled_vote(|spec| spec.secrets = vec!["s".into(); 65])
        }),
        case(SpecFieldTooLong, "a pool without a name", |w| {
            w.spoiled_vote(|spec| spec.required_runner_pool = Some(Bytes::default()))
        }),
        case(BadCallback, "a handler without a name", |w| {
            w.spoiled_vote(|spec| {
                let mut callback = callback(1);
                callback.handler.clear();
                spec.callback = Some(callback);
            })
        }),
        case(BadCallback, "a callback that no block could run", |w| {
            let lane = w.chain.params.lane_runner * 2;
            w.spoiled_vote(|spec| spec.callback = Some(callback(lane + 1)))
        }),
        case(EscrowNotCovered, "a price beyond the balance", |w| {
            let balance = w.balance(&w.customer());
            w.spoiled_vote(|spec| spec.max_price = balance)
        }),
        case(EscrowNotCovered, "a challenge beyond the balance", |w| {
            let job = w.settled(single_job(VerificationMode::EconomicBond, Amount::cby(10)));
            let amount = Amount(w.balance(&w.stranger()).get() - Amount::cby(50).get());
            w.ok(&w.stranger(), Instruction::Transfer { to: PROPOSER, amount });
            w.signed_challenge(&w.stranger(), job)
        }),
        case(TipWithoutPrice, "a tip on unpaid work", |w| {
            w.spoiled_vote(|spec| (spec.max_price, spec.tip) = (Amount::ZERO, Amount(1)))
        }),
    ]
}

fn job_cases() -> Vec<Case> {
    use Refusal::*;
    const NOWHERE: JobId = B256::repeat_byte(0xee);
    vec![
        case(UnknownJob, "cancelling no job", |w| w.cancel(&w.customer(), NOWHERE)),
        case(UnknownJob, "a commit to no job", |w| w.commit(&w.runner(0), NOWHERE)),
        case(UnknownJob, "a crash in no job", |w| w.crash(&w.runner(0), NOWHERE)),
        case(UnknownJob, "a challenge of no job", |w| w.signed_challenge(&w.stranger(), NOWHERE)),
        case(UnknownJob, "a reveal for no job", |w| {
            let (job, seated) = w.committed();
            let (_, reveal) = w.chain.sealed(&seated[0], job, ANSWER).unwrap();
            w.signed(&seated[0], Instruction::RevealResult { job: NOWHERE, reveal })
        }),
        case(NotYourJob, "cancelling somebody else's job", |w| {
            let job = w.submit(vote_job(3, Amount::cby(1)));
            w.cancel(&w.stranger(), job)
        }),
        case(NotYourJob, "calling one's own challenge off", |w| {
            let job = w.settled(single_job(VerificationMode::EconomicBond, Amount::cby(10)));
            let challenger = w.stranger();
            let receipt = w.ok(&challenger, Instruction::ChallengeResult { job });
            let by_job = receipt.events.iter().find_map(|event| match event {
                Event::ResultChallenged { by_job, .. } => Some(*by_job),
                _ => None,
            });
            w.cancel(&challenger, by_job.unwrap())
        }),
        case(TooLateToCancel, "a single runner is at work", |w| {
            let (job, _) = w.single(VerificationMode::None);
            w.cancel(&w.customer(), job)
        }),
        case(TooLateToCancel, "a runner has committed", |w| {
            let (job, seated) = w.vote();
            w.chain.send_commit(&seated[0], job, ANSWER);
            w.chain.step();
            w.cancel(&w.customer(), job)
        }),
        case(TooLateToCancel, "the job is over", |w| {
            let job = w.settled(vote_job(3, Amount::cby(1)));
            w.cancel(&w.customer(), job)
        }),
        case(TooLateToCancel, "the job waits for its second committee", |w| {
            let (job, _) = w.vote();
            let deadline = w.job(job).commit_by;
            w.step_to(deadline);
            assert!(matches!(w.status(job), Status::Pending { .. }));
            w.cancel(&w.customer(), job)
        }),
    ]
}

fn result_cases() -> Vec<Case> {
    use Refusal::*;
    use VerificationMode::{EconomicBond, None as Unverified};
    vec![
        case(NotSeated, "a commit from outside", |w| {
            let (job, _) = w.vote();
            w.commit(&w.outsider(job), job)
        }),
        case(NotSeated, "a result from outside", |w| {
            let (job, runner) = w.single(Unverified);
            let (_, reveal) = w.chain.sealed(&runner, job, ANSWER).unwrap();
            let (result, result_sig) = (reveal.result, reveal.result_sig);
            let outsider = w.outsider(job);
            w.signed(&outsider, Instruction::SubmitResult { job, result, result_sig })
        }),
        case(NotSeated, "another's reveal under one's own name", |w| {
            let (job, seated) = w.committed();
            let (_, reveal) = w.chain.sealed(&seated[1], job, ANSWER).unwrap();
            w.signed(&seated[0], Instruction::RevealResult { job, reveal })
        }),
        case(NotSeated, "a commit after the seat was lost", |w| {
            let (job, seated) = w.vote();
            let deadline = w.job(job).commit_by;
            w.step_to(deadline);
            w.await_draw(job);
            w.commit(&seated[0], job)
        }),
        case(WrongPhase, "a commit when commits are closed", |w| {
            let (job, seated) = w.committed();
            w.commit(&seated[0], job)
        }),
        case(WrongPhase, "a reveal while commits are taken", |w| {
            let (job, seated) = w.vote();
            w.chain.send_commit(&seated[0], job, ANSWER);
            w.chain.step();
            w.reveal(&seated[0], job)
        }),
        case(WrongPhase, "a second result", |w| {
            let job = w.settled(single_job(Unverified, Amount::cby(1)));
            let runner = w.seated(job).remove(0);
            w.result(&runner, job)
        }),
        case(WrongPhase, "a crash when all is over", |w| {
            let job = w.settled(vote_job(3, Amount::cby(1)));
            let runner = w.seated(job).remove(0);
            w.crash(&runner, job)
        }),
        case(DeadlinePassed, "a commit after the deadline of a busy block", |w| {
            let job = w.submit(vote_job(3, Amount::cby(1)));
            let mut future = w.clone();
            future.await_draw(job);
            let deadline = future.job(job).commit_by;
            w.crowd(deadline, 1);
            w.step_to(deadline);
            assert_eq!(w.status(job), Status::Assigned);
            let runner = w.seated(job).remove(0);
            w.commit(&runner, job)
        }),
        case(DeadlinePassed, "a result after the deadline of a busy block", |w| {
            let spec = single_job(Unverified, Amount::cby(1));
            let deadline = w.chain.height().plus(1 + spec.timeout_blocks);
            w.crowd(deadline, 1);
            let job = w.submit(spec);
            w.step_to(deadline);
            let runner = w.seated(job).remove(0);
            w.result(&runner, job)
        }),
        case(DeadlinePassed, "a reveal after the deadline of a busy block", |w| {
            let (job, _) = w.vote();
            let mut future = w.clone();
            future.commit_all(job, ANSWER);
            let deadline = future.job(job).reveal_by;
            w.crowd(deadline, 1);
            w.commit_all(job, ANSWER);
            w.step_to(deadline);
            let runner = w.seated(job).remove(0);
            w.reveal(&runner, job)
        }),
        case(AlreadyCommitted, "a second commit", |w| {
            let (job, seated) = w.vote();
            w.chain.send_commit(&seated[0], job, ANSWER);
            w.chain.step();
            w.commit(&seated[0], job)
        }),
        case(AlreadyRevealed, "a second reveal", |w| {
            let (job, seated) = w.committed();
            w.chain.send_reveal(&seated[0], job, ANSWER);
            w.chain.step();
            w.reveal(&seated[0], job)
        }),
        case(AlreadyRevealed, "an aggregate of what is known", |w| {
            let (job, _) = w.committed();
            let aggregator = w.key_of(w.job(job).aggregator.unwrap());
            let (_, reveal) = w.chain.sealed(&aggregator, job, ANSWER).unwrap();
            w.chain.send_reveal(&aggregator, job, ANSWER);
            w.chain.step();
            let reveals = vec![reveal];
            w.signed(&aggregator, Instruction::RevealAggregate { job, reveals })
        }),
        case(NothingCommitted, "a crash before the commit", |w| {
            let (job, seated) = w.vote();
            w.crash(&seated[0], job)
        }),
        case(NotAggregator, "an aggregate by another member", |w| {
            let (job, seated) = w.committed();
            let aggregator = w.job(job).aggregator.unwrap();
            let other = seated.iter().find(|key| key.address() != aggregator).unwrap();
            let (_, reveal) = w.chain.sealed(other, job, ANSWER).unwrap();
            w.signed(other, Instruction::RevealAggregate { job, reveals: vec![reveal] })
        }),
        case(NoReveals, "an empty aggregate", |w| {
            let (job, _) = w.committed();
            let aggregator = w.key_of(w.job(job).aggregator.unwrap());
            w.signed(&aggregator, Instruction::RevealAggregate { job, reveals: vec![] })
        }),
        case(InvalidReveal, "an aggregate with another result of somebody else", |w| {
            let (job, seated) = w.committed();
            let aggregator = w.key_of(w.job(job).aggregator.unwrap());
            let other = seated.iter().find(|key| key.address() != aggregator.address()).unwrap();
            let good = w.chain.sealed(&aggregator, job, ANSWER).unwrap().1;
            let mut bad = w.chain.sealed(other, job, ANSWER).unwrap().1;
            bad.result = b"{\"answer\":0}".into();
            w.signed(&aggregator, Instruction::RevealAggregate { job, reveals: vec![good, bad] })
        }),
        case(BadResultSignature, "a result signed for something else", |w| {
            let (job, runner) = w.single(Unverified);
            let (_, reveal) = w.chain.sealed(&runner, job, ANSWER).unwrap();
            let result = b"{\"answer\":0}".into();
            let result_sig = reveal.result_sig;
            w.signed(&runner, Instruction::SubmitResult { job, result, result_sig })
        }),
        case(TooLateToAttest, "a crash 51 blocks after commits were closed", |w| {
            let mut params = calm();
            (params.aggregator_blocks, params.reveal_blocks) = (30, 60);
            *w = World::new(params, 7);
            let (job, seated) = w.committed();
            w.chain.steps(w.chain.params.crash_exemption_blocks);
            w.crash(&seated[0], job)
        }),
        case(TooLateToAttest, "a crash when a result is known", |w| {
            let (job, seated) = w.committed();
            w.chain.send_reveal(&seated[1], job, ANSWER);
            w.chain.step();
            w.crash(&seated[0], job)
        }),
        case(NotChallengeable, "a voted result", |w| {
            let job = w.settled(vote_job(3, Amount::cby(1)));
            w.signed_challenge(&w.stranger(), job)
        }),
        case(NotChallengeable, "a bonded result that is not there yet", |w| {
            let (job, _) = w.single(EconomicBond);
            w.signed_challenge(&w.stranger(), job)
        }),
        case(NotChallengeable, "a bonded result after its window", |w| {
            let job = w.settled(single_job(EconomicBond, Amount::cby(1)));
            let until = w.bond(job).unwrap().until;
            w.step_to(until);
            assert!(w.bond(job).is_some());
            w.signed_challenge(&w.stranger(), job)
        }),
        case(AlreadyChallenged, "a second challenge", |w| {
            let job = w.settled(single_job(EconomicBond, Amount::cby(10)));
            w.ok(&w.customer(), Instruction::ChallengeResult { job });
            w.signed_challenge(&w.stranger(), job)
        }),
        case(CommitFirst, "a result without a commit", |w| {
            let (job, seated) = w.vote();
            w.result(&seated[0], job)
        }),
        case(ResultDirectly, "a commit by a single runner", |w| {
            let (job, runner) = w.single(Unverified);
            w.commit(&runner, job)
        }),
    ]
}

fn cases() -> Vec<Case> {
    [
        money_cases(),
        registry_cases(),
        bounds_cases(),
        check_cases(),
        text_cases(),
        job_cases(),
        result_cases(),
        timers::timer_cases(),
        actors::actor_cases(),
        entitlements::entitlement_cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_refusal_has_a_case() {
    let provoked: BTreeSet<Refusal> = cases().iter().map(|case| case.refusal).collect();
    let unreachable: BTreeSet<Refusal> = UNREACHABLE.iter().map(|(refusal, _)| *refusal).collect();
    assert!(provoked.is_disjoint(&unreachable), "what happens is not unreachable");
    for refusal in Refusal::ALL {
        let known = provoked.contains(refusal) || unreachable.contains(refusal);
        assert!(known, "no case provokes {} ({})", refusal.code(), refusal.name());
    }
}

// spec §2.6, §3.6, §3.9, §6.3, §6.6, §6.17, §7.3, §7.5, §7.11, §11.2, §11.5
#[test]
fn a_refused_transaction_has_its_code_and_costs_its_fee_and_nothing_else() {
    for case in cases() {
        let mut world = World::new(calm(), 7);
        let Signed { sender, bytes } = (case.make)(&mut world);
        // What the block does without the transaction: deadlines pass, draws are made.
        let mut without = world.chain.clone();
        without.step();
        let mut with = world.chain;
        let hash = with.queue(bytes);
        with.step();
        let left_out = with.left_out(hash);
        let receipt =
            with.receipt(hash).unwrap_or_else(|| panic!("{}: left out: {left_out:?}", case.name));
        let got = Refusal::from_code(receipt.code);
        assert_eq!(got, Some(case.refusal), "{}", case.name);
        assert_eq!(receipt.events, [], "{}", case.name);
        assert_only_the_fee_moved(case.name, &without, &with, sender, receipt);
    }
}

fn assert_only_the_fee_moved(
    name: &str,
    without: &LocalChain,
    with: &LocalChain,
    sender: Address,
    receipt: &Receipt,
) {
    let moved = [
        AccountKey { address: sender }.bytes(),
        AccountKey { address: PROPOSER }.bytes(),
        SupplyKey {}.bytes(),
        BasefeesKey {}.bytes(),
        // It says how many cycles the block used.
        TimerLaneKey {}.bytes(),
    ];
    assert_eq!(changed(without, with, &moved), Vec::<Key>::new(), "{name}");
    let Receipt { fee, .. } = receipt;
    let (before, after) = (without.account(sender), with.account(sender));
    let paid = Account {
        balance: Amount(before.balance.get() - fee.get()),
        nonce: before.nonce + 1,
        ..before
    };
    assert_eq!(after, paid, "{name}");
    let tip = with.balance(PROPOSER).get() - without.balance(PROPOSER).get();
    let burned = recorded(&with.state).burned.get() - recorded(&without.state).burned.get();
    assert_eq!(tip + burned, fee.get(), "{name}");
    assert!(burned > 0 && tip > 0, "{name}: the fee went nowhere");
}

/// Keys whose values differ, but for some.
fn changed(a: &LocalChain, b: &LocalChain, but: &[Key]) -> Vec<Key> {
    let (a, b) = (a.state.entries(), b.state.entries());
    let keys: BTreeSet<Key> = a.keys().chain(b.keys()).map(<[u8]>::to_vec).collect();
    keys.into_iter().filter(|key| !but.contains(key) && a.get(key) != b.get(key)).collect()
}

/// A block's transactions, of which the last cannot be in it.
struct Left {
    reason: Inadmissible,
    name: &'static str,
    make: fn(&mut World) -> Vec<Vec<u8>>,
}

impl World {
    fn spoiled_transfer(&self, spoil: impl FnOnce(&mut Transaction)) -> Vec<Vec<u8>> {
        vec![self.transfer(spoil)]
    }

    fn transfer(&self, spoil: impl FnOnce(&mut Transaction)) -> Vec<u8> {
        let key = self.customer();
        let transfer = Instruction::Transfer { to: PROPOSER, amount: Amount(1) };
        let mut body = self.chain.transaction(key.address(), transfer);
        spoil(&mut body);
        body.sign(&key).to_bytes()
    }
}

fn left_out_cases() -> Vec<Left> {
    use Inadmissible::*;
    let case = |reason, name, make| Left { reason, name, make };
    vec![
        case(TooLarge, "one byte more than allowed", |w| {
            vec![vec![0; w.chain.params.max_tx_bytes as usize + 1]]
        }),
        case(Malformed, "nothing", |_| vec![Vec::new()]),
        case(Malformed, "one byte too many", |w| {
            let mut bytes = w.transfer(|_| ());
            bytes.push(0);
            vec![bytes]
        }),
        case(Malformed, "one byte too few", |w| {
            let mut bytes = w.transfer(|_| ());
            bytes.pop();
            vec![bytes]
        }),
        case(WrongChain, "another chain", |w| w.spoiled_transfer(|body| body.chain_id += 1)),
        case(BadSignature, "a v of Ethereum", |w| {
            let mut bytes = w.transfer(|_| ());
            *bytes.last_mut().unwrap() += 27;
            vec![bytes]
        }),
        case(BadSignature, "an r beyond the group order", |w| {
            let mut bytes = w.transfer(|_| ());
            let at = bytes.len() - SignedTransaction::SIGNATURE_BYTES;
            bytes[at..at + 32].fill(0xff);
            vec![bytes]
        }),
        case(NonceTooLow, "the same again", |w| {
            let bytes = w.transfer(|_| ());
            vec![bytes.clone(), bytes]
        }),
        case(NonceTooHigh, "one too early", |w| w.spoiled_transfer(|body| body.nonce += 1)),
        case(PriorityAboveMaximum, "cycles", |w| {
            w.spoiled_transfer(|body| body.cycle_bid.max_priority = body.cycle_bid.max_fee + 1)
        }),
        case(PriorityAboveMaximum, "cells", |w| {
            w.spoiled_transfer(|body| body.cell_bid.max_priority = body.cell_bid.max_fee + 1)
        }),
        case(FeeBelowBasefee, "cycles", |w| {
            w.spoiled_transfer(|body| {
                body.cycle_bid.max_fee = w.chain.params.min_basefee - 1;
                body.cycle_bid.max_priority = 0;
            })
        }),
        case(FeeBelowBasefee, "cells", |w| {
            w.spoiled_transfer(|body| {
                body.cell_bid.max_fee = w.chain.params.min_basefee - 1;
                body.cell_bid.max_priority = 0;
            })
        }),
        case(LimitTooLow, "no cycles", |w| w.spoiled_transfer(|body| body.cycles_limit = 0)),
        case(LimitTooLow, "one cell too few", |w| w.spoiled_transfer(|body| body.cells_limit -= 1)),
        case(LimitTooHigh, "more cycles than the lane", |w| {
            w.spoiled_transfer(|body| body.cycles_limit = w.chain.params.lane_user * 2 + 1)
        }),
        case(LimitTooHigh, "more cells than a block", |w| {
            w.spoiled_transfer(|body| body.cells_limit = w.chain.params.cells_target * 2 + 1)
        }),
        case(CostOverflow, "one product", |w| {
            w.spoiled_transfer(|body| body.cycle_bid.max_fee = u128::MAX)
        }),
        case(CostOverflow, "the sum", |w| {
            w.spoiled_transfer(|body| {
                body.cycle_bid.max_fee = u128::MAX / u128::from(body.cycles_limit);
                body.cell_bid.max_fee = u128::MAX / u128::from(body.cells_limit);
            })
        }),
        case(CannotPay, "somebody without money", |w| {
            let key = SecretKey::from_label("pauper");
            let body = w.chain.transaction(key.address(), Instruction::Heartbeat);
            vec![body.sign(&key).to_bytes()]
        }),
        case(CannotPay, "a bid beyond the balance", |w| {
            let balance = w.balance(&w.customer()).get();
            w.spoiled_transfer(|body| {
                body.cycle_bid.max_fee = balance / u128::from(body.cycles_limit) + 1;
            })
        }),
        case(BlockFull, "no cycles left in the lane", |w| {
            let first = w.transfer(|_| ());
            let second = w.transfer(|body| {
                body.nonce += 1;
                body.cycles_limit = w.chain.params.lane_user * 2;
            });
            vec![first, second]
        }),
        case(BlockFull, "no cells left in the block", |w| {
            let first = w.transfer(|_| ());
            let second = w.transfer(|body| {
                body.nonce += 1;
                body.cells_limit = w.chain.params.cells_target * 2;
            });
            vec![first, second]
        }),
    ]
}

#[test]
fn every_reason_to_be_left_out_has_a_case() {
    let provoked: BTreeSet<Inadmissible> = left_out_cases().iter().map(|c| c.reason).collect();
    for reason in Inadmissible::ALL {
        assert!(provoked.contains(reason), "no case for {} ({})", reason.code(), reason.name());
    }
}

// spec §3.5
#[test]
fn an_inadmissible_transaction_is_left_out_and_spoils_a_block_that_holds_it() {
    for case in left_out_cases() {
        let mut world = World::new(calm(), 1);
        let mut transactions = (case.make)(&mut world);
        let block = forced(world.draft(), &transactions);
        let index = transactions.len() - 1;
        let refused = apply_block(&world.chain.state, &world.chain.params, &block);
        let expected = BlockError::Inadmissible { index, reason: case.reason };
        assert_eq!(refused.err(), Some(expected), "{}", case.name);

        let last = transactions.pop().unwrap();
        let (mut without, mut with) = (world.chain.clone(), world.chain);
        for bytes in transactions {
            without.queue(bytes.clone());
            with.queue(bytes);
        }
        let hash = with.queue(last);
        let (without_it, with_it) = (without.step(), with.step());
        assert_eq!(with.left_out(hash), Some(case.reason), "{}", case.name);
        assert_eq!(with_it.receipts, without_it.receipts, "{}", case.name);
        assert_eq!(with.state.entries(), without.state.entries(), "{}", case.name);
    }
}

/// A block with these transactions, whether they can be in it or not.
fn forced(draft: Draft, transactions: &[Vec<u8>]) -> Block {
    let Draft { mut header, seeds, presence } = draft;
    let transactions: Vec<Bytes> = transactions.iter().cloned().map(Bytes).collect();
    header.transactions_root = transactions_root(&transactions);
    header.seeds_root = seeds_root(&seeds);
    header.presence_hash = presence_hash(presence.as_ref());
    Block { header, seeds, presence, transactions }
}

/// A block with one transfer that is right in everything, and the world it follows.
fn sound_block() -> (World, Block) {
    let world = World::new(calm(), 1);
    let transfer = Bytes(world.transfer(|_| ()));
    let (block, _, left_out) =
        propose_block(&world.chain.state, &world.chain.params, world.draft(), &[transfer]).unwrap();
    assert!(left_out.is_empty());
    (world, block)
}

fn applied(world: &World, block: &Block) -> Result<(), BlockError> {
    apply_block(&world.chain.state, &world.chain.params, block).map(|_| ())
}

/// The kind of an error. A new kind does not compile until it has a name here.
fn kind(error: &BlockError) -> &'static str {
    match error {
        BlockError::NoGenesis => "NoGenesis",
        BlockError::WrongHeight { .. } => "WrongHeight",
        BlockError::RoundNotAfterParent => "RoundNotAfterParent",
        BlockError::WrongParentView { .. } => "WrongParentView",
        BlockError::UnknownProposer => "UnknownProposer",
        BlockError::TooSoon { .. } => "TooSoon",
        BlockError::Presence(_) => "Presence",
        BlockError::WrongSeedCount { .. } => "WrongSeedCount",
        BlockError::WrongRoot(_) => "WrongRoot",
        BlockError::Inadmissible { .. } => "Inadmissible",
    }
}

// spec §4.4, §4.7
#[test]
fn a_block_with_a_wrong_header_root_or_seed_log_is_refused_with_the_reason() {
    let (world, block) = sound_block();
    assert_eq!(applied(&world, &block), Ok(()));
    let chain = world.chain.chain();
    let (expected, owed) = (chain.height.plus(1), block.seeds.len() as u64);
    assert_eq!(owed, 1);
    let soonest = chain.timestamp_ms + world.chain.params.block_time_ms;
    let seed = SeedSignature { bytes: [1; 48] };
    type Spoil = Box<dyn Fn(&mut Block)>;
    let cases: Vec<(BlockError, Spoil)> = vec![
        (
            BlockError::WrongHeight { expected, got: chain.height },
            Box::new(move |b| b.header.height = chain.height),
        ),
        (
            BlockError::WrongHeight { expected, got: Height(u64::MAX) },
            Box::new(|b| b.header.height = Height(u64::MAX)),
        ),
        (BlockError::RoundNotAfterParent, Box::new(move |b| b.header.round = chain.round)),
        (BlockError::RoundNotAfterParent, Box::new(|b| b.header.round.view = 0)),
        (BlockError::RoundNotAfterParent, Box::new(|b| b.header.round.epoch += 1)),
        (
            BlockError::TooSoon { least: soonest, got: soonest - 1 },
            Box::new(move |b| b.header.timestamp_ms = soonest - 1),
        ),
        (
            BlockError::Presence(PresenceRefusal::UnknownBlock),
            Box::new(|b| {
                b.presence.as_mut().unwrap().block = B256::ZERO;
                b.header.presence_hash = presence_hash(b.presence.as_ref());
            }),
        ),
        (
            BlockError::WrongParentView { expected: chain.round.view, got: 0 },
            Box::new(|b| b.header.parent_view = 0),
        ),
        (BlockError::UnknownProposer, Box::new(|b| b.header.proposer = [1; 32])),
        (BlockError::WrongRoot("presence"), Box::new(|b| b.presence = None)),
        (BlockError::WrongRoot("presence"), Box::new(|b| b.header.presence_hash = B256::ZERO)),
        (
            BlockError::WrongSeedCount { expected: 1, got: 0 },
            Box::new(|b| {
                b.seeds.clear();
                b.header.seeds_root = seeds_root(&b.seeds);
            }),
        ),
        (
            BlockError::WrongSeedCount { expected: 1, got: 2 },
            Box::new(move |b| {
                b.seeds.push(seed);
                b.header.seeds_root = seeds_root(&b.seeds);
            }),
        ),
        (
            BlockError::WrongSeedCount { expected: 3, got: 1 },
            Box::new(|b| b.header.round.view += 2),
        ),
        (
            BlockError::WrongSeedCount { expected: 1_024, got: 1 },
            Box::new(|b| b.header.round.view = u64::MAX),
        ),
        (BlockError::WrongRoot("seeds"), Box::new(move |b| b.seeds[0] = seed)),
        (BlockError::WrongRoot("seeds"), Box::new(|b| b.header.seeds_root = B256::ZERO)),
        (BlockError::WrongRoot("transactions"), Box::new(|b| b.transactions.clear())),
        (
            BlockError::WrongRoot("transactions"),
            Box::new(|b| b.header.transactions_root = B256::ZERO),
        ),
        (
            BlockError::WrongRoot("receipts"),
            Box::new(|b| b.header.receipts_root = B256::repeat_byte(1)),
        ),
        (
            BlockError::WrongRoot("receipts"),
            Box::new(|b| {
                b.transactions.clear();
                b.header.transactions_root = transactions_root(&b.transactions);
            }),
        ),
        (
            BlockError::Inadmissible { index: 1, reason: Inadmissible::NonceTooLow },
            Box::new(|b| {
                b.transactions.push(b.transactions[0].clone());
                b.header.transactions_root = transactions_root(&b.transactions);
            }),
        ),
    ];
    let mut met: BTreeMap<&'static str, u32> = BTreeMap::new();
    for (error, spoil) in cases {
        let mut spoiled = block.clone();
        spoil(&mut spoiled);
        *met.entry(kind(&error)).or_default() += 1;
        assert_eq!(applied(&world, &spoiled), Err(error));
    }
    assert_eq!(met.len(), 9, "every kind but NoGenesis: {met:?}");
}

#[test]
fn without_a_genesis_there_is_no_block() {
    let (mut world, block) = sound_block();
    world.chain.state = MemoryState::default();
    assert_eq!(applied(&world, &block), Err(BlockError::NoGenesis));
}

// spec §4.7
#[test]
fn a_long_drought_is_paid_off_by_blocks_with_as_many_seeds_as_fit() {
    let mut world = World::new(calm(), 1);
    world.chain.params.max_seeds_per_block = 5;
    world.chain.skip_views = 12;
    world.step();
    world.chain.skip_views = 0;
    let owed = |world: &World| world.chain.chain().round.view - world.chain.chain().newest_seed;
    assert!(owed(&world) > 5);
    world.chain.steps(4);
    assert_eq!(owed(&world), 1, "the newest seed is that of the view before");
}

/// A world that the mutated transactions are offered to, and valid transactions to mutate.
static VALID: LazyLock<(World, Vec<Vec<u8>>)> = LazyLock::new(|| {
    let world = World::new(calm(), 1);
    let key = world.customer();
    let sign = |instruction| world.signed(&key, instruction).bytes;
    let transactions = every_instruction().into_iter().map(sign).collect();
    (world, transactions)
});

/// What can happen to bytes on their way.
#[derive(Clone, Debug)]
enum Harm {
    FlipBit(usize),
    Truncate(usize),
    Insert(usize, u8),
    /// The head of one transaction and the tail of another.
    Splice(usize, usize, usize),
    /// The signature of another transaction.
    SwapSignature(usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        any::<usize>().prop_map(Harm::FlipBit),
        any::<usize>().prop_map(Harm::Truncate),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Harm::Insert(at, byte)),
        (any::<usize>(), any::<usize>(), any::<usize>())
            .prop_map(|(a, b, c)| Harm::Splice(a, b, c)),
        any::<usize>().prop_map(Harm::SwapSignature),
    ]
}

fn mutate(transactions: &[Vec<u8>], which: usize, harm: &Harm) -> Vec<u8> {
    let original = &transactions[which % transactions.len()];
    let mut bytes = original.clone();
    let signature = bytes.len() - SignedTransaction::SIGNATURE_BYTES;
    match harm {
        Harm::FlipBit(at) => bytes[at / 8 % original.len()] ^= 1 << (at % 8),
        Harm::Truncate(at) => bytes.truncate(at % original.len()),
        Harm::Insert(at, byte) => bytes.insert(at % original.len(), *byte),
        Harm::Splice(other, head, tail) => {
            let other = &transactions[other % transactions.len()];
            bytes.truncate(head % original.len());
            bytes.extend_from_slice(&other[tail % other.len()..]);
        }
        Harm::SwapSignature(other) => {
            let other = &transactions[other % transactions.len()];
            let theirs = &other[other.len() - SignedTransaction::SIGNATURE_BYTES..];
            bytes[signature..].copy_from_slice(theirs);
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // spec §3.2
    #[test]
    fn a_transaction_that_was_changed_on_its_way_does_nothing(
        harms in proptest::collection::vec((any::<usize>(), harm()), 24)
    ) {
        let (world, valid) = &*VALID;
        let mutants: Vec<Bytes> = harms
            .iter()
            .map(|(which, harm)| Bytes(mutate(valid, *which, harm)))
            .filter(|mutant| !valid.contains(&mutant.0))
            .collect();
        let (state, params) = (&world.chain.state, &world.chain.params);
        let (block, outcome, left_out) =
            propose_block(state, params, world.draft(), &mutants).unwrap();
        prop_assert_eq!(left_out.len(), mutants.len());
        prop_assert!(block.transactions.is_empty() && outcome.receipts.is_empty());
    }

    // spec §1.1
    #[test]
    fn any_bytes_are_no_transaction(
        waiting in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..400), 24)
    ) {
        let (world, _) = &*VALID;
        let waiting: Vec<Bytes> = waiting.into_iter().map(Bytes).collect();
        let (state, params) = (&world.chain.state, &world.chain.params);
        let (block, ..) =
            propose_block(state, params, world.draft(), &waiting).unwrap();
        prop_assert!(block.transactions.is_empty());
    }

    // spec §1.1
    #[test]
    fn bytes_that_decode_are_the_encoding_of_what_they_decode_to(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        which in any::<usize>(),
        harm in harm(),
    ) {
        let mutant = mutate(&VALID.1, which, &harm);
        for bytes in [bytes, mutant] {
            canonical::<SignedTransaction>(&bytes)?;
            canonical::<Block>(&bytes)?;
            canonical::<Receipt>(&bytes)?;
            canonical::<Job>(&bytes)?;
            canonical::<Runner>(&bytes)?;
            canonical::<Profile>(&bytes)?;
        }
    }
}

#[test]
fn a_block_may_stop_anywhere_in_what_waits() {
    let world = World::new(calm(), 1);
    let key = world.customer();
    let waiting: Vec<Bytes> = (0..)
        .zip(every_instruction())
        .map(|(nonce, instruction)| {
            let mut body = world.chain.transaction(key.address(), instruction);
            body.nonce += nonce;
            Bytes(body.sign(&key).to_bytes())
        })
        .collect();
    let (state, params) = (&world.chain.state, &world.chain.params);
    for taken in 0..=waiting.len() {
        let (block, outcome, left_out) =
            propose_block(state, params, world.draft(), &waiting[..taken]).unwrap();
        assert_eq!(block.transactions.len() + left_out.len(), taken);
        assert_eq!(apply_block(state, params, &block).unwrap().diff, outcome.diff);
    }
}

fn canonical<T: Encode + Decode>(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(value) = T::from_bytes(bytes) {
        prop_assert_eq!(value.to_bytes(), bytes);
    }
    Ok(())
}
