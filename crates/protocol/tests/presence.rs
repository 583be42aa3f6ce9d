//! Presence on chains of several validators: what the state says of every runner after every block
//! is what the plain rule says, computed from the beginning each time.

use crate::common;

use common::{Choices, STAKE, brisk, offer};
use proptest::prelude::*;
use remuda_protocol::block::Header;
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::crypto::{PublicKey, SecretKey};
use remuda_protocol::deposit::Held;
use remuda_protocol::event::Event;
use remuda_protocol::key::{AttestationKey, BeaconKey, ChainKey, PresenceKey, ProfileKey, SlotKey};
use remuda_protocol::local::LocalChain;
use remuda_protocol::params::ChainParams;
use remuda_protocol::presence::{
    ATTESTATION_BYTES_MAX, Attestation, Bitmap, Certificate, PresenceCertificate, PresenceRefusal,
    PresenceRunner, Subsets, ValidatorKey, Vote, acceptable, ancestor, present_slots, quorum,
    subset,
};
use remuda_protocol::primitives::{Address, Amount, B256, Height, Slot};
use remuda_protocol::registry::runner::{Profile, SlotRecord};
use remuda_protocol::registry::versioned::{Stamp, Versioned};
use remuda_protocol::state::{Indexed, MemoryState, StateKey, read};
use remuda_protocol::transaction::Instruction;
use std::collections::{BTreeMap, BTreeSet};

/// The shortest epochs that are allowed.
fn params() -> ChainParams {
    let mut params = brisk();
    params.subset_epoch_blocks = 60;
    params.subset_overlap_blocks = 30;
    params.unbonding_blocks = 2;
    params
}

/// A slot's life, as events tell it.
#[derive(Clone, Copy, Debug)]
struct Life {
    slot: u32,
    runner: usize,
    registered: u64,
    vacated: Option<u64>,
}

/// A chain, and everything about it that the plain rule wants to know.
struct Network {
    chain: LocalChain,
    validators: Vec<ValidatorKey>,
    runners: Vec<SecretKey>,
    lives: Vec<Life>,
    /// Start and seed of each subset epoch.
    epochs: Vec<(u64, B256)>,
    /// The seed of the epoch that is due, and how many slots are drawn for it.
    drawing: Option<(B256, usize)>,
    /// A certificate of each block so far, without attestations.
    finalized: Vec<PresenceCertificate>,
    /// What blocks have carried, bits by slot.
    carried: Vec<Certificate>,
    /// How often somebody's presence changed.
    changes: u32,
}

impl Network {
    fn new(n: u8, runners: usize) -> Self {
        let runners: Vec<SecretKey> =
            (0..runners).map(|i| SecretKey::from_label(&format!("runner {i}"))).collect();
        let balances = runners.iter().map(|key| (key.address(), Amount::cby(10_000_000)));
        let mut chain = LocalChain::with_validators(n, params(), balances, Vec::new())
            .expect("a sound genesis");
        chain.paranoid = true;
        Self {
            chain,
            validators: (0..n).map(|i| [i; 32]).collect(),
            runners,
            lives: Vec::new(),
            epochs: Vec::new(),
            drawing: None,
            finalized: Vec::new(),
            carried: Vec::new(),
            changes: 0,
        }
    }

    fn height(&self) -> u64 {
        self.chain.height().get()
    }

    fn pubkey(&self, life: &Life) -> [u8; 33] {
        self.runners[life.runner].public_key().bytes
    }

    /// The epochs whose subsets count at a height: its own, and during the overlap the one before.
    fn epochs_at(&self, height: u64) -> &[(u64, B256)] {
        let at = self.epochs.iter().rposition(|(start, _)| *start <= height).expect("it has begun");
        let overlap = height < self.epochs[at].0 + self.chain.params.subset_overlap_blocks;
        &self.epochs[if overlap { at.saturating_sub(1) } else { at }..=at]
    }

    /// A validator's list after the block of a height, by the words of SPEC §9.
    fn list(&self, validator: usize, height: u64) -> Vec<u32> {
        let mut list = BTreeSet::new();
        for (start, seed) in self.epochs_at(height) {
            let next = self.epochs.iter().find(|(next, _)| next > start);
            let end = next.map_or(u64::MAX, |(next, _)| *next);
            for life in &self.lives {
                let there = life.registered <= height
                    && life.registered < end
                    && life.vacated.is_none_or(|at| at >= *start);
                let members = subset(seed, &self.pubkey(life), &self.validators);
                if there && members.contains(&self.validators[validator]) {
                    list.insert(life.slot);
                }
            }
        }
        list.into_iter().collect()
    }

    /// A certificate of a past block with these bits, and what it says by slot.
    fn certificate(
        &self,
        height: u64,
        bits: BTreeMap<usize, Vec<u8>>,
    ) -> (PresenceCertificate, Certificate) {
        let mut certificate = self.finalized[height as usize - 1].clone();
        assert_eq!(certificate.height, Height(height));
        certificate.attestations.clear();
        let mut plain = Certificate { height, votes: Vec::new() };
        for (validator, bits) in bits {
            let slots =
                self.list(validator, height).into_iter().enumerate().filter(|(place, _)| {
                    bits.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1)
                });
            let slots: Vec<u32> = slots.map(|(_, slot)| slot).collect();
            plain.votes.push(vote(self.validators[validator], &slots));
            let validator = validator as u32;
            let (bits, signature) = (Bytes(bits), [0; 64]);
            certificate.attestations.push(Attestation { validator, bits, signature });
        }
        (certificate, plain)
    }

    /// When an epoch is due, its seed is fixed. It begins when the subsets of all slots are drawn.
    fn turn(&mut self, height: u64) {
        let params = &self.chain.params;
        let due = self.epochs.last().map_or(0, |(start, _)| start + params.subset_epoch_blocks);
        if height < due {
            return;
        }
        let key = BeaconKey { view: self.chain.chain().newest_seed };
        let beacon = read(&self.chain.state, &key).expect("it is kept");
        let (seed, drawn) = self.drawing.take().unwrap_or((beacon, 0));
        let each = params.subset_hashes_per_block as usize / self.validators.len();
        let drawn = if due == 0 { usize::MAX } else { drawn + each.max(1) };
        if drawn < self.lives.len() {
            self.drawing = Some((seed, drawn));
        } else {
            self.epochs.push((height, seed));
        }
    }

    /// Makes a block that carries this, and checks everybody.
    fn step(&mut self, carried: Option<(PresenceCertificate, Certificate)>) {
        let mut draft = self.chain.draft();
        let (certificate, plain) = carried.unzip();
        draft.presence = certificate;
        self.carried.extend(plain);
        let outcome = self.chain.step_with(draft);
        let height = self.height();
        self.turn(height);
        for event in outcome.events() {
            match event {
                Event::RunnerRegistered { runner, slot, .. } => {
                    let runner = self.runners.iter().position(|key| key.address() == *runner);
                    let runner = runner.expect("one of ours");
                    let (slot, registered) = (slot.get(), height);
                    self.lives.push(Life { slot, runner, registered, vacated: None });
                }
                Event::RunnerDeregistered { runner } => {
                    let runner = self.runners.iter().position(|key| key.address() == *runner);
                    let live =
                        |life: &&mut Life| Some(life.runner) == runner && life.vacated.is_none();
                    let life = self.lives.iter_mut().find(live);
                    life.expect("it was registered").vacated = Some(height);
                }
                Event::PresenceChanged { .. } => self.changes += 1,
                _ => (),
            }
        }
        self.finalized.push(self.chain.draft().presence.expect("there is a block"));
        self.check();
    }

    fn check(&self) {
        let height = self.height();
        let live: Vec<&Life> = self.lives.iter().filter(|life| life.vacated.is_none()).collect();
        let registered: Vec<PresenceRunner> = live
            .iter()
            // Runners of this very block were not there when it was opened.
            .filter(|life| life.registered < height)
            .map(|life| PresenceRunner { slot: life.slot, pubkey: self.pubkey(life) })
            .collect();
        let seeds: Vec<B256> = self.epochs_at(height).iter().map(|(_, seed)| *seed).collect();
        let expected =
            present_slots(height, &seeds, &self.validators, &registered, &self.carried).unwrap();
        let present =
            |life: &&&Life| self.chain.runner(self.runners[life.runner].address()).unwrap().present;
        let actual: Vec<u32> = live.iter().filter(present).map(|life| life.slot).collect();
        assert_eq!(actual, expected, "presence at height {height}");

        let restarted = Subsets::load(&self.chain.state);
        let subsets = self.chain.state.subsets();
        for validator in 0..self.validators.len() {
            let expected: Vec<Slot> = self.list(validator, height).into_iter().map(Slot).collect();
            assert_eq!(subsets.list(validator as u32), expected, "list at height {height}");
            assert_eq!(restarted.list(validator as u32), expected, "after a restart");
        }
        for life in live {
            let (_, seed) = self.epochs_at(height).last().unwrap();
            let members = subset(seed, &self.pubkey(life), &self.validators);
            let of: BTreeSet<u32> = members.iter().map(|key| u32::from(key[0])).collect();
            let said = subsets.members(Slot(life.slot));
            assert_eq!(said, of.into_iter().collect::<Vec<_>>());
            assert_eq!(restarted.members(Slot(life.slot)), said);
        }
    }

    /// One more block, in which anything may happen.
    fn random_step(&mut self, choices: &mut Choices, drought: &mut u64) {
        let runner = choices.below(self.runners.len() as u64) as usize;
        if choices.chance(40) {
            let key = self.runners[runner].clone();
            let there =
                self.lives.iter().any(|life| life.runner == runner && life.vacated.is_none());
            if !there {
                self.chain.send(&key, Instruction::RegisterRunner { stake: STAKE, offer: offer() });
            } else if choices.chance(30) {
                self.chain.send(&key, Instruction::DeregisterRunner);
            }
        }
        if choices.chance(2) {
            *drought = choices.below(22);
        }
        *drought = drought.saturating_sub(1);
        let carried = self.random_certificate(choices).filter(|_| *drought == 0);
        self.step(carried);
    }

    fn random_certificate(
        &self,
        choices: &mut Choices,
    ) -> Option<(PresenceCertificate, Certificate)> {
        let newest = self.carried.last().map_or(0, |certificate| certificate.height);
        let (low, high) = ((newest + 1).max(self.height().saturating_sub(13)), self.height());
        if low > high || choices.chance(25) {
            return None;
        }
        let height = if choices.chance(70) { high } else { low + choices.below(high - low + 1) };
        let n = self.validators.len();
        let mut quorum_of: BTreeSet<usize> = (0..n).collect();
        while quorum_of.len() > quorum(n) && choices.chance(80) {
            quorum_of.remove(&(choices.below(n as u64) as usize));
        }
        let bits = quorum_of.into_iter().map(|v| (v, self.random_bits(v, height, choices)));
        Some(self.certificate(height, bits.collect()))
    }

    /// What a validator says: mostly what the others say, now and then anything at all, also about
    /// places that nobody has yet.
    fn random_bits(&self, validator: usize, height: u64, choices: &mut Choices) -> Vec<u8> {
        let list = self.list(validator, height);
        let mut bits = vec![0u8; list.len().div_ceil(8)];
        let odd = choices.chance(15);
        for (place, slot) in list.iter().enumerate() {
            let seen = if odd {
                choices.chance(50)
            } else {
                !(height / 9 + u64::from(*slot)).is_multiple_of(3)
            };
            bits[place / 8] |= u8::from(seen) << (place % 8);
        }
        if choices.chance(20) {
            bits.extend([0xff; 2]);
            bits[list.len() / 8] |= 0xff << (list.len() % 8);
        }
        while bits.last() == Some(&0) {
            bits.pop();
        }
        bits
    }
}

fn vote(validator: ValidatorKey, slots: &[u32]) -> Vote {
    let mut bytes = vec![0u8; slots.last().map_or(0, |last| *last as usize / 8 + 1)];
    for slot in slots {
        bytes[*slot as usize / 8] |= 1 << (slot % 8);
    }
    Vote { validator, bitmap: Bitmap { bit_length: bytes.len() as u32 * 8, bytes } }
}

/// A life of two rotations in which anything may happen.
fn play(seed: u64, n: u8, hashes: u64) -> Network {
    let mut choices = Choices::new(seed);
    let mut network = Network::new(n, 12);
    network.chain.params.subset_hashes_per_block = hashes;
    let mut drought = 0;
    for _ in 0..140 {
        network.random_step(&mut choices, &mut drought);
    }
    network
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    // spec §9.2, §9.5
    #[test]
    fn presence_in_the_state_is_what_the_plain_rule_says(
        seed in any::<u64>(),
        n in 1u8..=10,
        hashes in prop_oneof![Just(1), Just(30), Just(200_000)],
    ) {
        play(seed, n, hashes);
    }
}

/// The test above would be true of a chain on which nothing happens, so one of its kind is looked
/// at.
#[test]
fn in_random_lives_runners_come_and_go() {
    for n in [1, 4, 10] {
        let network = play(1, n, 200_000);
        assert_eq!(network.epochs.len(), 3);
        assert!(network.carried.len() > 60, "{} certificates", network.carried.len());
        assert!(network.lives.len() > 15, "{} registrations", network.lives.len());
        assert!(network.changes > 60, "{} changes", network.changes);
    }
}

/// A network of four on which one runner is registered and nothing was ever certified.
fn quiet(blocks: u64) -> Network {
    let mut network = Network::new(4, 2);
    let key = network.runners[0].clone();
    network.chain.send(&key, Instruction::RegisterRunner { stake: STAKE, offer: offer() });
    for _ in 0..blocks {
        network.step(None);
    }
    network
}

fn everybody(network: &Network, byte: u8) -> BTreeMap<usize, Vec<u8>> {
    let bits = if byte == 0 { vec![] } else { vec![byte] };
    (0..network.validators.len()).map(|validator| (validator, bits.clone())).collect()
}

// spec §9.4
#[test]
fn a_newcomer_is_absent_until_it_is_attested_and_cannot_be_attested_in_advance() {
    let mut network = quiet(3);
    // All vouch for places that nobody has yet.
    let certificate = network.certificate(3, everybody(&network, 0xff));
    network.step(Some(certificate));
    let (old, new) = (network.runners[0].clone(), network.runners[1].clone());
    network.chain.send(&new, Instruction::RegisterRunner { stake: STAKE, offer: offer() });
    network.step(None);
    let present =
        |network: &Network, key: &SecretKey| network.chain.runner(key.address()).unwrap().present;
    assert!(present(&network, &old));
    for _ in 0..12 {
        network.step(None);
        assert!(!present(&network, &new));
    }
    let certificate = network.certificate(network.height(), everybody(&network, 0xff));
    network.step(Some(certificate));
    assert!(present(&network, &new));
}

// spec §9.5
#[test]
fn an_attestation_lasts_for_fourteen_blocks_and_leaves_nothing_behind() {
    let mut network = quiet(2);
    let runner = network.runners[0].address();
    let certificate = network.certificate(2, everybody(&network, 1));
    network.step(Some(certificate));
    while network.height() < 16 {
        assert!(network.chain.runner(runner).unwrap().present);
        network.step(None);
    }
    network.step(None);
    assert!(!network.chain.runner(runner).unwrap().present);
    for validator in 0..4 {
        assert_eq!(read(&network.chain.state, &AttestationKey { validator }), None);
    }
}

// spec §9.3
#[test]
fn subsets_rotate_with_the_beacon_and_overlap() {
    let mut network = quiet(1);
    let state = |network: &Network| read(&network.chain.state, &PresenceKey {}).unwrap();
    assert_eq!(state(&network).epoch.start, Height(1));
    for height in 2..=125 {
        network.step(None);
        let now = state(&network);
        assert_eq!(now.epoch.start, Height((height - 1) / 60 * 60 + 1));
        assert_eq!(now.phase.overlap, height > 60 && (height - 1) % 60 < 30);
        assert_eq!(now.previous.is_some(), height > 60);
    }
    assert_ne!(network.epochs[0].1, network.epochs[1].1);
}

// spec §9.3
/// Nobody could make a block if one had to draw the subsets of a large network at once.
#[test]
fn a_rotation_is_spread_over_blocks() {
    let mut network = quiet(1);
    network.chain.params.subset_hashes_per_block = 4;
    for (runner, key) in network.runners.clone().iter().enumerate().skip(1) {
        network.chain.send(key, Instruction::RegisterRunner { stake: STAKE, offer: offer() });
        network.step(None);
        assert_eq!(network.lives.len(), runner + 1);
    }
    let state = |network: &Network| read(&network.chain.state, &PresenceKey {}).unwrap();
    while network.height() < 60 {
        network.step(None);
    }
    // Four hashes are one runner's subset of four validators, so two runners take two blocks.
    network.step(None);
    let next = state(&network).next.expect("the next epoch is due");
    assert_eq!((next.drawn, state(&network).epoch.number), (Slot(1), 0));
    network.step(None);
    assert_eq!(state(&network).next, None);
    assert_eq!(state(&network).epoch.start, Height(62));
    assert_eq!(state(&network).epoch.seed, next.seed, "the seed of the block in which it was due");
}

// spec §9.5
#[test]
fn a_block_changes_the_presence_of_so_many_runners_and_the_next_goes_on() {
    let mut network = Network::new(4, 5);
    network.chain.params.presence_changes_per_block = 2;
    for key in network.runners.clone() {
        network.chain.send(&key, Instruction::RegisterRunner { stake: STAKE, offer: offer() });
    }
    network.step(None);
    let height = network.height();
    let bits = everybody(&network, 0xff);
    let (certificate, _) = network.certificate(height, bits);
    let present = |network: &Network| -> Vec<u32> {
        let there = |life: &&Life| {
            let address = network.runners[life.runner].address();
            network.chain.runner(address).unwrap().present
        };
        network.lives.iter().filter(there).map(|life| life.slot).collect()
    };
    for (carried, expected) in [(Some(certificate), 0..2), (None, 0..4), (None, 0..5), (None, 0..5)]
    {
        let mut draft = network.chain.draft();
        draft.presence = carried;
        network.chain.step_with(draft);
        assert_eq!(present(&network), expected.collect::<Vec<u32>>());
    }
    let state = read(&network.chain.state, &PresenceKey {}).unwrap();
    assert_eq!(state.stale_from, None);
}

/// The kind of a refusal. A new kind does not compile until it has a name here.
fn kind(refusal: &PresenceRefusal) -> &'static str {
    match refusal {
        PresenceRefusal::HeightsDoNotIncrease { .. } => "HeightsDoNotIncrease",
        PresenceRefusal::NotAnAncestor { .. } => "NotAnAncestor",
        PresenceRefusal::TooOld { .. } => "TooOld",
        PresenceRefusal::UnknownBlock => "UnknownBlock",
        PresenceRefusal::WrongHeight { .. } => "WrongHeight",
        PresenceRefusal::WrongRound { .. } => "WrongRound",
        PresenceRefusal::WrongParentView { .. } => "WrongParentView",
        PresenceRefusal::WrongCount { .. } => "WrongCount",
        PresenceRefusal::NotAscending => "NotAscending",
        PresenceRefusal::UnknownValidator(_) => "UnknownValidator",
        PresenceRefusal::TooManyBits(_) => "TooManyBits",
        PresenceRefusal::NotTrimmed(_) => "NotTrimmed",
    }
}

// spec §4.10
#[test]
fn a_certificate_that_is_wrong_in_anything_is_refused_with_the_reason() {
    let mut network = quiet(18);
    network.step(None);
    let certificate = network.certificate(8, everybody(&network, 1));
    network.step(Some(certificate));
    let header = network.chain.draft().header;
    let height = header.height;
    assert_eq!(height, Height(21));
    let (sound, _) = network.certificate(18, everybody(&network, 1));
    let judge = |header: &Header, certificate: &PresenceCertificate| {
        acceptable(&network.chain.state, header, certificate)
    };
    assert_eq!(judge(&header, &sound), Ok(()));
    let round = sound.round;
    type Spoil = Box<dyn Fn(&mut PresenceCertificate)>;
    let (older, oldest) = (network.finalized[16].clone(), network.finalized[2].clone());
    let cases: Vec<(PresenceRefusal, Spoil)> = vec![
        (
            PresenceRefusal::HeightsDoNotIncrease { newest: Height(8), got: Height(8) },
            Box::new(|c| c.height = Height(8)),
        ),
        (
            PresenceRefusal::HeightsDoNotIncrease { newest: Height(8), got: Height(0) },
            Box::new(|c| c.height = Height(0)),
        ),
        (
            PresenceRefusal::NotAnAncestor { height, got: height },
            Box::new(move |c| c.height = height),
        ),
        (
            PresenceRefusal::NotAnAncestor { height, got: Height(u64::MAX) },
            Box::new(|c| c.height = Height(u64::MAX)),
        ),
        (PresenceRefusal::UnknownBlock, Box::new(|c| c.block = B256::repeat_byte(9))),
        (PresenceRefusal::UnknownBlock, Box::new(move |c| c.block = oldest.block)),
        (
            PresenceRefusal::WrongHeight { expected: Height(17), got: Height(18) },
            Box::new(move |c| c.block = older.block),
        ),
        (
            PresenceRefusal::WrongRound {
                expected: round,
                got: remuda_protocol::beacon::Round { view: round.view + 1, ..round },
            },
            Box::new(|c| c.round.view += 1),
        ),
        (
            PresenceRefusal::WrongRound {
                expected: round,
                got: remuda_protocol::beacon::Round { epoch: 1, ..round },
            },
            Box::new(|c| c.round.epoch = 1),
        ),
        (
            PresenceRefusal::WrongParentView { expected: round.view - 1, got: 0 },
            Box::new(|c| c.parent_view = 0),
        ),
        (
            PresenceRefusal::WrongCount { least: 3, most: 4, got: 2 },
            Box::new(|c| c.attestations.truncate(2)),
        ),
        (
            PresenceRefusal::WrongCount { least: 3, most: 4, got: 5 },
            Box::new(|c| c.attestations.push(c.attestations[0].clone())),
        ),
        (PresenceRefusal::NotAscending, Box::new(|c| c.attestations.swap(0, 1))),
        (
            PresenceRefusal::NotAscending,
            Box::new(|c| c.attestations[1] = c.attestations[0].clone()),
        ),
        (PresenceRefusal::UnknownValidator(4), Box::new(|c| c.attestations[3].validator = 4)),
        (
            PresenceRefusal::TooManyBits(2),
            Box::new(|c| c.attestations[2].bits = Bytes(vec![1; ATTESTATION_BYTES_MAX + 1])),
        ),
        (PresenceRefusal::NotTrimmed(1), Box::new(|c| c.attestations[1].bits = Bytes(vec![1, 0]))),
    ];
    let mut met = BTreeSet::new();
    for (refusal, spoil) in cases {
        let mut spoiled = sound.clone();
        spoil(&mut spoiled);
        met.insert(kind(&refusal));
        assert_eq!(judge(&header, &spoiled), Err(refusal));
    }
    for _ in 0..14 {
        network.step(None);
    }
    let header = network.chain.draft().header;
    let got = Height(header.height.get() - 15);
    let (late, _) = network.certificate(got.get(), everybody(&network, 1));
    let refused = acceptable(&network.chain.state, &header, &late).unwrap_err();
    met.insert(kind(&refused));
    assert_eq!(refused, PresenceRefusal::TooOld { height: header.height, got });
    let (newer, _) = network.certificate(got.get() + 1, everybody(&network, 1));
    assert_eq!(acceptable(&network.chain.state, &header, &newer), Ok(()));
    assert_eq!(met.len(), 12, "every kind: {met:?}");
}

#[test]
fn ancestors_of_the_window_are_known_by_hash_and_others_are_not() {
    let mut network = quiet(1);
    network.chain.skip_views = 2;
    for _ in 0..20 {
        network.step(None);
    }
    let header = network.chain.draft().header;
    let known = |hash| ancestor(&network.chain.state, &header, hash);
    for certificate in &network.finalized {
        let age = header.height.get() - certificate.height.get();
        let record = known(certificate.block);
        assert_eq!(record.is_some(), age <= 17, "a block of age {age}");
        let Some(record) = record else { continue };
        assert_eq!(record.height, certificate.height);
        assert_eq!(record.view, certificate.round.view);
        assert_eq!(record.parent_view, Some(certificate.parent_view));
    }
    assert_eq!(known(header.hash()), None);
}

/// A state with so many slots and validators, as if all runners had registered before it began.
fn crowded(slots: u32, validators: u8) -> MemoryState {
    let mut network = Network::new(validators, 1);
    network.step(None);
    let mut entries = network.chain.state.entries().clone();
    let mut chain = network.chain.chain();
    chain.next_slot = Slot(slots);
    entries.insert(ChainKey {}.bytes(), chain.to_bytes());
    for slot in 0..slots {
        let mut bytes = [2; 33];
        bytes[1..5].copy_from_slice(&slot.to_be_bytes());
        let runner = Address::left_padding_from(&slot.to_be_bytes());
        let record = SlotRecord { runner, vacated: None };
        let public_key = PublicKey { bytes };
        let (pools, held) = (Vec::new(), Held::default());
        let profile = Profile { public_key, slot: Slot(slot), offer: offer(), pools, held };
        let profile = Versioned::new(profile, Stamp::default());
        entries.insert(SlotKey { slot: Slot(slot) }.bytes(), record.to_bytes());
        entries.insert(ProfileKey { runner }.bytes(), profile.to_bytes());
    }
    MemoryState::new(entries, &network.chain.params)
}

// spec §9.4
#[test]
fn a_vote_has_room_for_8192_runners_and_later_ones_get_no_place() {
    let subsets = crowded(8_200, 1).subsets();
    let list = subsets.list(0);
    assert_eq!(list, (0..8_192).map(Slot).collect::<Vec<_>>());
    assert_eq!(subsets.pack(0, |_| true), [0xff; ATTESTATION_BYTES_MAX]);
    assert_eq!(subsets.pack(0, |slot| slot == Slot(8)), [0, 1]);
    assert_eq!(subsets.pack(0, |slot| slot > Slot(8_191)), []);
    assert_eq!(subsets.pack(1, |_| true), []);
    assert_eq!(subsets.members(Slot(8_199)), [0], "it has a validator, but no place");
}
