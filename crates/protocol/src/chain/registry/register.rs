//! Joining, changing the offer, pausing, heartbeats and leaving.

use crate::base::codec::Encode;
use crate::base::error::Refusal;
use crate::base::primitives::{Address, Amount, Slot};
use crate::chain::execute::{Exec, Sender};
use crate::rules::deposit::{Held, RUNNER_BYTES};
use crate::rules::event::Event;
use crate::rules::key::{ProfileKey, SlotKey};
use crate::rules::registry::register::validate_offer;
use crate::rules::registry::runner::{Offer, Profile, Runner, SlotRecord, Status, Terms};
use crate::rules::registry::versioned::Versioned;

impl Exec<'_> {
    /// What an offer means for the runner's standing. The floor is on the own stake:
    /// `max(MIN_STAKE, 1.5 · declared_max_job_value)`.
    fn terms(&self, offer: &Offer) -> Terms {
        let declared = offer.declared_max_job_value.scale(3, 2).unwrap_or(Amount(u128::MAX));
        Terms {
            max_concurrent_jobs: offer.max_concurrent_jobs,
            commission_bps: offer.commission_bps,
            stake_floor: declared.max(Amount(self.params.min_stake)),
            since: self.env.height,
        }
    }

    pub(crate) fn register(
        &mut self,
        sender: Sender,
        stake: Amount,
        offer: &Offer,
    ) -> Result<(), Refusal> {
        let known = self.known(sender.address);
        if known.as_ref().is_some_and(|runner| runner.status != Status::Deregistered) {
            return Err(Refusal::AlreadyRegistered);
        }
        let terms = self.terms(offer);
        if stake < terms.stake_floor {
            return Err(Refusal::StakeBelowFloor);
        }
        validate_offer(offer)?;
        self.debit(sender.address, stake)?;

        let slot = self.chain.next_slot;
        self.chain.next_slot = Slot(slot.get() + 1);
        let record = SlotRecord { runner: sender.address, vacated: None };
        self.state.put(&SlotKey { slot }, &record);
        let (height, stamp) = (self.env.height, self.env.stamp);
        let mut runner = match known {
            Some(runner) => {
                // Its old slot is vacant from now on.
                self.note_profile(runner.slot);
                runner
            }
            None => Runner::newcomer(slot, terms, height, stamp),
        };
        runner.slot = slot;
        runner.terms = terms;
        runner.status = Status::Active;
        runner.stake = stake;
        runner.present = false;
        runner.last_seen = height;
        self.refresh(&mut runner);
        let old = self.profile(sender.address);
        let (pools, mut held) = old.map(|old| (old.pools, old.held)).unwrap_or_default();
        self.hold_offer(sender.address, &mut held, offer);
        let (public_key, offer) = (sender.public_key, offer.clone());
        self.put_profile(sender.address, Profile { public_key, slot, offer, pools, held });
        self.put_runner(sender.address, runner);
        self.emit(Event::RunnerRegistered { runner: sender.address, slot, stake });
        Ok(())
    }

    pub(crate) fn profile(&self, address: Address) -> Option<Profile> {
        self.state.get(&ProfileKey { runner: address }).map(|profile| profile.current().clone())
    }

    pub(crate) fn put_profile(&mut self, address: Address, profile: Profile) {
        self.note_profile(profile.slot);
        let key = ProfileKey { runner: address };
        let oldest = self.oldest_snapshot();
        let versioned = match self.state.get(&key) {
            Some(mut versioned) => {
                versioned.write(profile, self.env.stamp, oldest);
                versioned
            }
            None => Versioned::new(profile, self.env.stamp),
        };
        self.state.put(&key, &versioned);
    }

    pub(crate) fn update_offer(&mut self, who: Address, offer: &Offer) -> Result<(), Refusal> {
        let mut runner = self.registered(who)?;
        let mut profile = self.profile(who).ok_or(Refusal::UnknownRunner)?;
        let terms = self.terms(offer);
        if runner.stake < terms.stake_floor {
            return Err(Refusal::StakeBelowFloor);
        }
        validate_offer(offer)?;
        self.hold_offer(who, &mut profile.held, offer);
        profile.offer = offer.clone();
        self.put_profile(who, profile);
        runner.terms = terms;
        self.refresh(&mut runner);
        self.put_runner(who, runner);
        self.emit(Event::RunnerUpdated { runner: who });
        Ok(())
    }

    fn hold_offer(&mut self, who: Address, held: &mut Held, offer: &Offer) {
        self.resize(who, held, RUNNER_BYTES + offer.to_bytes().len() as u64);
    }

    pub(crate) fn pause(&mut self, who: Address) -> Result<(), Refusal> {
        self.set_status(who, Status::Active, Status::Paused, Refusal::AlreadyPaused)?;
        self.emit(Event::RunnerPaused { runner: who });
        Ok(())
    }

    pub(crate) fn resume(&mut self, who: Address) -> Result<(), Refusal> {
        self.set_status(who, Status::Paused, Status::Active, Refusal::NotPaused)?;
        self.emit(Event::RunnerResumed { runner: who });
        Ok(())
    }

    fn set_status(
        &mut self,
        who: Address,
        from: Status,
        to: Status,
        otherwise: Refusal,
    ) -> Result<(), Refusal> {
        let mut runner = self.registered(who)?;
        if runner.status != from {
            return Err(otherwise);
        }
        runner.status = to;
        runner.last_seen = self.env.height;
        self.refresh(&mut runner);
        self.put_runner(who, runner);
        Ok(())
    }

    pub(crate) fn heartbeat(&mut self, who: Address) -> Result<(), Refusal> {
        self.sign_of_life(who)?;
        self.emit(Event::HeartbeatSeen { runner: who });
        Ok(())
    }

    /// What every transaction by the runner about its work shows: it is alive, and bad days fade.
    pub(crate) fn sign_of_life(&mut self, who: Address) -> Result<(), Refusal> {
        let mut runner = self.registered(who)?;
        runner.last_seen = self.env.height;
        self.refresh(&mut runner);
        self.put_runner(who, runner);
        Ok(())
    }

    pub(crate) fn deregister(&mut self, who: Address) -> Result<(), Refusal> {
        let mut runner = self.registered(who)?;
        if !runner.locked.is_zero() {
            return Err(Refusal::StakeInUse);
        }
        if runner.open_jobs > 0 {
            return Err(Refusal::HasOpenJobs);
        }
        let stake = core::mem::take(&mut runner.stake);
        runner.status = Status::Deregistered;
        runner.present = false;
        self.refresh(&mut runner);
        self.unbond(who, &mut runner, who, stake)?;
        let vacated = Some(self.env.height);
        self.state.put(&SlotKey { slot: runner.slot }, &SlotRecord { runner: who, vacated });
        self.put_runner(who, runner);
        self.emit(Event::RunnerDeregistered { runner: who });
        Ok(())
    }
}
