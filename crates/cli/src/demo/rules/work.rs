//! What every job of the story goes through: ordered, drawn, committed, opened.

use super::cast::Person;
use super::stage::{Stage, Surprise};
use remuda_protocol::codec::Bytes;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::job::Status;
use remuda_protocol::dispatcher::spec::{
    DataFormat, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::event::Event;
use remuda_protocol::primitives::{Address, Amount, B256, JobId};
use remuda_protocol::transaction::{Instruction, Reveal};
use remuda_protocol::verifier::check::VerifierCheck;

/// The jobs with a committee ask for 5 runners of which 3 must agree.
pub(super) const ASKED: (u32, u32) = (5, 3);
const PRICE: Amount = Amount::cby(99);
const TIP: Amount = Amount::cby(1);
/// The job with a single runner.
const SINGLE_PRICE: Amount = Amount::cby(40);
const TIMEOUT_BLOCKS: u64 = 10;

/// How a seated runner behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It does the work.
    Honest,
    /// It makes a result up.
    Liar,
    /// It commits and never opens its result.
    Silent,
    /// It does not even commit.
    Absent,
}

impl Role {
    /// A word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Honest => "honest",
            Self::Liar => "liar",
            Self::Silent => "silent",
            Self::Absent => "absent",
        }
    }
}

/// A job that was played: who behaved how, in draw order.
pub(super) struct Act {
    pub(super) name: &'static str,
    pub(super) job: JobId,
    pub(super) roles: Vec<(Address, Role)>,
}

impl Act {
    /// Who has this role.
    pub(super) fn who(&self, role: Role) -> Option<Address> {
        self.roles.iter().find(|(_, other)| *other == role).map(|(runner, _)| *runner)
    }
}

/// A web request under majority vote on one field of the answer.
pub(super) fn vote() -> JobSpec {
    let (runners, threshold) = ASKED;
    JobSpec {
        job_type: JobType::Http {
            method: "GET".to_owned(),
            url: "https://prices.example/cby-eur".to_owned(),
            headers: Vec::new(),
            body: Bytes::default(),
            extract: String::new(),
        },
        bounds: ResourceBounds::default(),
        verification: Verification {
            mode: VerificationMode::MajorityVote,
            runners,
            threshold,
            checks: vec![VerifierCheck::MajorityVote { field: "price".to_owned() }],
        },
        result_schema: ResultSchema {
            max_return_bytes: 1_024,
            expected_execution_ms: 500,
            data_format: DataFormat::Json,
        },
        max_price: PRICE,
        tip: TIP,
        timeout_blocks: TIMEOUT_BLOCKS,
        callback: None,
        tee_required: false,
        secrets: Vec::new(),
        required_runner_pool: None,
    }
}

/// The same request to a single runner.
pub(super) fn single() -> JobSpec {
    let verification =
        Verification { mode: VerificationMode::None, runners: 1, threshold: 1, checks: Vec::new() };
    JobSpec { verification, max_price: SINGLE_PRICE, tip: Amount::ZERO, ..vote() }
}

pub(super) fn order(stage: &mut Stage<'_>, spec: JobSpec) -> Result<JobId, Surprise> {
    let submitter = stage.cast.submitter.clone();
    stage.send(&submitter, Instruction::SubmitJob { spec });
    stage.step()?;
    let submitted = stage.log.events.iter().rev().find_map(|(_, event)| match event {
        Event::JobSubmitted { job, .. } => Some(*job),
        _ => None,
    });
    submitted.ok_or(Surprise::NeverHappened("a job was submitted"))
}

/// Waits for the draw, then casts: the first seats that do not collect the results get the special
/// roles. The collector is always honest; a collector that is not costs time, never the verdict,
/// and would make this another story.
pub(super) fn draw(
    stage: &mut Stage<'_>,
    name: &'static str,
    job: JobId,
    special: &[Role],
) -> Result<Act, Surprise> {
    let assigned = |status: &Status| !matches!(status, Status::Pending { .. });
    let record = stage.wait(job, "a committee is drawn", assigned)?;
    let mut special = special.iter().copied();
    let mut role_of = |runner| match record.aggregator == Some(runner) {
        true => Role::Honest,
        false => special.next().unwrap_or(Role::Honest),
    };
    let roles: Vec<(Address, Role)> =
        record.seats.iter().map(|seat| (seat.runner, role_of(seat.runner))).collect();
    if roles.is_empty() {
        return Err(Surprise::NeverHappened("a committee is drawn"));
    }
    Ok(Act { name, job, roles })
}

/// Everybody commits in the next block, except who is absent.
pub(super) fn commit(stage: &mut Stage<'_>, act: &Act) -> Result<(), Surprise> {
    for (runner, role) in &act.roles {
        if *role == Role::Absent {
            continue;
        }
        let person = player(stage, *runner)?;
        stage.note_result(&result_of(&person, *role));
        let (commitment, _) = sealed(stage, act, &person, *role)?;
        stage.send(&person, Instruction::CommitResult { job: act.job, commitment });
    }
    stage.step()
}

/// The collector opens what the others handed over.
pub(super) fn open(stage: &mut Stage<'_>, act: &Act) -> Result<(), Surprise> {
    let aggregator = stage.job(act.job)?.aggregator;
    let collector = aggregator.ok_or(Surprise::NeverHappened("a collector is chosen"))?;
    let mut reveals = Vec::new();
    for (runner, role) in &act.roles {
        if matches!(role, Role::Honest | Role::Liar) {
            let person = player(stage, *runner)?;
            reveals.push(sealed(stage, act, &person, *role)?.1);
        }
    }
    let collector = player(stage, collector)?;
    stage.send(&collector, Instruction::RevealAggregate { job: act.job, reveals });
    stage.step()
}

/// A single runner delivers its result without a commit.
pub(super) fn deliver(stage: &mut Stage<'_>, act: &Act) -> Result<(), Surprise> {
    let (runner, role) = act.roles[0];
    let person = player(stage, runner)?;
    stage.note_result(&result_of(&person, role));
    let Reveal { result, result_sig, .. } = sealed(stage, act, &person, role)?.1;
    stage.send(&person, Instruction::SubmitResult { job: act.job, result, result_sig });
    stage.step()
}

fn player(stage: &Stage<'_>, runner: Address) -> Result<Person, Surprise> {
    let person = stage.cast.runner(runner).cloned();
    person.ok_or(Surprise::NeverHappened("one of the five is drawn"))
}

fn sealed(
    stage: &Stage<'_>,
    act: &Act,
    person: &Person,
    role: Role,
) -> Result<(B256, Reveal), Surprise> {
    let sealed = stage.chain.sealed(&person.key, act.job, result_of(person, role).as_bytes());
    sealed.ok_or(Surprise::NeverHappened("a seated runner has a seat"))
}

fn result_of(person: &Person, role: Role) -> String {
    let price = if role == Role::Liar { "7.01" } else { "1.07" };
    format!(r#"{{"price":"{price}","seen_by":"{}"}}"#, person.name)
}

pub(super) fn is_over(status: &Status) -> bool {
    matches!(status, Status::Settled | Status::Failed { .. } | Status::Cancelled)
}
