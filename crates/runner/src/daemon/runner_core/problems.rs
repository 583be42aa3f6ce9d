//! What keeps the runner from working, and what its operator can do about it.

use super::{Action, RunnerCore};
use crate::daemon::outbox::Purpose;
use crate::daemon::registration::{mismatch, trouble};
use remuda_client::types::HexAddress;
use std::collections::BTreeSet;
use tracing::{info, warn};

/// How long foreign use of the key is reported.
pub(super) const FOREIGN_USE_MS: u64 = 60_000;

/// In the order in which problems are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    NodesUnavailable,
    WrongChain,
    ForeignUse,
    Registration,
    Fault,
    Balance,
    Offer,
    Dependency,
}

impl Kind {
    /// The field `problem` of the log.
    fn label(self) -> &'static str {
        match self {
            Self::NodesUnavailable => "nodes unavailable",
            Self::WrongChain => "node on another chain",
            Self::ForeignUse => "key used by another program",
            Self::Registration => "chain assigns no jobs",
            Self::Fault => "part failed",
            Self::Balance => "insufficient balance",
            Self::Offer => "offer on chain differs from settings",
            Self::Dependency => "backend unavailable",
        }
    }
}

impl RunnerCore {
    pub(super) fn problems(&self) -> Vec<(Kind, String)> {
        let mut all = Vec::new();
        all.extend(self.chain.problem.iter().map(|why| (Kind::NodesUnavailable, why.clone())));
        let wrong_chain_nodes = self
            .chain
            .wrong_chain_nodes
            .iter()
            .filter(|why| self.chain.problem.as_ref() != Some(why));
        all.extend(wrong_chain_nodes.map(|why| (Kind::WrongChain, why.clone())));
        all.extend(self.foreign_use().map(|why| (Kind::ForeignUse, why)));
        let view = self.standing.view();
        if self.standing.last().is_some() {
            let resumes = self.draining()
                || self.pause.ends(self.rules.resume)
                || self.outbox.has(&Purpose::Resume);
            let trouble = trouble(view, resumes, &self.rules.commands);
            all.extend(trouble.map(|why| (Kind::Registration, why)));
        }
        all.extend(self.faults.problem().map(|why| (Kind::Fault, why)));
        all.extend(self.short_of_money().map(|why| (Kind::Balance, why)));
        let offer = match &self.rules.offer {
            // The offer is complete once the pinned programs are known.
            Ok(_) if !self.rules.pinnable.is_empty() => None,
            Ok(offer) => mismatch(offer, view, &self.rules.commands),
            Err(why) => Some(format!("invalid offer in the settings: {why}")),
        };
        all.extend(offer.map(|why| (Kind::Offer, why)));
        all.extend(self.dependencies.problem().map(|why| {
            let rest =
                "; no job of the offer can be done, so the runner pauses on chain until then";
            (Kind::Dependency, if self.helpless() { why + rest } else { why })
        }));
        all
    }

    fn foreign_use(&self) -> Option<String> {
        let seen = self.foreign_use_ms?;
        (self.now_ms < seen.saturating_add(FOREIGN_USE_MS)).then(|| {
            let me = HexAddress(self.identity.me);
            format!(
                "another program may be using the key of {me}: a session or a nonce was taken over. Stop \
                 one of them: two different results for one seat cost stake"
            )
        })
    }

    /// Logs the beginning and the end of each kind of problem.
    pub(super) fn log_problems(&mut self) {
        let problems = self.problems();
        for (kind, detail) in problems.iter().filter(|(kind, _)| !self.logged.contains(kind)) {
            warn!(problem = kind.label(), detail, "problem detected");
        }
        let kinds: BTreeSet<Kind> = problems.into_iter().map(|(kind, _)| kind).collect();
        for kind in self.logged.difference(&kinds) {
            info!(problem = kind.label(), "problem resolved");
        }
        self.logged = kinds;
    }

    /// Tells sessions about all changes of one probe at once.
    pub(super) fn dependencies_probed(&mut self, found: Vec<(String, bool)>) {
        // `update` must see every answer.
        let changes = found.into_iter().filter(|(name, up)| self.dependencies.update(name, *up));
        let (added, removed): (Vec<_>, Vec<_>) = changes.partition(|(_, up)| *up);
        let names = |all: Vec<(String, bool)>| all.into_iter().map(|(name, _)| name).collect();
        let open = self.sessions.open();
        let changed = !added.is_empty() || !removed.is_empty();
        if changed && !open.is_empty() {
            self.act(Action::Capability(open, names(added), names(removed)));
        }
    }
}
