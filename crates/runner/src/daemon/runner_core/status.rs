//! The status that operators see.

use super::RunnerCore;
use super::history::kind_name;
use super::sessions::{Session, SessionState};
use crate::daemon::open_job::OpenJob;
use crate::daemon::status::{OpenJobView, SessionView, StandingView, StatusView};
use remuda_client::types::{BigUint, HexAddress, HexHash, Uint};

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl RunnerCore {
    pub(crate) fn status(&self) -> StatusView {
        StatusView {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            runner: HexAddress(self.identity.me),
            state: self.state,
            problems: self.problems().into_iter().map(|(_, why)| why).collect(),
            reachable: self.chain.reachable,
            chain_id: self.chain.height.map(|_| Uint(self.identity.chain_id)),
            height: Uint(self.at()),
            policy: self.chain.policy.clone(),
            standing: self.standing_view(),
            slots: self.rules.slots,
            busy: count(self.busy()),
            sending: count(self.outbox.len()),
            sessions: self.session_views(),
            jobs: self.jobs.values().map(job_view).collect(),
            finished: self.history.finished.iter().cloned().collect(),
            totals: self.history.totals,
            false_assignments: self.history.false_assignments.iter().cloned().collect(),
            unreadable: self.unreadable.clone(),
        }
    }

    fn standing_view(&self) -> Option<StandingView> {
        let last = self.standing.last()?;
        last.view.as_ref().map(|view| StandingView {
            height: Uint(last.height),
            status: view.status,
            healthy: view.healthy,
            present: view.present,
            stake: view.stake,
            effective_stake: view.effective_stake,
            reputation_nano: view.reputation_nano,
            failures: view.failures,
            jailed_until: view.jailed_until,
            balance: BigUint(self.chain.money.map_or(0, |(balance, _)| balance)),
        })
    }

    fn session_views(&self) -> Vec<SessionView> {
        let view = |(key, session): (&[u8; 32], &Session)| SessionView {
            validator: HexHash((*key).into()),
            index: session.index,
            current: session.current,
            open: session.is_open(),
            why: match &session.state {
                SessionState::Closed { why } => why.clone(),
                SessionState::Open { .. } => None,
            },
            rtt_micros: match session.state {
                SessionState::Open { rtt: Some(rtt), .. } => {
                    Some(Uint(u64::try_from(rtt.as_micros()).unwrap_or(u64::MAX)))
                }
                SessionState::Open { rtt: None, .. } | SessionState::Closed { .. } => None,
            },
            head: session.head().map(Uint),
            pushed: Uint(session.pushed),
        };
        let mut views: Vec<SessionView> = self.sessions.all.iter().map(view).collect();
        views.sort_by_key(|view| view.index);
        views
    }
}

fn job_view(open: &OpenJob) -> OpenJobView {
    let doing = match open.collected.len() {
        0 => open.activity.clone(),
        others => format!("{}; has {others} results of others", open.activity),
    };
    OpenJobView {
        job: HexHash(open.job_id),
        attempt: open.attempt,
        kind: kind_name(open.spec.as_ref()),
        doing,
        percent: open.percent,
        deadline: open.deadline().map(Uint),
        failure: open.failure(),
    }
}
