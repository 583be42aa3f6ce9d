//! What is known of the sessions.

use super::{Action, Desk};
use crate::daemon::links::targets;
use remuda_client::types::RunnerValidators;
use remuda_link::frame::{BackpressureSignal, CloseReason};
use remuda_link::session::runner::Event;
use remuda_link::sign::ValidatorKey;
use std::collections::BTreeMap;
use std::time::Duration;
use tracing::{info, warn};

/// Least time between two questions for the validators that something went wrong with.
const ASK_AGAIN_MS: u64 = 2_000;
/// Least time between two signals of how busy the runner is; a validator hears 16 frames a second.
const LOAD_MS: u64 = 500;
/// Validators that must say that somebody else has a session with the key.
const WITNESSES: usize = 2;
/// How often one validator's announcement of a new subset epoch makes the runner ask its nodes for validators. A
/// node learns of the epoch a few blocks later at most, and a validator can make epochs up.
const EPOCH_QUESTIONS: u8 = 16;

/// A validator, and the session with it.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) index: u32,
    pub(super) current: bool,
    pub(super) api: Option<String>,
    pub(super) open: bool,
    pub(super) why: Option<String>,
    pub(super) rtt: Option<Duration>,
    pub(super) head: Option<u64>,
    pub(super) pushed: u64,
    /// The latest subset epoch that it told of, and how often nodes were asked because of it since they
    /// last knew of a new one.
    pub(super) epoch: u64,
    pub(super) epoch_questions: u8,
}

#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) all: BTreeMap<ValidatorKey, Session>,
    asked_ms: u64,
    /// The subset epoch whose validators these are.
    epoch: Option<u64>,
    /// Nodes are being asked for those of a later one.
    asking: bool,
    /// Why nobody tells who they are.
    unknown: Option<String>,
    told: Option<BackpressureSignal>,
    told_ms: u64,
    /// Which of them said when that a newer session took the place of this one.
    replaced: BTreeMap<ValidatorKey, u64>,
}

impl Sessions {
    pub(super) fn any_open(&self) -> bool {
        self.all.values().any(|session| session.open)
    }

    pub(super) fn is_open(&self, validator: &ValidatorKey) -> bool {
        self.all.get(validator).is_some_and(|session| session.open)
    }

    pub(super) fn open(&self) -> Vec<ValidatorKey> {
        self.all.iter().filter(|(_, session)| session.open).map(|(key, _)| *key).collect()
    }

    /// Whether a session was taken over, by the word of more than one validator where there are more:
    /// one may lie.
    fn taken_over(&mut self, validator: ValidatorKey, now_ms: u64) -> bool {
        self.replaced.insert(validator, now_ms);
        let all = &self.all;
        self.replaced.retain(|key, at| {
            all.contains_key(key) && now_ms < at.saturating_add(super::problems::TWIN_MS)
        });
        self.replaced.len() >= self.all.len().min(WITNESSES)
    }

    /// The newest block that more than half of the open sessions have told of: one that lies does
    /// not count.
    pub(super) fn common_head(&self) -> Option<u64> {
        let open = self.all.values().filter(|session| session.open);
        let mut heads: Vec<u64> = open.filter_map(|session| session.head).collect();
        heads.sort_unstable();
        (!heads.is_empty()).then(|| heads[(heads.len() - 1) / 2])
    }
}

impl Desk {
    pub(super) fn validators(&mut self, answer: Result<RunnerValidators, String>) {
        self.sessions.asking = false;
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => {
                // Asked again at the next block.
                self.asked[0] = None;
                if self.sessions.unknown.replace(why.clone()) != Some(why.clone()) {
                    warn!(%why, "cannot learn which validators to keep sessions with");
                }
                return;
            }
        };
        self.sessions.unknown = None;
        // A node that is behind another one does not know the newest yet.
        let epoch = answer.epoch.0;
        if !self.rules.push || self.sessions.epoch.is_some_and(|known| epoch < known) {
            return;
        }
        let mut all = BTreeMap::new();
        for validator in &answer.validators {
            let key = validator.key.0.0;
            // Who is in both epochs is listed as of the running one first.
            all.entry(key).or_insert_with(|| match self.sessions.all.remove(&key) {
                Some(session) => Session {
                    index: validator.index,
                    current: validator.current,
                    api: validator.api.clone(),
                    ..session
                },
                None => Session {
                    index: validator.index,
                    current: validator.current,
                    api: validator.api.clone(),
                    open: false,
                    why: validator.link.is_none().then(|| "its address is not known".to_owned()),
                    rtt: None,
                    head: None,
                    pushed: 0,
                    epoch: 0,
                    epoch_questions: 0,
                },
            });
        }
        let known = self.sessions.epoch.replace(epoch);
        if known != Some(epoch) {
            info!(epoch, validators = all.len(), "subset epoch validators updated");
            all.values_mut().for_each(|session| session.epoch_questions = 0);
        }
        let gone: Vec<ValidatorKey> = self.sessions.all.keys().copied().collect();
        self.sessions.all = all;
        for validator in gone {
            self.leave_streams(validator);
        }
        self.act(Action::Links(self.identity.chain_id, targets(&answer)));
    }

    pub(super) fn up(&mut self, validator: ValidatorKey) {
        let Some(session) = self.sessions.all.get_mut(&validator) else { return };
        (session.open, session.why) = (true, None);
        info!(validator = session.index, "a session is open");
        if let Some(signal) = self.sessions.told.clone().filter(|signal| !signal.accepting_new) {
            self.act(Action::Load(vec![validator], signal));
        }
        let lost = self.lost();
        if !lost.is_empty() {
            self.act(Action::Capability(vec![validator], Vec::new(), lost));
        }
    }

    pub(super) fn down(&mut self, validator: ValidatorKey, why: String) {
        let Some(session) = self.sessions.all.get_mut(&validator) else { return };
        let over = !session.current && CloseReason::WrongSubset.word() == why;
        if session.open && over {
            info!(validator = session.index, "session ended with its subset epoch");
        } else if session.open {
            warn!(validator = session.index, %why, "a session ended");
        }
        let moved = [CloseReason::WrongEpoch, CloseReason::WrongSubset, CloseReason::NotRegistered];
        let moved = moved.iter().any(|parting| parting.word() == why);
        // It keeps one session with each: a newer one is somebody else's.
        let replaced = session.open && CloseReason::Replaced.word() == why;
        (session.open, session.head, session.rtt) = (false, None, None);
        session.why = Some(why);
        if replaced && self.sessions.taken_over(validator, self.now_ms) {
            self.twin_ms = Some(self.now_ms);
        }
        self.leave_streams(validator);
        let waited = self.now_ms.saturating_sub(self.sessions.asked_ms);
        if moved && waited >= ASK_AGAIN_MS {
            self.sessions.asked_ms = self.now_ms;
            self.act(Action::Validators);
        }
    }

    /// Asks nodes for the validators of a subset epoch that a validator told of, until they know it: with
    /// every block, since the validators before it count for a few blocks only.
    pub(super) fn follow_epoch(&mut self) {
        let Some(known) = self.sessions.epoch.filter(|_| !self.sessions.asking) else { return };
        let mut told = false;
        for session in self.sessions.all.values_mut().filter(|session| session.epoch > known) {
            if session.epoch_questions < EPOCH_QUESTIONS {
                session.epoch_questions += 1;
                told = true;
            }
        }
        if told {
            self.sessions.asking = true;
            self.act(Action::Validators);
        }
    }

    fn leave_streams(&mut self, validator: ValidatorKey) {
        for open in self.jobs.values_mut() {
            open.streams.retain(|stream| *stream != validator);
        }
    }

    pub(super) fn heard(&mut self, validator: ValidatorKey, event: Event, rtt: Duration) {
        let Some(session) = self.sessions.all.get_mut(&validator) else { return };
        session.rtt = Some(rtt);
        match event {
            Event::Opened => {}
            Event::Epoch(epoch) => {
                session.epoch = epoch;
                self.follow_epoch();
            }
            Event::Head(height) => {
                session.head = Some(height);
                if self.chain.height.is_some_and(|known| height > known) {
                    self.rounds.due = true;
                    if self.now_ms.saturating_sub(self.rounds.last_ms) >= self.spacing_ms() {
                        self.round();
                    }
                }
            }
            Event::Assigned(assignment) => {
                session.pushed += 1;
                self.assigned(validator, &assignment);
            }
            Event::Cancelled(cancel) => self.cancelled(validator, &cancel),
            Event::Handover(frame) => self.handover(frame),
            // Its end comes as well.
            Event::Goodbye(_) => {}
        }
    }

    /// Tells validators how busy the runner is, when that has changed.
    pub(super) fn tell_load(&mut self) {
        if self.chain.height.is_none()
            || self.now_ms < self.sessions.told_ms.saturating_add(LOAD_MS)
        {
            return;
        }
        let busy = u32::try_from(self.busy()).unwrap_or(u32::MAX);
        let reason = if self.draining() {
            Some("draining")
        } else if self.short_of_money().is_some() {
            Some("no money for fees")
        } else if self.faults.of(std::iter::empty()).is_some() {
            Some("out of order")
        } else if self.dependencies.all_lost() && !self.rules.abilities.alone() {
            Some("no backend answers")
        } else {
            None
        };
        let signal = BackpressureSignal {
            active_jobs: busy,
            max_concurrent: self.rules.slots,
            accepting_new: busy < self.rules.slots && reason.is_none(),
            reason: reason.map(str::to_owned),
        };
        if self.sessions.told.as_ref() == Some(&signal) {
            return;
        }
        self.sessions.told_ms = self.now_ms;
        self.sessions.told = Some(signal.clone());
        let open = self.sessions.open();
        if !open.is_empty() {
            self.act(Action::Load(open, signal));
        }
    }
}
