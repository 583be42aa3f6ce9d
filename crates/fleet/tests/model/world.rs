//! The orchestrator, the network, the faults.

use super::common::{
    cancel_ack, complete, heartbeat, job, lease_id, run_id, runner_id, submission,
};
use super::runner::{Down, Packet, Runner, Up};
use remuda_fleet::id::{JobId, LeaseId, RunnerId};
use remuda_fleet::lease::{
    self, AttemptState, Event, JobRecord, LeaseClock, Outcome, Policy, Refusal, Reply, Rows,
    Standing, handle,
};
use remuda_fleet::message::{AckLease, CompleteStatus, LeaseRequest, Retry};
use remuda_fleet::store::Tables;
use remuda_fleet::time::Millis;
use std::collections::{BTreeMap, BTreeSet};

/// How much may go wrong.
#[derive(Clone, Debug)]
pub struct World {
    pub drops: u8,
    pub repeats: u8,
    pub crashes: u8,
    pub cancels: u8,
    /// How often the orchestrator restarts and gives leases their grace.
    pub restarts: u8,
    /// How often it stands still until something is due.
    pub stills: u8,
    pub attempts_max: u32,
    pub losses_max: u32,
    pub runtime_seconds: u32,
}

impl Default for World {
    fn default() -> Self {
        Self {
            drops: 0,
            repeats: 0,
            crashes: 0,
            cancels: 0,
            restarts: 0,
            stills: 0,
            attempts_max: 1,
            losses_max: 1,
            runtime_seconds: 3_600,
        }
    }
}

/// Everything there is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub tables: Tables,
    now: Millis,
    pub runners: [Runner; 2],
    /// Restarts of each runner: a new process has a new id.
    lives: [u8; 2],
    /// What is under way, and how often.
    net: BTreeMap<Packet, u8>,
    leases: u64,
    drops: u8,
    repeats: u8,
    crashes: u8,
    cancels: u8,
    restarts: u8,
    stills: u8,
    /// Leases whose final message was accepted for good, as an observer of the answers sees it.
    pub told: BTreeSet<(LeaseId, AttemptState)>,
    /// How the job ended, when the rows said so first.
    pub first_end: Option<Outcome>,
    /// How often others were told of an end.
    pub ends_told: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Ask(usize),
    Beat(usize),
    Finish(usize, CompleteStatus),
    Resend(usize),
    Deliver(Packet),
    Drop(Packet),
    Repeat(Packet),
    Crash(usize),
    Cancel,
    /// Until the next deadline; nobody has noticed yet.
    Pass,
    Sweep,
    Restart,
    /// Until the next deadline, as with [`Action::Pass`], but nobody could be heard.
    Still,
}

impl State {
    pub fn job(&self) -> &JobRecord {
        self.tables.jobs().next().expect("the job")
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        self.job().outcome()
    }

    pub fn ended_as(&self, status: AttemptState) -> bool {
        self.outcome().is_some_and(|outcome| outcome.status == status)
    }

    fn runner_id(&self, index: usize) -> RunnerId {
        runner_id(&format!("{index}-{}", self.lives[index]))
    }

    fn send(&mut self, packet: Packet) {
        *self.net.entry(packet).or_default() += 1;
    }

    fn take(&mut self, packet: &Packet) -> bool {
        let Some(copies) = self.net.get_mut(packet) else { return false };
        *copies -= 1;
        if *copies == 0 {
            self.net.remove(packet);
        }
        true
    }

    /// Whether anything is under way from or to this runner.
    fn speaks(&self, index: usize) -> bool {
        let id = self.runner_id(index);
        self.net.keys().any(|packet| match packet {
            Packet::Up(runner, _) | Packet::Down(runner, _) => *runner == id,
        })
    }
}

impl World {
    fn policy(&self) -> Policy {
        let losses_max = self.losses_max;
        Policy { losses_max, outage_after_seconds: u32::MAX, ..Policy::default() }
    }

    fn clock(&self, state: &State) -> LeaseClock {
        let mut clock = state.tables.clock();
        clock.observe(state.now, self.policy().outage_after());
        clock
    }

    /// When something is due next, on the orchestrator's clock.
    fn next_due(&self, state: &State) -> Option<Millis> {
        state.tables.next_due().map(|due| self.clock(state).wall_at(due))
    }

    pub fn start(&self) -> State {
        let mut state = State {
            tables: Tables::default(),
            now: Millis(1_000),
            runners: [Runner::Idle, Runner::Idle],
            lives: [0, 0],
            net: BTreeMap::new(),
            leases: 0,
            drops: self.drops,
            repeats: self.repeats,
            crashes: self.crashes,
            cancels: self.cancels,
            restarts: self.restarts,
            stills: self.stills,
            told: BTreeSet::new(),
            first_end: None,
            ends_told: 0,
        };
        let mut order = job("a");
        order.job_spec = None;
        order.job_spec_ref = Some("file:///spec".to_owned());
        order.max_runtime_seconds = self.runtime_seconds;
        order.retry =
            Retry { max_attempts: self.attempts_max, backoff_seconds: 0, ..Retry::default() };
        let submission = submission(vec![order]);
        self.orchestrate(&mut state, Event::Submit { run_id: run_id(0), key: None, submission })
            .expect("submitted");
        state
    }

    pub fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        for (index, runner) in state.runners.iter().enumerate() {
            match runner {
                // A request without work waits at the orchestrator; here, it is not sent.
                Runner::Idle if state.job().standing == Standing::Queued => {
                    actions.push(Action::Ask(index));
                }
                Runner::Working(_, beats) => {
                    if *beats == 0 {
                        actions.push(Action::Beat(index));
                    }
                    actions.push(Action::Finish(index, CompleteStatus::Succeeded));
                    actions.push(Action::Finish(index, CompleteStatus::Failed));
                }
                _ => {}
            }
            // What is not lost is not sent again: repeats are a fault of their own.
            if runner.sends().is_some() && !state.speaks(index) {
                actions.push(Action::Resend(index));
            }
            if state.crashes > 0 && *runner != Runner::Idle {
                actions.push(Action::Crash(index));
            }
        }
        for (packet, copies) in &state.net {
            actions.push(Action::Deliver(packet.clone()));
            if state.drops > 0 {
                actions.push(Action::Drop(packet.clone()));
            }
            if state.repeats > 0 && *copies == 1 {
                actions.push(Action::Repeat(packet.clone()));
            }
        }
        if state.cancels > 0 {
            actions.push(Action::Cancel);
        }
        // It changes what somebody has, and nothing else.
        if state.restarts > 0 && state.tables.leases().any(|lease| lease.state.live()) {
            actions.push(Action::Restart);
        }
        let clock = self.clock(state);
        match state.tables.next_due() {
            Some(due) if due > clock.lease => {
                actions.push(Action::Pass);
                if state.stills > 0 {
                    actions.push(Action::Still);
                }
            }
            Some(_) if state.tables.leases().any(|l| lease::expiry(&clock, l).is_some()) => {
                actions.push(Action::Sweep);
            }
            _ => {}
        }
    }

    pub fn step(&self, state: &State, action: Action) -> Option<State> {
        let mut state = state.clone();
        match action {
            Action::Ask(index) => self.turn(&mut state, index, Runner::Asking),
            Action::Beat(index) => {
                let Runner::Working(lease, beats) = state.runners[index].clone() else {
                    return None;
                };
                self.turn(&mut state, index, Runner::Beating(lease, beats + 1));
            }
            Action::Finish(index, status) => {
                let Runner::Working(lease, _) = state.runners[index].clone() else { return None };
                self.turn(&mut state, index, Runner::Completing(lease, status));
            }
            Action::Resend(index) => {
                let runner = state.runners[index].clone();
                self.turn(&mut state, index, runner);
            }
            Action::Deliver(packet) => {
                state.take(&packet);
                self.deliver(&mut state, packet);
            }
            Action::Drop(packet) => {
                state.take(&packet);
                state.drops -= 1;
            }
            Action::Repeat(packet) => {
                state.send(packet);
                state.repeats -= 1;
            }
            Action::Crash(index) => {
                let dead = state.runner_id(index);
                // Nobody is there for these any more; what it sent may still arrive.
                state.net.retain(|p, _| !matches!(p, Packet::Down(id, _) if *id == dead));
                state.runners[index] = Runner::Idle;
                state.lives[index] += 1;
                state.crashes -= 1;
            }
            Action::Cancel => {
                state.cancels -= 1;
                let event = Event::CancelRun { run_id: run_id(0) };
                self.orchestrate(&mut state, event).expect("a run");
            }
            Action::Pass => state.now = self.next_due(&state)?,
            Action::Sweep => {
                self.orchestrate(&mut state, Event::Sweep).expect("swept");
            }
            Action::Still => {
                state.stills -= 1;
                state.now = self.next_due(&state)?;
                let mut clock = state.tables.clock();
                clock.lost(state.now);
                state.tables.set_clock(clock);
            }
            Action::Restart => {
                state.restarts -= 1;
                self.orchestrate(&mut state, Event::Start).expect("started");
            }
        }
        Some(state)
    }

    /// The runner becomes this, and says what it then says.
    fn turn(&self, state: &mut State, index: usize, runner: Runner) {
        if let Some(message) = runner.sends() {
            state.send(Packet::Up(state.runner_id(index), message));
        }
        state.runners[index] = runner;
    }

    fn deliver(&self, state: &mut State, packet: Packet) {
        match packet {
            Packet::Up(id, message) => self.receive(state, &id, message),
            Packet::Down(id, message) => {
                let index = (0..2).find(|index| state.runner_id(*index) == id);
                let Some(index) = index else { return };
                let before = state.runners[index].clone();
                let runner = before.receive(message);
                if runner != before {
                    self.turn(state, index, runner);
                }
            }
        }
    }

    fn receive(&self, state: &mut State, id: &RunnerId, message: Up) {
        let (lease, event) = match message.clone() {
            Up::Lease => {
                let request = LeaseRequest {
                    runner_id: id.clone(),
                    capabilities: BTreeSet::new(),
                    max_wait_seconds: 0,
                };
                let lease_id = lease_id(state.leases);
                (None, Event::Lease { lease_id, cancel_token: None, request })
            }
            Up::Ack(lease_id) => {
                let job_id = JobId::of(&run_id(0), 0);
                let ack = AckLease {
                    job_id,
                    lease_id: lease_id.clone(),
                    runner_id: id.clone(),
                    accepted_at: None,
                };
                (Some(lease_id), Event::Ack(ack))
            }
            Up::Beat(lease, beat) => {
                let event = Event::Heartbeat(heartbeat(&lease, id, beat.into()));
                (Some(lease), event)
            }
            Up::Complete(lease, status) => {
                let event = Event::Complete(complete(&lease, id, status));
                (Some(lease), event)
            }
            Up::CancelAck(lease) => {
                let event = Event::CancelAck(cancel_ack(&lease, id));
                (Some(lease), event)
            }
        };
        let reply = self.orchestrate(state, event);
        if let Ok(Reply::Completed(_) | Reply::Canceled(_)) = reply {
            self.tell(state, &message);
        }
        let down = match reply {
            Ok(Reply::Granted(granted)) => Down::Granted(granted.lease_id),
            Ok(Reply::NoWork(_)) => Down::NoWork,
            Ok(Reply::Acked(ack)) => Down::Acked(ack.lease_id),
            Ok(Reply::Beat(ack)) => Down::Beat(ack.lease_id, ack.cancel_requested),
            Ok(Reply::Completed(ack)) => Down::Final(ack.lease_id),
            Ok(Reply::Canceled(ack)) => Down::Final(ack.lease_id),
            Ok(other) => panic!("{other:?}"),
            Err(Refusal::Stale(stale)) => Down::Stale(stale.lease_id),
            Err(_) => Down::Refused(lease),
        };
        // Who is gone does not hear; who is there may not listen.
        if (0..2).any(|index| state.runner_id(index) == *id) {
            state.send(Packet::Down(id.clone(), down));
        }
    }

    /// Notes an accepted end of the job: not of an attempt that is followed by another.
    fn tell(&self, state: &mut State, message: &Up) {
        let (lease, status) = match message {
            Up::Complete(lease, CompleteStatus::Succeeded) => (lease, AttemptState::Succeeded),
            Up::Complete(lease, _) => (lease, AttemptState::Failed),
            Up::CancelAck(lease) => (lease, AttemptState::Canceled),
            _ => return,
        };
        let attempt = state.tables.leases().find(|l| l.lease_id == *lease).map(|l| l.attempt);
        let last = attempt.is_some_and(|attempt| attempt.0 >= self.attempts_max);
        if last || status != AttemptState::Failed || state.cancels < self.cancels {
            state.told.insert((lease.clone(), status));
        }
    }

    fn orchestrate(&self, state: &mut State, event: Event) -> Result<Reply, Refusal> {
        let handled = handle(&mut state.tables, &self.policy(), state.now, event);
        state.leases = state.tables.leases().count() as u64;
        for action in handled.actions {
            match action {
                lease::Action::Cancel(runner, message) => {
                    state.send(Packet::Down(runner, Down::Cancel(message.lease_id)));
                }
                lease::Action::JobEnded(..) => state.ends_told += 1,
                _ => {}
            }
        }
        // By the rows and not by what is told of them: an end that nobody is told of must not change either.
        if state.first_end.is_none() {
            state.first_end = state.outcome().cloned();
        }
        handled.reply
    }
}
