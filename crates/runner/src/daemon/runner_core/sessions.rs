//! The sessions with validators.

use super::schedule::Question;
use super::{Action, RunnerCore};
use crate::daemon::links::targets;
use remuda_client::types::RunnerValidators;
use remuda_link::frame::{BackpressureSignal, CloseReason};
use remuda_link::session::runner::Event as LinkEvent;
use remuda_link::sign::ValidatorKey;
use std::collections::BTreeMap;
use std::time::Duration;
use tracing::{info, warn};

/// Least time between two questions for the validators that follow from refused sessions.
const REFUSED_RETRY_MS: u64 = 2_000;
/// Least time between two backpressure signals. A validator accepts 16 frames a second.
const LOAD_MS: u64 = 500;
/// Validators that must report a takeover of the session. One may lie.
const WITNESSES: usize = 2;
/// Questions to nodes that one validator's announcement of a subset epoch leads to. Nodes learn of an epoch
/// within a few blocks, and a validator can make epochs up.
const EPOCH_QUESTIONS: u8 = 16;

#[derive(Clone, Debug)]
pub(super) enum SessionState {
    Closed { why: Option<String> },
    Open { rtt: Option<Duration>, head: Option<u64> },
}

/// A validator, and the session with it.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) index: u32,
    pub(super) current: bool,
    pub(super) api: Option<String>,
    pub(super) state: SessionState,
    pub(super) pushed: u64,
    /// The latest subset epoch that it announced.
    announced_epoch: u64,
    /// Questions to nodes because of that, since they last knew of a new epoch.
    epoch_questions: u8,
}

impl Session {
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, SessionState::Open { .. })
    }

    pub(super) fn head(&self) -> Option<u64> {
        match self.state {
            SessionState::Open { head, .. } => head,
            SessionState::Closed { .. } => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) all: BTreeMap<ValidatorKey, Session>,
    refused_ms: u64,
    /// The subset epoch of these validators.
    epoch: Option<u64>,
    /// Nodes are being asked for the validators of a later epoch.
    asking: bool,
    /// Why the validators are unknown.
    unknown: Option<String>,
    /// The last backpressure signal.
    signal: Option<BackpressureSignal>,
    signalled_ms: u64,
    /// When each validator last reported that a newer session replaced this one.
    replaced: BTreeMap<ValidatorKey, u64>,
}

impl Sessions {
    pub(super) fn any_open(&self) -> bool {
        self.all.values().any(Session::is_open)
    }

    pub(super) fn is_open(&self, validator: &ValidatorKey) -> bool {
        self.all.get(validator).is_some_and(Session::is_open)
    }

    pub(super) fn open(&self) -> Vec<ValidatorKey> {
        self.all.iter().filter(|(_, session)| session.is_open()).map(|(key, _)| *key).collect()
    }

    /// Records that a validator reported a takeover. Returns whether enough validators did so lately.
    fn taken_over(&mut self, validator: ValidatorKey, now_ms: u64) -> bool {
        self.replaced.insert(validator, now_ms);
        let all = &self.all;
        self.replaced.retain(|key, at| {
            all.contains_key(key) && now_ms < at.saturating_add(super::problems::FOREIGN_USE_MS)
        });
        self.replaced.len() >= self.all.len().min(WITNESSES)
    }

    /// The height that more than half of the open sessions have announced, so that a lie does not count.
    pub(super) fn common_head(&self) -> Option<u64> {
        let mut heads: Vec<u64> = self.all.values().filter_map(Session::head).collect();
        heads.sort_unstable();
        (!heads.is_empty()).then(|| heads[(heads.len() - 1) / 2])
    }

    /// Replaces the validators by those of a node's answer, and keeps the sessions with those that stay.
    fn replace(&mut self, answer: &RunnerValidators) {
        let mut known = std::mem::take(&mut self.all);
        for validator in &answer.validators {
            let key = validator.key.0.0;
            // A validator of two epochs is listed for the running one first.
            self.all.entry(key).or_insert_with(|| {
                let why = validator.link.is_none().then(|| "its address is not known".to_owned());
                let new = Session {
                    index: validator.index,
                    current: validator.current,
                    api: validator.api.clone(),
                    state: SessionState::Closed { why },
                    pushed: 0,
                    announced_epoch: 0,
                    epoch_questions: 0,
                };
                let Session { index, current, api, .. } = new.clone();
                known.remove(&key).map_or(new, |it| Session { index, current, api, ..it })
            });
        }
        let epoch = answer.epoch.0;
        if self.epoch.replace(epoch) != Some(epoch) {
            info!(epoch, validators = self.all.len(), "subset epoch validators updated");
            self.all.values_mut().for_each(|session| session.epoch_questions = 0);
        }
    }

    /// Whether to ask nodes for validators because a validator announced a later epoch.
    fn follow_epoch(&mut self) -> bool {
        let Some(known) = self.epoch.filter(|_| !self.asking) else { return false };
        for session in self.all.values_mut().filter(|session| session.announced_epoch > known) {
            if session.epoch_questions < EPOCH_QUESTIONS {
                session.epoch_questions += 1;
                self.asking = true;
            }
        }
        self.asking
    }
}

impl RunnerCore {
    pub(super) fn validators(&mut self, answer: Result<RunnerValidators, String>) {
        self.sessions.asking = false;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.questions.repeat(Question::Validators);
                if self.sessions.unknown.as_ref() != Some(&error) {
                    warn!(error, "cannot learn the runner's validators");
                    self.sessions.unknown = Some(error);
                }
                return;
            }
        };
        self.sessions.unknown = None;
        // A node that is behind does not know the newest epoch yet.
        let outdated = self.sessions.epoch.is_some_and(|known| answer.epoch.0 < known);
        if !self.rules.push || outdated {
            return;
        }
        self.sessions.replace(&answer);
        let all = &self.sessions.all;
        for open in self.jobs.values_mut() {
            open.streams.retain(|stream| all.contains_key(stream));
        }
        self.act(Action::SetLinks(self.identity.chain_id, targets(&answer)));
    }

    pub(super) fn session_opened(&mut self, validator: ValidatorKey) {
        let Some(session) = self.sessions.all.get_mut(&validator) else { return };
        session.state = SessionState::Open { rtt: None, head: None };
        info!(validator = session.index, "session opened");
        if let Some(signal) = self.sessions.signal.clone().filter(|signal| !signal.accepting_new) {
            self.act(Action::Load(vec![validator], signal));
        }
        let lost = self.lost_capabilities();
        if !lost.is_empty() {
            self.act(Action::Capability(vec![validator], Vec::new(), lost));
        }
    }

    pub(super) fn session_closed(&mut self, validator: ValidatorKey, why: String) {
        let Some(session) = self.sessions.all.get_mut(&validator) else { return };
        let reason = CloseReason::from_word(&why);
        let was_open = session.is_open();
        if was_open && !session.current && reason == Some(CloseReason::WrongSubset) {
            info!(validator = session.index, "session ended with its subset epoch");
        } else if was_open {
            warn!(validator = session.index, reason = why, "session closed");
        }
        session.state = SessionState::Closed { why: Some(why) };
        // The runner keeps one session with each validator, so a newer one is another program's.
        let replaced = was_open && reason == Some(CloseReason::Replaced);
        if replaced && self.sessions.taken_over(validator, self.now_ms) {
            self.foreign_use_ms = Some(self.now_ms);
        }
        for open in self.jobs.values_mut() {
            open.streams.retain(|stream| *stream != validator);
        }
        let moved = matches!(
            reason,
            Some(CloseReason::WrongEpoch | CloseReason::WrongSubset | CloseReason::NotRegistered)
        );
        if moved && self.now_ms.saturating_sub(self.sessions.refused_ms) >= REFUSED_RETRY_MS {
            self.sessions.refused_ms = self.now_ms;
            self.act(Action::GetValidators);
        }
    }

    /// Repeated with every block until the nodes know the epoch: the previous validators count for a few
    /// blocks only.
    pub(super) fn follow_epoch(&mut self) {
        if self.sessions.follow_epoch() {
            self.act(Action::GetValidators);
        }
    }

    pub(super) fn session_event(
        &mut self,
        validator: ValidatorKey,
        event: LinkEvent,
        latest_rtt: Duration,
    ) {
        let Some(session) = self.sessions.all.get_mut(&validator) else { return };
        if let SessionState::Open { rtt, head } = &mut session.state {
            *rtt = Some(latest_rtt);
            if let LinkEvent::Head(height) = event {
                *head = Some(height);
            }
        }
        match event {
            LinkEvent::Epoch(epoch) => {
                session.announced_epoch = epoch;
                self.follow_epoch();
            }
            LinkEvent::Head(height) if self.chain.height.is_some_and(|known| height > known) => {
                self.rounds.request();
                if self.rounds.due(self.now_ms, self.chain.spacing_ms(), u64::MAX) {
                    self.round();
                }
            }
            LinkEvent::Assigned(assignment) => {
                session.pushed += 1;
                self.assigned(validator, &assignment);
            }
            LinkEvent::Cancelled(cancel) => self.cancelled(validator, &cancel),
            LinkEvent::Handover(frame) => self.handover(frame),
            // The end of the session follows a goodbye.
            LinkEvent::Opened | LinkEvent::Head(_) | LinkEvent::Goodbye(_) => {}
        }
    }

    /// Sends validators a backpressure signal when the load has changed.
    pub(super) fn signal_load(&mut self) {
        let too_soon = self.now_ms < self.sessions.signalled_ms.saturating_add(LOAD_MS);
        if self.chain.height.is_none() || too_soon {
            return;
        }
        let busy = u32::try_from(self.busy()).unwrap_or(u32::MAX);
        let reason = if self.draining() {
            Some("draining")
        } else if self.short_of_money().is_some() {
            Some("no money for fees")
        } else if self.faults.of(std::iter::empty()).is_some() {
            Some("journal not writable")
        } else if self.helpless() {
            Some("no backend available")
        } else {
            None
        };
        let signal = BackpressureSignal {
            active_jobs: busy,
            max_concurrent: self.rules.slots,
            accepting_new: busy < self.rules.slots && reason.is_none(),
            reason: reason.map(str::to_owned),
        };
        if self.sessions.signal.as_ref() == Some(&signal) {
            return;
        }
        self.sessions.signalled_ms = self.now_ms;
        self.sessions.signal = Some(signal.clone());
        let open = self.sessions.open();
        if !open.is_empty() {
            self.act(Action::Load(open, signal));
        }
    }
}
