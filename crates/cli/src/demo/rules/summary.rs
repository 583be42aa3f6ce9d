//! How the story came out, as data.

use super::claims::{Claim, claims};
use super::stage::{Epoch, Fee, Log, Stage};
use super::work::{Act, Role};
use remuda_protocol::dispatcher::job::{Job, Status};
use remuda_protocol::event::Event;
use remuda_protocol::key::JobSpecKey;
use remuda_protocol::local::PROPOSER;
use remuda_protocol::primitives::{Address, Amount, JobId};
use remuda_protocol::state::read;
use remuda_protocol::supply::{Holdings, recorded};
use remuda_protocol::system::TREASURY;

/// The end of the story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Height of the last block.
    pub height: u64,
    /// Committee sizes, one per boundary.
    pub epochs: Vec<Epoch>,
    /// The jobs, in order.
    pub jobs: Vec<JobEnd>,
    /// The runners, in the order in which they joined.
    pub runners: Vec<RunnerEnd>,
    /// Who ordered the jobs.
    pub submitter: SubmitterEnd,
    /// Tips.
    pub proposer: Amount,
    /// The treasury's balance.
    pub treasury: Amount,
    /// Money at genesis.
    pub genesis: Amount,
    /// What of it exists, as the chain records it.
    pub supply: Amount,
    /// What of it was destroyed, as the chain records it.
    pub burned: Amount,
    /// Where what exists is, counted.
    pub holdings: Holdings,
    /// What every transaction paid.
    pub fees: Vec<Fee>,
    /// What the rules promise, and whether it is so.
    pub claims: Vec<Claim>,
}

/// A job that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEnd {
    /// In which act.
    pub act: &'static str,
    /// Its name.
    pub id: JobId,
    /// How it was verified.
    pub mode: &'static str,
    /// Height of its submission.
    pub submitted_at: u64,
    /// Height of its draw.
    pub drawn_at: u64,
    /// Height of its end.
    pub ended_at: u64,
    /// Size of the committee.
    pub committee: u32,
    /// How many had to agree.
    pub n_threshold: u32,
    /// Who collected the results.
    pub aggregator: Option<Address>,
    /// The seats, in draw order.
    pub seats: Vec<SeatEnd>,
    /// How it ended.
    pub status: Status,
    /// What the winners agreed on.
    pub agreed: Option<String>,
    /// Who won, in draw order.
    pub winners: Vec<Address>,
    /// What each of them got.
    pub paid: Vec<(Address, Amount)>,
    /// Price and tip.
    pub escrow: Amount,
    /// Burned of it.
    pub burned: Amount,
    /// The treasury's part.
    pub treasury: Amount,
    /// What went back to the submitter.
    pub refunded: Amount,
    /// Stake that was slashed, and whose.
    pub slashed: Vec<(Address, Amount)>,
    /// Stake that answers for the result.
    pub bond: Amount,
}

impl JobEnd {
    /// Who had this role.
    pub fn who(&self, role: Role) -> Option<Address> {
        self.seats.iter().find(|seat| seat.role == role).map(|seat| seat.runner)
    }
}

/// A seat of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatEnd {
    /// Who sat there.
    pub runner: Address,
    /// How it behaved.
    pub role: Role,
}

/// A runner at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerEnd {
    /// What the story calls it.
    pub name: &'static str,
    /// Its address.
    pub address: Address,
    /// Its index in presence bitmaps.
    pub slot: u32,
    /// Money at genesis.
    pub genesis: Amount,
    /// What it staked at the start.
    pub staked: Amount,
    /// What it has now.
    pub balance: Amount,
    /// What it has at stake now.
    pub stake: Amount,
    /// What of that is locked.
    pub locked: Amount,
    /// Its reputation.
    pub reputation_nano: u64,
    /// In jail until this height.
    pub jailed_until: Option<u64>,
    /// Jobs in whose winning group it was.
    pub won: usize,
    /// Its scores, in order.
    pub scores: Vec<Score>,
    /// What its transactions cost.
    pub fees: Amount,
    /// What its offer is held against.
    pub deposit: Amount,
}

/// A score and what it made of a reputation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// When.
    pub height: u64,
    /// How many points.
    pub points: u32,
    /// The reputation after it.
    pub reputation_nano: u64,
}

/// The submitter at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmitterEnd {
    /// What the story calls it.
    pub name: &'static str,
    /// Its address.
    pub address: Address,
    /// Money at genesis.
    pub genesis: Amount,
    /// What it has now.
    pub balance: Amount,
    /// What its transactions cost.
    pub fees: Amount,
    /// Callbacks that failed.
    pub failed_callbacks: u64,
}

impl Summary {
    pub(super) fn collect(stage: &Stage<'_>, acts: &[Act]) -> Self {
        let supply = recorded(&stage.chain.state);
        let mut summary = Self {
            height: stage.chain.height().get(),
            epochs: stage.log.epochs.clone(),
            jobs: acts.iter().map(|act| job_end(stage, act)).collect(),
            runners: runner_ends(stage),
            submitter: submitter_end(stage),
            proposer: stage.chain.balance(PROPOSER),
            treasury: stage.chain.balance(TREASURY),
            genesis: stage.cast.purses().into_iter().map(|(_, purse)| purse).sum(),
            supply: supply.total,
            burned: supply.burned,
            holdings: Holdings::count(&stage.chain.state),
            fees: stage.log.fees.clone(),
            claims: Vec::new(),
        };
        summary.claims = claims(&summary);
        summary
    }

    /// Whether everything came out as the rules say.
    pub fn ok(&self) -> bool {
        self.claims.iter().all(|claim| claim.holds)
    }

    /// A runner by its address.
    pub fn runner(&self, address: Address) -> Option<&RunnerEnd> {
        self.runners.iter().find(|runner| runner.address == address)
    }

    /// What the story calls an address.
    pub fn name(&self, address: Address) -> &'static str {
        self.runner(address).map_or("?", |runner| runner.name)
    }
}

/// The end of a job in a word or two.
pub(super) fn status_text(status: &Status) -> String {
    match status {
        Status::Failed { reason } => format!("Failed{{{reason:?}}}"),
        other => format!("{other:?}"),
    }
}

fn fees_of(log: &Log, payer: Address) -> Amount {
    log.fees.iter().filter(|fee| fee.payer == payer).map(|fee| fee.paid).sum()
}

fn submitter_end(stage: &Stage<'_>) -> SubmitterEnd {
    let person = &stage.cast.submitter;
    let account = stage.chain.account(person.address());
    SubmitterEnd {
        name: person.name,
        address: person.address(),
        genesis: person.purse,
        balance: account.balance,
        fees: fees_of(&stage.log, person.address()),
        failed_callbacks: account.failed_callbacks,
    }
}

fn runner_ends(stage: &Stage<'_>) -> Vec<RunnerEnd> {
    let mut ends = Vec::new();
    for person in &stage.cast.runners {
        let address = person.address();
        let (Some(runner), Some(profile)) =
            (stage.chain.runner(address), stage.chain.profile(address))
        else {
            continue;
        };
        ends.push(RunnerEnd {
            name: person.name,
            address,
            slot: profile.slot.get(),
            genesis: person.purse,
            staked: person.stake,
            balance: stage.chain.balance(address),
            stake: runner.effective_stake(),
            locked: runner.locked,
            reputation_nano: runner.reputation.nano(),
            jailed_until: runner.jailed_until.map(|height| height.get()),
            won: won(&stage.log, address),
            scores: scores(&stage.log, address),
            fees: fees_of(&stage.log, address),
            deposit: profile.held.amount(),
        });
    }
    ends
}

fn won(log: &Log, address: Address) -> usize {
    let won = |event: &Event| match event {
        Event::JobSettled { winners, .. } => winners.contains(&address),
        _ => false,
    };
    log.events.iter().filter(|(_, event)| won(event)).count()
}

fn scores(log: &Log, address: Address) -> Vec<Score> {
    let score = |(height, event): &(u64, Event)| match event {
        Event::ReputationChanged { runner, reputation_nano, score } if *runner == address => {
            let (height, reputation_nano) = (*height, *reputation_nano);
            Some(Score { height, points: *score, reputation_nano })
        }
        _ => None,
    };
    log.events.iter().filter_map(score).collect()
}

/// What the chain keeps of a job, and what the events tell about its money.
fn job_end(stage: &Stage<'_>, act: &Act) -> JobEnd {
    let id = act.job;
    let record: Job = stage.chain.job(id).expect("a job that was played is on chain");
    let spec = read(&stage.chain.state, &JobSpecKey { job: id }).expect("a job has a spec");
    let agreed = stage.chain.result(id).and_then(|result| result.agreed);
    let seats = act.roles.iter().map(|(runner, role)| SeatEnd { runner: *runner, role: *role });
    let mut end = JobEnd {
        act: act.name,
        id,
        mode: spec.verification.mode.name(),
        submitted_at: record.submitted_at.get(),
        drawn_at: 0,
        ended_at: 0,
        committee: record.committee,
        n_threshold: record.n_threshold,
        aggregator: record.aggregator,
        seats: seats.collect(),
        status: record.status,
        agreed: agreed.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        winners: Vec::new(),
        paid: Vec::new(),
        escrow: Amount::ZERO,
        burned: Amount::ZERO,
        treasury: Amount::ZERO,
        refunded: Amount::ZERO,
        slashed: Vec::new(),
        bond: Amount::ZERO,
    };
    for (height, event) in &stage.log.events {
        end.hear(*height, event);
    }
    end
}

impl JobEnd {
    fn hear(&mut self, height: u64, event: &Event) {
        let id = self.id;
        match event {
            Event::JobSubmitted { job, escrow, .. } if *job == id => self.escrow = *escrow,
            Event::JobAssigned { job, .. } if *job == id => self.drawn_at = height,
            Event::JobFailed { job, .. } if *job == id => self.ended_at = height,
            Event::JobSettled { job, winners, burned, treasury, .. } if *job == id => {
                self.ended_at = height;
                self.winners.clone_from(winners);
                (self.burned, self.treasury) = (*burned, *treasury);
            }
            Event::Paid { job, runner, amount, .. } if *job == id => {
                self.paid.push((*runner, *amount));
            }
            Event::Refunded { job, amount, .. } if *job == id => self.refunded = *amount,
            Event::NonRevealSlash { job, runner, amount } if *job == id => {
                self.slashed.push((*runner, *amount));
            }
            Event::BondLocked { job, amount, .. } if *job == id => self.bond = *amount,
            _ => {}
        }
    }
}
