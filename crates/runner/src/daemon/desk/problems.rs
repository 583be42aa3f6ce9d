//! What keeps the runner from working, and what its operator can do about it.

use super::{Action, Desk};
use crate::daemon::registration::{mismatch, trouble};
use crate::daemon::sender::Purpose;
use remuda_client::types::HexAddress;
use std::collections::BTreeSet;
use tracing::{info, warn};

/// For how long somebody is remembered who used the key.
pub(super) const TWIN_MS: u64 = 60_000;

/// One of each is shown at a time, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// No node tells where the chain is.
    Nodes,
    /// A node is of another chain.
    Stranger,
    /// Somebody else uses the key.
    Twin,
    /// The chain gives it no work.
    Standing,
    /// A part of the runner's own is out of order.
    Fault,
    /// There is no money for fees.
    Money,
    /// The offer on chain is not that of the settings.
    Offer,
    /// Something that work depends on is not there.
    Dependency,
}

impl Desk {
    pub(super) fn problems(&self) -> Vec<(Kind, String)> {
        let mut all = Vec::new();
        all.extend(self.chain.problem.iter().map(|why| (Kind::Nodes, why.clone())));
        let strangers =
            self.chain.strangers.iter().filter(|why| self.chain.problem.as_ref() != Some(why));
        all.extend(strangers.map(|why| (Kind::Stranger, why.clone())));
        all.extend(self.twin().map(|why| (Kind::Twin, why)));
        let view = self.standing.view();
        if self.standing.last().is_some() {
            let resumes = self.draining() || self.resumes() || self.outbox.has(&Purpose::Resume);
            let trouble = trouble(view, resumes, &self.rules.commands);
            all.extend(trouble.map(|why| (Kind::Standing, why)));
        }
        all.extend(self.faults.problem().map(|why| (Kind::Fault, why)));
        all.extend(self.short_of_money().map(|why| (Kind::Money, why)));
        let offer = match &self.rules.offer {
            // Until it is known what governance vouches for, so is not what is offered.
            Ok(_) if !self.rules.pinnable.is_empty() => None,
            Ok(offer) => mismatch(offer, view, &self.rules.commands),
            Err(why) => Some(format!("what the settings offer is no offer: {why}")),
        };
        all.extend(offer.map(|why| (Kind::Offer, why)));
        all.extend(self.dependencies.problem().map(|why| {
            let rest = "; nothing that it offers can be done, so it pauses on chain until then";
            (Kind::Dependency, if self.helpless() { why + rest } else { why })
        }));
        all
    }

    /// Another program with the same key, if one was seen of late.
    fn twin(&self) -> Option<String> {
        let seen = self.twin_ms?;
        (self.now_ms < seen.saturating_add(TWIN_MS)).then(|| {
            let me = HexAddress(self.identity.me);
            format!(
                "another program may be using the key of {me}: a session or a nonce was taken over. If \
                 a second runner runs with it, stop one of them: two answers for one seat contradict \
                 each other, which costs stake"
            )
        })
    }

    /// Puts into the log what is new, once: the words may change with every block.
    pub(super) fn log_problems(&mut self) {
        let problems = self.problems();
        for (kind, why) in problems.iter().filter(|(kind, _)| !self.logged.contains(kind)) {
            warn!(?kind, %why, "a problem");
        }
        let kinds: BTreeSet<Kind> = problems.into_iter().map(|(kind, _)| kind).collect();
        for kind in self.logged.difference(&kinds) {
            info!(?kind, "a problem is solved");
        }
        self.logged = kinds;
    }

    /// Somebody looked for what work depends on. Sessions are told once of all that is new.
    pub(super) fn probed(&mut self, found: Vec<(String, bool)>) {
        let news = found.into_iter().filter(|(capability, there)| {
            // All are learned, also those that are no news.
            self.dependencies.learn(capability, *there)
        });
        let (added, removed): (Vec<_>, Vec<_>) = news.partition(|(_, there)| *there);
        let names = |all: Vec<(String, bool)>| all.into_iter().map(|(name, _)| name).collect();
        let open = self.sessions.open();
        let is_news = !added.is_empty() || !removed.is_empty();
        if is_news && !open.is_empty() {
            self.act(Action::Capability(open, names(added), names(removed)));
        }
    }
}
