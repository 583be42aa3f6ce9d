//! What the rules promise about the story, checked at its end.

use super::summary::{JobEnd, Summary};
use super::work::Role;
use remuda_protocol::dispatcher::job::{Failure, Status};
use remuda_protocol::primitives::{Address, Amount};

/// Something that has to be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What.
    pub text: &'static str,
    /// Whether it is.
    pub holds: bool,
}

pub(super) fn claims(summary: &Summary) -> Vec<Claim> {
    let [one, two, three, four] = &summary.jobs[..] else {
        return vec![Claim { text: "four jobs were played", holds: false }];
    };
    let mut claims = Vec::new();
    let mut claim = |text, holds| claims.push(Claim { text, holds });
    claim("M is 3 before the first boundary and 9 after it", committee_grew(summary, one));
    claim("one: 2 of 3 agree, the job settles", settled(one, 3, 2, 2));
    claim("one: the liar is unpaid and scores 0", lost(summary, one, Role::Liar));
    claim("one: the failed callback costs nobody anything", callback_is_free(summary));
    claim(
        "two: 3 of 5 agree, 4 must: half of four seats is paid, the rest goes back",
        refunded(two),
    );
    claim("two: a quarter of the silent one's stake is slashed", quarter_slashed(summary, two));
    claim("two: the silent one is jailed with reputation 0", disgraced(summary, two));
    claim("two: the liar is not scored", unscored(summary, two, Role::Liar));
    claim("three: 3 of 4 agree, the job settles", settled(three, 4, 3, 3));
    claim("three: the absent one scores 0", lost(summary, three, Role::Absent));
    claim("four: settled by one, its word for it", alone(four));
    claim("all parts of every price add up", [one, three, four].into_iter().all(adds_up));
    claim("supply = balances + stakes + escrows + bonds", conserved(summary));
    claims
}

fn committee_grew(summary: &Summary, first: &JobEnd) -> bool {
    let boundary = summary.epochs.first();
    first.committee == 3
        && boundary.is_some_and(|epoch| epoch.m_adaptive == 9 && first.ended_at < epoch.height)
}

fn settled(job: &JobEnd, committee: u32, n_threshold: u32, winners: usize) -> bool {
    job.status == Status::Settled
        && (job.committee, job.n_threshold) == (committee, n_threshold)
        && job.winners.len() == winners
        && job.paid.len() == winners
}

fn score_at(summary: &Summary, who: Address, height: u64) -> Option<u32> {
    let scores = &summary.runner(who)?.scores;
    scores.iter().find(|score| score.height == height).map(|score| score.points)
}

/// Not paid, and scored 0 when the job ended or, for a timeout, before.
fn lost(summary: &Summary, job: &JobEnd, role: Role) -> bool {
    let Some(who) = job.who(role) else { return false };
    let scored = (job.drawn_at..=job.ended_at).find_map(|at| score_at(summary, who, at));
    scored == Some(0) && job.paid.iter().all(|(paid, _)| *paid != who)
}

fn callback_is_free(summary: &Summary) -> bool {
    let submitter = &summary.submitter;
    let paid = summary.jobs.iter().filter_map(|job| job.escrow.minus(job.refunded));
    let spent: Amount = paid.chain([submitter.fees]).sum();
    submitter.failed_callbacks == 1 && submitter.genesis.minus(spent) == Some(submitter.balance)
}

fn refunded(job: &JobEnd) -> bool {
    let honest = job.seats.iter().filter(|seat| seat.role == Role::Honest).count();
    job.status == Status::Failed { reason: Failure::NoAgreement }
        && (honest, job.committee, job.n_threshold) == (3, 5, 4)
        && Some(job.refunded) == job.escrow.scale(3, 5)
        && job.paid.len() == 4
}

fn quarter_slashed(summary: &Summary, job: &JobEnd) -> bool {
    let silent = job.who(Role::Silent).and_then(|who| summary.runner(who));
    silent.is_some_and(|runner| {
        let quarter = Amount(runner.staked.get() / 4);
        job.slashed == [(runner.address, quarter)]
            && runner.staked.minus(quarter) == Some(runner.stake)
    })
}

fn disgraced(summary: &Summary, job: &JobEnd) -> bool {
    let silent = job.who(Role::Silent).and_then(|who| summary.runner(who));
    silent.is_some_and(|runner| runner.reputation_nano == 0 && runner.jailed_until.is_some())
}

fn unscored(summary: &Summary, job: &JobEnd, role: Role) -> bool {
    job.who(role).is_some_and(|who| {
        (job.drawn_at..=job.ended_at).all(|at| score_at(summary, who, at).is_none())
    })
}

fn alone(job: &JobEnd) -> bool {
    job.status == Status::Settled && job.winners.len() == 1 && job.committee == 1
}

fn adds_up(job: &JobEnd) -> bool {
    let paid = job.paid.iter().map(|(_, amount)| *amount);
    job.escrow == paid.chain([job.burned, job.treasury, job.refunded]).sum()
}

fn conserved(summary: &Summary) -> bool {
    summary.holdings.total() == summary.supply
        && summary.genesis.minus(summary.burned) == Some(summary.supply)
}
