use super::*;
use proptest::prelude::*;

const UNITS: u128 = 1_000_000;

/// The plain rule: every leaver by itself, every duty by itself.
#[derive(Default)]
struct Plain {
    /// Began, share of a whole (in UNITS of what it put in), amount now.
    leavers: Vec<(Height, u128)>,
    duties: Vec<Height>,
}

#[derive(Clone, Debug)]
enum Step {
    Leave(u32),
    Draw(u64),
    EndDuty(usize),
    PayOut(usize),
    Slash(usize, u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1u32..1_000).prop_map(Step::Leave),
        4 => (0u64..6).prop_map(Step::Draw),
        3 => (0usize..16).prop_map(Step::EndDuty),
        2 => (0usize..16).prop_map(Step::PayOut),
        1 => (0usize..16, 0u32..10_000).prop_map(|(duty, bps)| Step::Slash(duty, bps)),
    ]
}

proptest! {
    /// However batches are joined, a slash reaches those who left later, and nobody who left before.
    #[test]
    fn a_slash_reaches_exactly_those_who_left_after_the_duty_began(
        steps in proptest::collection::vec(step(), 0..120)
    ) {
        let mut unbonding = Unbonding::default();
        let mut plain = Plain::default();
        let mut tickets: Vec<(Height, u128)> = Vec::new();
        for (now, step) in (10u64..).zip(steps) {
            let now = Height(now);
            // Candidates of the last five blocks may still be drawn.
            let settled = now.minus(5);
            match step {
                Step::Leave(amount) => {
                    let amount = u128::from(amount) * UNITS;
                    let entered = unbonding.deposit(Amount(amount), now, settled);
                    let (_, shares) = entered.expect("a batch takes it");
                    plain.leavers.push((now, amount));
                    tickets.push((now, shares));
                }
                Step::Draw(ago) => {
                    let from = now.minus(ago.min(5));
                    unbonding.begin_duty(from);
                    plain.duties.push(from);
                }
                Step::EndDuty(which) if !plain.duties.is_empty() => {
                    let from = plain.duties.remove(which % plain.duties.len());
                    unbonding.end_duty(from, settled);
                }
                Step::PayOut(which) if !tickets.is_empty() => {
                    let at = which % tickets.len();
                    let (began, shares) = tickets[at];
                    let answers = plain.duties.iter().any(|from| *from <= began);
                    prop_assert!(!answers || unbonding.answers(began), "held while a duty is open");
                    if !unbonding.answers(began) {
                        let got = unbonding.withdraw(began, shares, settled).get();
                        let (_, expected) = plain.leavers.remove(at);
                        tickets.remove(at);
                        prop_assert!(got.abs_diff(expected) < UNITS / 100, "{got} {expected}");
                    }
                }
                Step::Slash(which, bps) if !plain.duties.is_empty() => {
                    let from = plain.duties[which % plain.duties.len()];
                    let reached: u128 =
                        plain.leavers.iter().filter(|(began, _)| *began >= from).map(|(_, a)| a).sum();
                    let exposed = unbonding.exposed(from).get();
                    prop_assert!(exposed.abs_diff(reached) < UNITS / 100, "{exposed} {reached}");
                    let amount = exposed * u128::from(bps) / 10_000;
                    let before = unbonding.amount().get();
                    let taken = unbonding.take(from, Amount(amount)).get();
                    prop_assert_eq!(before - taken, unbonding.amount().get());
                    prop_assert!(amount - taken <= unbonding.batches.len() as u128);
                    for (began, held) in &mut plain.leavers {
                        if *began >= from {
                            *held -= *held * taken / exposed.max(1);
                        }
                    }
                }
                _ => {}
            }
            let open: u32 = unbonding.since + unbonding.batches.iter().map(|b| b.duties).sum::<u32>();
            prop_assert_eq!(open as usize, plain.duties.len());
            prop_assert!(unbonding.batches.is_sorted_by(|a, b| a.began < b.began));
        }
    }
}

#[test]
fn batches_stay_few_while_nobody_is_on_duty() {
    let mut unbonding = Unbonding::default();
    for now in 1..10_000 {
        let now = Height(now);
        let entered = unbonding.deposit(Amount(UNITS), now, now.minus(8));
        assert!(entered.is_some());
        assert!(unbonding.batches.len() <= 10, "{}", unbonding.batches.len());
    }
}

#[test]
fn what_no_batch_is_left_for_joins_the_newest_one() {
    let mut unbonding = Unbonding::default();
    for now in 1..1_000u64 {
        unbonding.begin_duty(Height(now * 2));
        let entered = unbonding.deposit(Amount(UNITS), Height(now * 2 + 1), Height(now * 2));
        assert!(entered.is_some());
        assert!(unbonding.batches.len() <= BATCHES_MAX);
    }
    assert!(unbonding.is_full());
}
