//! Events in words: what happened, to whom, and what it did to their money.
//!
//! A moment is one line. An event that is about several people is several moments, so that nobody's
//! part is hidden in a list.

mod entitlement;

use crate::format::{cby, count, short, thousandths};
use crate::style::{Style, Tone, clip};
use crate::value::shown;
use remuda_client::types::{BigUint, EventBody, HexAddress};
use remuda_protocol::error::Refusal;
use remuda_protocol::primitives::Amount;
use remuda_protocol::verifier::excuse::Excuse;

/// What an event does to somebody's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Money {
    Gets(BigUint),
    Loses(BigUint),
    /// An amount that is only spoken of.
    About(BigUint),
}

impl Money {
    pub(crate) fn text(self) -> String {
        let (sign, amount) = match self {
            Self::Gets(amount) => ("+", amount),
            Self::Loses(amount) => ("-", amount),
            Self::About(amount) => ("", amount),
        };
        format!("{sign}{}", cby(Amount(amount.0)))
    }
}

/// One line about an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventLine {
    pub(crate) tone: Tone,
    pub(crate) what: String,
    pub(crate) who: Option<HexAddress>,
    pub(crate) money: Option<Money>,
}

impl EventLine {
    fn new(tone: Tone, what: impl Into<String>) -> Self {
        Self { tone, what: what.into(), who: None, money: None }
    }

    fn who(self, who: HexAddress) -> Self {
        Self { who: Some(who), ..self }
    }

    fn money(self, money: Money) -> Self {
        Self { money: Some(money), ..self }
    }

    /// The line where there are no columns.
    pub(crate) fn sentence(&self, style: Style) -> String {
        let mut text = style.paint(self.tone, &self.what);
        if let Some(HexAddress(who)) = self.who {
            text += &format!("  {}", style.hex(who));
        }
        if let Some(money) = self.money {
            text += &format!("  {}", money.text());
        }
        text
    }
}

fn plain(what: impl Into<String>) -> EventLine {
    EventLine::new(Tone::Plain, what)
}
fn good(what: impl Into<String>) -> EventLine {
    EventLine::new(Tone::Good, what)
}
fn bad(what: impl Into<String>) -> EventLine {
    EventLine::new(Tone::Bad, what)
}

/// What an event says, in the order in which it should be read.
pub(crate) fn of(event: &EventBody) -> Vec<EventLine> {
    // No event is forgotten; see the test.
    let kinds =
        [account, runner, selection, work, verdict, bond, timer, actor, entitlement::entitlement];
    kinds.iter().find_map(|kind| kind(event)).unwrap_or_default()
}

/// Money between accounts.
fn account(event: &EventBody) -> Option<Vec<EventLine>> {
    use EventBody as E;
    use Money::{Gets, Loses};
    Some(match *event {
        E::Transferred { from, to, amount } => vec![
            plain("sends").who(from).money(Loses(amount)),
            plain("receives").who(to).money(Gets(amount)),
        ],
        E::DepositTaken { payer, amount, .. } => {
            vec![
                plain("pays the deposit of what stays in the state")
                    .who(payer)
                    .money(Loses(amount)),
            ]
        }
        E::DepositReturned { owner, amount } => {
            vec![plain("gets the deposit of freed state back").who(owner).money(Gets(amount))]
        }
        E::StakeReleased { owner, amount } => {
            vec![good("unbonded stake is paid out").who(owner).money(Gets(amount))]
        }
        E::CommitteeSized { active, m_adaptive, .. } => {
            vec![plain(format!("{active} runners are active; committees have up to {m_adaptive}"))]
        }
        _ => return None,
    })
}

/// A runner's own life.
fn runner(event: &EventBody) -> Option<Vec<EventLine>> {
    use EventBody as E;
    use Money::{About, Gets, Loses};
    let one = match *event {
        E::RunnerRegistered { runner, slot, stake } => {
            good(format!("joins as runner in slot {slot}, stakes")).who(runner).money(Loses(stake))
        }
        E::RunnerUpdated { runner } => plain("changes its offer").who(runner),
        E::Staked { runner, amount } => plain("raises its stake").who(runner).money(Loses(amount)),
        E::Unstaked { owner, amount, payable_at, .. } => {
            plain(format!("stake unbonds until {payable_at}")).who(owner).money(About(amount))
        }
        E::RunnerPaused { runner } => plain("takes no new jobs").who(runner),
        E::RunnerResumed { runner } => plain("takes jobs again").who(runner),
        E::RunnerDeregistered { runner } => plain("leaves").who(runner),
        E::Delegated { delegator, amount, .. } => {
            plain("stakes on a runner").who(delegator).money(Loses(amount))
        }
        E::ReputationChanged { runner, reputation_nano, score } => {
            let text = format!("scores {score}: reputation {}", thousandths(reputation_nano.0));
            EventLine::new(if score == 0 { Tone::Bad } else { Tone::Plain }, text).who(runner)
        }
        E::RunnerJailed { runner, until } => bad(format!("jailed until {until}")).who(runner),
        E::RunnerReleased { runner } => good("leaves jail, on probation").who(runner),
        E::PresenceChanged { runner, present: true } => good("is present").who(runner),
        E::PresenceChanged { runner, present: false } => bad("is no longer present").who(runner),
        E::HeartbeatSeen { runner } => plain("is alive").who(runner),
        E::CrashFlagged { runner, attestations } => {
            bad(format!("says too often that it crashed: {attestations} times")).who(runner)
        }
        E::Refunded { to, amount, .. } => {
            good("gets the rest of the escrow").who(to).money(Gets(amount))
        }
        _ => return None,
    };
    Some(vec![one])
}

/// From the order to the draw.
fn selection(event: &EventBody) -> Option<Vec<EventLine>> {
    use EventBody as E;
    use Money::{About, Loses};
    Some(match event {
        E::JobSubmitted { submitter, escrow, .. } => {
            vec![plain("orders the job; escrow").who(*submitter).money(Loses(*escrow))]
        }
        E::JobBound { attempt, view, seats, .. } => {
            let again = retry(*attempt);
            let seats = count(*seats as usize, "seat");
            vec![plain(format!("candidates fixed; view {view} draws {seats}{again}"))]
        }
        E::JobAssigned { attempt, runners, aggregator, commit_by, .. } => {
            let due = if aggregator.is_some() { "commits until" } else { "result due by" };
            let again = retry(*attempt);
            let seat = |(i, runner): (usize, &HexAddress)| {
                let collects = *aggregator == Some(*runner);
                let note = if collects { ", collects the results" } else { "" };
                plain(format!("drawn for seat {}{note}", i + 1)).who(*runner)
            };
            let drawn = count(runners.len(), "runner");
            let head = plain(format!("{drawn} drawn{again}; {due} {commit_by}"));
            let mut moments = vec![head];
            moments.extend(runners.iter().enumerate().map(seat));
            moments
        }
        E::JobCancelled { burned, .. } => {
            vec![bad("called off; burned").money(About(*burned))]
        }
        E::JobFailed { reason, .. } => vec![bad(format!("the job has failed: {reason:?}"))],
        _ => return None,
    })
}

fn retry(attempt: u32) -> String {
    if attempt == 0 { String::new() } else { format!(" (retry {attempt})") }
}

/// From the draw to the results.
fn work(event: &EventBody) -> Option<Vec<EventLine>> {
    use EventBody as E;
    let one = match *event {
        E::RunnerTimedOut { runner, excused: true, .. } => plain("lets it pass").who(runner),
        E::RunnerTimedOut { runner, .. } => bad("does not deliver in time").who(runner),
        E::Committed { runner, .. } => plain("commits to a result").who(runner),
        E::CommitsClosed { .. } => plain("commits are closed; results may be opened"),
        E::Revealed { runner, .. } => plain("opens its result").who(runner),
        E::ResultExcused { runner, excuse, .. } => {
            bad(format!("has no result: {}", Excuse::from(excuse).name())).who(runner)
        }
        E::CrashAttested { runner, signal, exempt, .. } => {
            let note = if exempt { ", excused" } else { "" };
            bad(format!("says that it crashed: {signal:?}{note}")).who(runner)
        }
        E::NonRevealSlash { runner, amount, .. } => {
            bad("opened nothing: slashed").who(runner).money(Money::Loses(amount))
        }
        E::InvalidRevealSlash { runner, amount, .. } => {
            bad("opened something else: slashed").who(runner).money(Money::Loses(amount))
        }
        E::ResultRejected { runner, .. } => bad("is outside the winning group").who(runner),
        _ => return None,
    };
    Some(vec![one])
}

/// Who won, and the money.
fn verdict(event: &EventBody) -> Option<Vec<EventLine>> {
    use EventBody as E;
    use Money::{About, Gets};
    Some(match event {
        E::JobSettled { winners, gross, burned, treasury, .. } => vec![
            good(format!("settled for {}", count(winners.len(), "winner"))).money(About(*gross)),
            plain("of that, burned").money(About(*burned)),
            plain("of that, to the treasury").money(About(*treasury)),
        ],
        E::Paid { runner, amount, to_delegators, .. } => {
            let mut moments = vec![good("is paid").who(*runner).money(Gets(*amount))];
            if to_delegators.0 > 0 {
                let shared = good("its delegators are paid").who(*runner);
                moments.push(shared.money(About(*to_delegators)));
            }
            moments
        }
        E::CallbackQueued { actor, .. } => {
            vec![plain("is called with the result next block").who(*actor)]
        }
        E::CallbackFailed { actor, .. } => vec![bad("could not be called").who(*actor)],
        _ => return None,
    })
}

/// After the verdict: stake that answers for it.
fn bond(event: &EventBody) -> Option<Vec<EventLine>> {
    use EventBody as E;
    use Money::{About, Loses};
    let one = match *event {
        E::BondLocked { runner, amount, until, .. } => {
            plain(format!("stake answers for it until {until}")).who(runner).money(About(amount))
        }
        E::BondReleased { runner, amount, .. } => {
            good("its stake is free again").who(runner).money(About(amount))
        }
        E::ResultChallenged { challenger, .. } => bad("says that it is wrong").who(challenger),
        E::ChallengeUpheld { runner, slashed, .. } => {
            bad("was wrong: slashed").who(runner).money(Loses(slashed))
        }
        E::ChallengeRejected { challenger, forfeited, .. } => {
            bad("was wrong to doubt it").who(challenger).money(Loses(forfeited))
        }
        E::ChallengeUndecided { .. } => plain("the judges do not agree; the bond goes back"),
        _ => return None,
    };
    Some(vec![one])
}

/// Calls that an actor set for later.
fn timer(event: &EventBody) -> Option<Vec<EventLine>> {
    use EventBody as E;
    use Money::{About, Loses};
    let one = match *event {
        E::TimerScheduled { actor, due, .. } => plain(format!("sets a timer for {due}")).who(actor),
        E::TimerPriorityClampedAtSchedule { clamped, .. } => {
            plain("the tip is lowered to what the fee leaves").money(About(clamped))
        }
        E::TimerFired { actor, code: 0, cycles, fee, .. } => {
            good(format!("a timer fires; {cycles} cycles")).who(actor).money(Loses(fee))
        }
        E::TimerFired { actor, code, fee, .. } if code == Refusal::NoCode.code() => {
            plain("a timer fires; there is no code here to be called").who(actor).money(Loses(fee))
        }
        E::TimerFired { actor, code, fee, .. } => {
            let why = Refusal::from_code(code);
            let why = why.map_or_else(|| code.to_string(), |why| format!("{why:?}"));
            bad(format!("a timer's call fails: {why}")).who(actor).money(Loses(fee))
        }
        E::TimerExpired { actor, .. } => bad("a timer expires").who(actor),
        E::TimerCancelledInsufficientFunds { payer, .. } => {
            bad("cannot pay for a timer, which ends").who(payer)
        }
        E::TimerCancelled { by, .. } => plain("calls a timer off").who(by),
        E::TimerExtended { expires_at, .. } => {
            plain(format!("a timer may wait until {expires_at}"))
        }
        E::GasBidFailed { agent, code, .. } => {
            bad(format!("names no fees: {}", agent_fault(code))).who(agent)
        }
        E::TimerConfigUpdated { .. } => plain("limits on timers change"),
        _ => return None,
    };
    Some(vec![one])
}

/// Why a bid agent's answer was rejected.
fn agent_fault(code: u16) -> String {
    let why = match code {
        1 => "no getGasBid",
        2 => "out of cycles",
        3 => "it failed",
        4 => "it tried to write",
        5 => "fees out of range or reach",
        _ => return code.to_string(),
    };
    why.into()
}

/// Characters of what an actor says in a line; `--json` has all of them.
const ACTOR_CHARS_MAX: usize = 120;

/// Code on the chain.
fn actor(event: &EventBody) -> Option<Vec<EventLine>> {
    use EventBody as E;
    let clip = |text: &str| clip(text, ACTOR_CHARS_MAX, "…");
    let one = match event {
        E::ActorDeployed { actor, .. } => good("is an actor now").who(*actor),
        E::ActorUpgraded { actor, .. } => plain("has other code").who(*actor),
        E::ActorEvent { actor, topic, data } => {
            plain(format!("says {}: {}", clip(topic), clip(&shown(&data.0)))).who(*actor)
        }
        E::ActorReturned { actor, method, value } => {
            good(format!("{} returns {}", clip(method), clip(&shown(&value.0)))).who(*actor)
        }
        E::CallFailed { actor, method, error, code } => {
            bad(format!("{} fails: {} ({code})", clip(method), clip(error))).who(*actor)
        }
        E::CallQueued { from, to, method, .. } => {
            let to = short(to.0.as_slice());
            plain(format!("will have {} of {to} called", clip(method))).who(*from)
        }
        E::CallRan { actor, code: 0, cycles, fee, .. } => {
            good(format!("a queued call has run; {cycles} cycles"))
                .who(*actor)
                .money(Money::About(*fee))
        }
        E::CallRan { actor, code, fee, .. } => {
            bad(format!("a queued call fails ({code})")).who(*actor).money(Money::About(*fee))
        }
        E::CallSuspended { actor, method, .. } => {
            plain(format!("{} waits for an answer", clip(method))).who(*actor)
        }
        E::CallFinished { actor, code: 0, .. } => good("a call that waited has ended").who(*actor),
        E::CallFinished { actor, code, .. } => {
            bad(format!("a call that waited has failed ({code})")).who(*actor)
        }
        _ => return None,
    };
    Some(vec![one])
}

#[cfg(test)]
mod tests;
