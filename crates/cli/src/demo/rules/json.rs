//! `remuda demo --json`: money in base units as strings, bytes as 0x-hex.

use super::claims::Claim;
use super::stage::Epoch;
use super::summary::{JobEnd, RunnerEnd, Score, SeatEnd, SubmitterEnd, Summary, status_text};
use remuda_protocol::primitives::{Address, Amount};
use serde_json::{Value, json};

impl Summary {
    /// One JSON object.
    pub fn to_json(&self) -> Value {
        json!({
            "ok": self.ok(),
            "height": self.height,
            "epochs": self.epochs.iter().map(epoch_json).collect::<Vec<_>>(),
            "jobs": self.jobs.iter().map(|job| self.job_json(job)).collect::<Vec<_>>(),
            "runners": self.runners.iter().map(runner_json).collect::<Vec<_>>(),
            "submitter": submitter_json(&self.submitter),
            "proposer": money(self.proposer),
            "treasury": money(self.treasury),
            "supply": {
                "genesis": money(self.genesis),
                "burned": money(self.burned),
                "total": money(self.supply),
                "balances": money(self.holdings.balances),
                "stakes": money(self.holdings.stakes),
                "escrows": money(self.holdings.escrows),
                "bonds": money(self.holdings.bonds),
                "deposits": money(self.holdings.deposits),
            },
            "claims": self.claims.iter().map(claim_json).collect::<Vec<_>>(),
        })
    }

    fn job_json(&self, job: &JobEnd) -> Value {
        let names =
            |list: &[Address]| list.iter().map(|who| self.name(*who)).collect::<Vec<&str>>();
        let amount = |(who, amount): &(Address, Amount)| {
            let (runner, amount) = (self.name(*who), money(*amount));
            json!({ "runner": runner, "amount": amount })
        };
        let amounts = |list: &[(Address, Amount)]| list.iter().map(amount).collect::<Vec<_>>();
        let seat =
            |seat: &SeatEnd| json!({ "runner": self.name(seat.runner), "role": seat.role.name() });
        json!({
            "act": job.act,
            "job_id": job.id.to_string(),
            "mode": job.mode,
            "submitted_at": job.submitted_at,
            "drawn_at": job.drawn_at,
            "ended_at": job.ended_at,
            "committee": job.committee,
            "n_threshold": job.n_threshold,
            "aggregator": job.aggregator.map(|who| self.name(who)),
            "seats": job.seats.iter().map(seat).collect::<Vec<_>>(),
            "status": status_text(&job.status),
            "agreed": job.agreed,
            "winners": names(&job.winners),
            "paid": amounts(&job.paid),
            "escrow": money(job.escrow),
            "burned": money(job.burned),
            "treasury": money(job.treasury),
            "refunded": money(job.refunded),
            "slashed": amounts(&job.slashed),
            "bond": money(job.bond),
        })
    }
}

fn money(amount: Amount) -> String {
    amount.to_string()
}

fn epoch_json(epoch: &Epoch) -> Value {
    let Epoch { height, active, hhi_nano, m_target, m_adaptive } = epoch;
    json!({
        "height": height, "active": active, "hhi_nano": hhi_nano,
        "m_target": m_target, "m_adaptive": m_adaptive,
    })
}

fn runner_json(runner: &RunnerEnd) -> Value {
    let score = |score: &Score| {
        let Score { height, points, reputation_nano } = score;
        json!({ "height": height, "score": points, "reputation_nano": reputation_nano })
    };
    json!({
        "name": runner.name,
        "address": format!("{:#x}", runner.address),
        "slot": runner.slot,
        "balance": money(runner.balance),
        "staked": money(runner.staked),
        "stake": money(runner.stake),
        "locked": money(runner.locked),
        "reputation_nano": runner.reputation_nano,
        "jailed_until": runner.jailed_until,
        "won": runner.won,
        "scores": runner.scores.iter().map(score).collect::<Vec<_>>(),
        "fees": money(runner.fees),
        "deposit": money(runner.deposit),
    })
}

fn submitter_json(submitter: &SubmitterEnd) -> Value {
    json!({
        "name": submitter.name,
        "address": format!("{:#x}", submitter.address),
        "balance": money(submitter.balance),
        "fees": money(submitter.fees),
        "failed_callbacks": submitter.failed_callbacks,
    })
}

fn claim_json(claim: &Claim) -> Value {
    json!({ "claim": claim.text, "holds": claim.holds })
}
