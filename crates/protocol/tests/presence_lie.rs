//! Lies about presence, for every number of validators from 4 to 100: what hostile validators can
//! and cannot do to a runner, on a chain; what the same lies do to the threshold of CIP-11 as it is
//! written; and how often a subset is hostile by chance.

use crate::common;

use common::{Choices, STAKE, brisk, offer, with_seeds};
use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::local::LocalChain;
use remuda_protocol::presence::{
    Attestation, PRESENCE_TIMEOUT_BLOCKS, presence_threshold, quorum, subset_size,
};
use remuda_protocol::primitives::{Address, Amount, Slot};
use remuda_protocol::state::Indexed;
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeSet;

const SIZES: std::ops::RangeInclusive<usize> = 4..=100;

/// Hostile validators at most: `n = 3f + 1` or more.
fn hostile_max(n: usize) -> usize {
    (n - 1) / 3
}

/// What a validator says of the runner in its vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Present,
    Absent,
    /// Every bit that there is, and more.
    Everything,
}

/// A chain of `n` validators with one runner.
struct Scene {
    chain: LocalChain,
    runner: Address,
    n: usize,
    /// Of the runner's subset, in no particular order.
    members: Vec<usize>,
    outsiders: Vec<usize>,
}

impl Scene {
    fn new(n: usize, choices: &mut Choices) -> Self {
        let key = SecretKey::from_label(&format!("runner {}", choices.below(1_000)));
        let balances = [(key.address(), Amount::cby(10_000_000))];
        let validators = u8::try_from(n).expect("few validators");
        let mut chain = LocalChain::with_validators(validators, brisk(), balances, Vec::new())
            .expect("a sound genesis");
        chain.send(&key, Instruction::RegisterRunner { stake: STAKE, offer: offer() });
        chain.step();
        let mut members: Vec<usize> =
            chain.state.subsets().members(Slot(0)).iter().map(|index| *index as usize).collect();
        assert_eq!(members.len(), subset_size(n));
        for i in (1..members.len()).rev() {
            members.swap(i, choices.below(i as u64 + 1) as usize);
        }
        let outsiders = (0..n).filter(|index| !members.contains(index)).collect();
        Self { chain, runner: key.address(), n, members, outsiders }
    }

    fn threshold(&self) -> usize {
        presence_threshold(self.members.len())
    }

    fn is_present(&self) -> bool {
        self.chain.runner(self.runner).expect("it is registered").present
    }

    /// A block with a certificate of its parent by these voters, or without one.
    fn block(&mut self, voters: Option<&BTreeSet<usize>>, says: impl Fn(usize) -> Says) {
        let mut draft = self.chain.draft();
        let certificate = draft.presence.take().expect("there is a parent");
        draft.presence = voters.map(|voters| {
            let attest = |index: &usize| {
                let bits = match says(*index) {
                    Says::Present => vec![1],
                    Says::Absent => vec![],
                    Says::Everything => vec![0xff; 3],
                };
                let validator = *index as u32;
                Attestation { validator, bits: Bytes(bits), signature: [0; 64] }
            };
            let attestations = voters.iter().map(attest).collect();
            remuda_protocol::presence::PresenceCertificate { attestations, ..certificate }
        });
        self.chain.step_with(draft);
    }

    fn everybody(&self) -> BTreeSet<usize> {
        (0..self.n).collect()
    }
}

/// Fewer than t members cannot make a runner present that is not there, whatever they and all
/// outsiders say; with t they can.
#[test]
fn fewer_than_the_threshold_of_the_subset_cannot_fabricate() {
    with_seeds(2, |seed| {
        let mut choices = Choices::new(seed);
        for n in SIZES {
            let mut scene = Scene::new(n, &mut choices);
            for (liars, succeed) in [(scene.threshold() - 1, false), (scene.threshold(), true)] {
                let honest: BTreeSet<usize> = scene.members[liars..].iter().copied().collect();
                let says = |index: usize| {
                    if honest.contains(&index) { Says::Absent } else { Says::Everything }
                };
                for _ in 0..3 {
                    scene.block(Some(&scene.everybody()), says);
                    assert_eq!(scene.is_present(), succeed, "{liars} liars of {n}");
                }
                // A hostile proposer may also leave out those who see that nobody is there, as far
                // as a quorum goes.
                let mut voters = scene.everybody();
                for absent in honest.iter().take(n - quorum(n)) {
                    voters.remove(absent);
                }
                scene.block(Some(&voters), says);
                assert_eq!(scene.is_present(), succeed, "{liars} liars of {n} choose the quorum");
            }
        }
    });
}

/// Fewer than k − t + 1 members cannot clear the bit of a runner that is there, whatever they and
/// all outsiders say, as long as the others' attestations get on chain within the window; with
/// k − t + 1 they can.
#[test]
fn fewer_than_the_rest_of_the_subset_cannot_suppress() {
    with_seeds(2, |seed| {
        let mut choices = Choices::new(seed);
        for n in SIZES {
            let mut scene = Scene::new(n, &mut choices);
            let enough = scene.members.len() - scene.threshold() + 1;
            for (liars, succeed) in [(enough - 1, false), (enough, true)] {
                let honest: BTreeSet<usize> = scene.members[liars..].iter().copied().collect();
                let says = |index: usize| {
                    if honest.contains(&index) { Says::Present } else { Says::Absent }
                };
                // Each of the others is in one certificate of the window at least, not all of them
                // in the same.
                let in_block = |block: usize| {
                    let late = |index: &usize| honest.contains(index) && index % 3 != block;
                    let mut voters = (0..n).collect::<BTreeSet<_>>();
                    let left_out: Vec<usize> =
                        voters.iter().copied().filter(late).take(n - quorum(n)).collect();
                    voters.retain(|index| !left_out.contains(index));
                    voters
                };
                for block in 0..3 {
                    scene.block(Some(&in_block(block)), says);
                }
                scene.block(Some(&scene.everybody()), says);
                for block in 0..PRESENCE_TIMEOUT_BLOCKS as usize - 2 {
                    assert_eq!(!scene.is_present(), succeed, "{liars} liars of {n}");
                    scene.block(Some(&in_block(block % 3)), says);
                }
            }
        }
    });
}

/// A proposer that makes every block of a window chooses whom it leaves out of its certificates, or
/// carries none. What honest blocks before it carried still counts, so the runner stays.
#[test]
fn a_hostile_proposer_cannot_suppress_by_its_choice_of_quorum() {
    with_seeds(2, |seed| {
        let mut choices = Choices::new(seed);
        for n in SIZES {
            let mut scene = Scene::new(n, &mut choices);
            let liars = (scene.members.len() - scene.threshold()).min(hostile_max(n));
            let honest: BTreeSet<usize> = scene.members[liars..].iter().copied().collect();
            let says =
                |index: usize| if honest.contains(&index) { Says::Present } else { Says::Absent };
            scene.block(Some(&scene.everybody()), says);
            assert!(scene.is_present());
            // The honest block carried a certificate of its parent, which is one block older.
            for _ in 0..PRESENCE_TIMEOUT_BLOCKS - 2 {
                let mut voters = scene.everybody();
                let mut left_out: Vec<usize> = honest.iter().copied().collect();
                left_out.rotate_left(choices.below(honest.len() as u64) as usize);
                for absent in left_out.iter().take(n - quorum(n)) {
                    voters.remove(absent);
                }
                let voters = Some(&voters).filter(|_| choices.chance(70));
                scene.block(voters, says);
                assert!(scene.is_present(), "one proposer of {n} dropped a runner");
            }
        }
    });
}

/// `presence_threshold` of CIP-11 §8.2, which is applied to all votes of one certificate.
fn seed_threshold(votes: usize) -> usize {
    (votes - 1) / 3 + 1
}

/// How the seed's rule fares with `n` validators against what the tests above do to ours: no more
/// than f hostile, fewer than t and fewer than k − t + 1 of them in the subset, and a proposer that
/// chooses the quorum. `of_votes` reads the threshold's argument as the size of the certificate, as
/// the formula says; otherwise it is the number of validators, as its comment says.
fn seed_rule_fails(n: usize, of_votes: bool) -> Option<&'static str> {
    let (k, f) = (subset_size(n), hostile_max(n));
    let t = presence_threshold(k);
    let threshold = seed_threshold(if of_votes { quorum(n) } else { n });
    // Only its subset has streams to an honest runner, so nobody else attests it honestly.
    if k < threshold {
        return Some("unreachable: a runner that is there can never be present");
    }
    // All hostile validators say yes, wherever they are.
    if f >= threshold {
        return Some("fabricated: outsiders alone make it present");
    }
    let liars = f.min(k - t);
    let left_out = (n - quorum(n)).min(k - liars);
    if k - liars - left_out < threshold {
        return Some("suppressed: the choice of one quorum drops it");
    }
    None
}

#[test]
fn the_seeds_own_threshold_falls_to_the_same_lies() {
    for of_votes in [true, false] {
        let stands: Vec<usize> =
            SIZES.filter(|n| seed_rule_fails(*n, of_votes).is_none()).collect();
        assert_eq!(stands, [5, 6], "sizes at which the seed's rule stands");
    }
    let starts = |n, of_votes, what| {
        seed_rule_fails(n, of_votes).is_some_and(|failure: &str| failure.starts_with(what))
    };
    assert!(starts(4, true, "fabricated") && starts(4, false, "suppressed"));
    assert!(SIZES.skip(33 - 4).all(|n| starts(n, true, "unreachable")), "of the votes");
    assert!(SIZES.skip(25 - 4).all(|n| starts(n, false, "unreachable")), "of all validators");
}

/// The fabrication above, on a chain: f outsiders say that an absent runner is there. By the
/// seed's rule it would be present in a certificate of a quorum; by ours it is not.
#[test]
fn what_would_be_fabricated_by_the_seeds_rule_is_not_by_ours() {
    let mut choices = Choices::new(7);
    let mut fooled = 0;
    for n in SIZES {
        let mut scene = Scene::new(n, &mut choices);
        let liars: BTreeSet<usize> = scene.outsiders.iter().copied().take(hostile_max(n)).collect();
        let mut voters = scene.everybody();
        let spare = scene.members.iter().chain(&scene.outsiders);
        for honest in spare.filter(|index| !liars.contains(index)).take(n - quorum(n)) {
            voters.remove(honest);
        }
        assert_eq!(voters.len(), quorum(n));
        scene.block(Some(&voters), |index| {
            if liars.contains(&index) { Says::Everything } else { Says::Absent }
        });
        fooled += usize::from(liars.len() >= seed_threshold(voters.len()));
        assert!(!scene.is_present());
    }
    assert_eq!(fooled, SIZES.filter(|n| hostile_max(*n) >= seed_threshold(quorum(*n))).count());
    assert!(fooled > 80, "the seed's rule was fooled only {fooled} times");
}

fn choose(n: u128, k: u128) -> u128 {
    if k > n {
        return 0;
    }
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// The part of subsets that hold at least `least` of `f` hostile validators, as a fraction.
fn hostile_share(n: u128, f: u128, k: u128, least: u128) -> (u128, u128) {
    let ways = (least..=k.min(f)).map(|h| choose(f, h) * choose(n - f, k - h)).sum();
    (ways, choose(n, k))
}

fn percent((part, whole): (u128, u128)) -> String {
    let tenths = (part * 1_000 + whole / 2) / whole;
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// The share of runners that a hostile third can misreport by chance; docs/limits.md has the table.
#[test]
fn residual_presence_risk_matches_the_documentation() {
    let text = include_str!("../../../docs/limits.md");
    let mut table = String::new();
    for n in [4, 7, 10, 16, 31, 64, 100] {
        let (f, k) = (hostile_max(n), subset_size(n));
        let t = presence_threshold(k);
        let share =
            |least: usize| percent(hostile_share(n as u128, f as u128, k as u128, least as u128));
        let (fabrication, suppression) = (share(t), share(k - t + 1));
        table += &format!("| {n} | {f} | {k} | {t} | {fabrication} | {suppression} |\n");
    }
    assert!(text.contains(&table), "docs/limits.md should have these rows:\n{table}");
}

/// The figures of SPEC §9, to the whole per cent.
#[test]
fn the_residual_risk_is_what_the_specification_says() {
    let share = |n: usize, least: fn(usize) -> usize| {
        let (f, k) = (hostile_max(n), subset_size(n));
        let (part, whole) = hostile_share(n as u128, f as u128, k as u128, least(k) as u128);
        (part * 100 + whole / 2) / whole
    };
    let both = |n| (share(n, presence_threshold), share(n, |k| k - presence_threshold(k) + 1));
    assert_eq!([4, 7, 10, 100].map(both), [(0, 0), (0, 29), (8, 8), (8, 24)]);
}
