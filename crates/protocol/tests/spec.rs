//! `docs/spec` says what the code does: its examples are computed here, and its tables are compared with the sources.

use remuda_protocol::account::Account;
use remuda_protocol::actors::actor_address;
use remuda_protocol::actors::record::Answer;
use remuda_protocol::beacon::{
    Round, SelectionMode, beacon, genesis_beacon, retry_seed, selection_seed,
};
use remuda_protocol::block::{
    Header, SeedSignature, StateCommitment, presence_hash, seeds_root, transactions_root,
};
use remuda_protocol::callback::call_id;
use remuda_protocol::chain::Validator;
use remuda_protocol::codec::{Bytes, Decode, Encode};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::{
    VerificationMode, hhi_instant, m_adaptive, m_target, n_threshold,
};
use remuda_protocol::dispatcher::draw::{Favourite, draw};
use remuda_protocol::dispatcher::filter::Query;
use remuda_protocol::dispatcher::spec::{
    DataFormat, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::dispatcher::submit::job_id;
use remuda_protocol::dispatcher::trie::{Leaf, Trie};
use remuda_protocol::dispatcher::weight::weight;
use remuda_protocol::entitlements::constraints::{Constraints, RateLimit, Used};
use remuda_protocol::entitlements::record::{Entitlement, entitlement_id, role_id};
use remuda_protocol::entitlements::scope::{Action, Scope, right};
use remuda_protocol::error::{Inadmissible, Refusal};
use remuda_protocol::event::{Cause, Event, Receipt};
use remuda_protocol::fees::{Basefees, Bid, Usage};
use remuda_protocol::genesis::Genesis;
use remuda_protocol::key::AccountKey;
use remuda_protocol::math::log2_nano;
use remuda_protocol::params::ChainParams;
use remuda_protocol::presence::{
    Attestation, PresenceCertificate, presence_threshold, subset, subset_size,
};
use remuda_protocol::primitives::{Address, Amount, B256, Cells, Cycles, Height, Slot, keccak256};
use remuda_protocol::registry::reputation::{HALF_LIFE_BLOCKS, Reputation, keep};
use remuda_protocol::state::StateKey;
use remuda_protocol::timers::fairness;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::timers::lane::next_basefee;
use remuda_protocol::timers::order::lot;
use remuda_protocol::timers::record::{Payload, Timer, timer_id};
use remuda_protocol::transaction::{Instruction, Reveal, Transaction, tx_hash};
use remuda_protocol::verifier::aggregator::{choose, eligible};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::excuse::{Delivery, Excuse};
use remuda_protocol::verifier::json;
use remuda_protocol::verifier::payout::{PayoutBps, split};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/spec");
const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const CHAIN: u64 = 7_829_367;
const ONE: Address = Address::repeat_byte(0xa1);
const TWO: Address = Address::repeat_byte(0xa2);
const JOB: B256 = B256::repeat_byte(0xb1);
const HASH: B256 = B256::repeat_byte(0xb2);

/// The files of the specification, by name.
fn files() -> BTreeMap<String, String> {
    let entries = fs::read_dir(DIR).expect("docs/spec is there").map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    entries.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

fn text() -> String {
    files().into_values().collect()
}

/// What an example of the text shows.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    Hex(Vec<u8>),
    Text(String),
}

/// The examples of the text, by name.
fn shown() -> BTreeMap<String, Shown> {
    let text = text();
    let parts = text.split("<!-- example: ").skip(1);
    let example = |part: &str| {
        let (name, rest) = part.split_once(" -->\n```").expect("a block follows the name");
        let (body, _) = rest.split_once("\n```").expect("the block ends");
        let shown = match body.split_once('\n').expect("the block has a kind") {
            ("hex", lines) => {
                let digits = lines.lines().map(|line| line.split(';').next().unwrap_or_default());
                let digits: String = digits.flat_map(str::split_whitespace).collect();
                Shown::Hex(alloy_primitives::hex::decode(digits).expect("hex digits"))
            }
            ("text", lines) => Shown::Text(lines.to_owned()),
            (kind, _) => panic!("{name} is of the unknown kind {kind}"),
        };
        (name.to_owned(), shown)
    };
    parts.map(example).collect()
}

#[derive(Default)]
struct Examples(BTreeMap<String, Shown>);

impl Examples {
    fn hex(&mut self, name: &str, bytes: impl AsRef<[u8]>) {
        assert!(self.0.insert(name.into(), Shown::Hex(bytes.as_ref().to_vec())).is_none());
    }

    fn lines(&mut self, name: &str, lines: impl IntoIterator<Item = String>) {
        let text = lines.into_iter().collect::<Vec<_>>().join("\n");
        assert!(self.0.insert(name.into(), Shown::Text(text)).is_none());
    }
}

fn examples() -> Examples {
    let mut all = Examples::default();
    encodings(&mut all);
    keys(&mut all);
    payment(&mut all);
    blocks(&mut all);
    state(&mut all);
    jobs(&mut all);
    selections(&mut all);
    results(&mut all);
    money(&mut all);
    presence(&mut all);
    timers(&mut all);
    entitlements(&mut all);
    actors(&mut all);
    all
}

// spec §1.2, §1.3, §1.5, §1.6
fn encodings(all: &mut Examples) {
    all.hex("encoding.list", vec![(ONE, 3u32), (TWO, 4)].to_bytes());
    let failed = Answer::Failed { code: 706, message: "e".into() };
    all.hex("encoding.enum", failed.to_bytes());
    let items: [&[u8]; 3] = [&[1, 2], &[3], &[]];
    all.hex("encoding.merkle", remuda_protocol::merkle::root(items));
    let log = |n: u64| format!("log2_nano({n}) = {}", log2_nano(n));
    all.lines("encoding.log2", [1, 2, 3, 10, 100, 1000].map(log));
}

fn alice() -> SecretKey {
    SecretKey::from_label("alice")
}

// spec §2.2, §2.3
fn keys(all: &mut Examples) {
    all.hex("keys.secret", keccak256("alice"));
    all.hex("keys.public", alice().public_key().bytes);
    all.hex("keys.address", alice().address());
    let digest = keccak256("digest");
    all.hex("keys.digest", digest);
    all.hex("keys.signature", alice().sign(&digest).bytes);
}

const PAID: Amount = Amount(1_500_000_000);

fn bob() -> Address {
    SecretKey::from_label("bob").address()
}

fn transfer() -> Transaction {
    let bid = Bid { max_fee: 20_000, max_priority: 1 };
    Transaction {
        chain_id: CHAIN,
        nonce: 0,
        cycles_limit: 2_200,
        cells_limit: 214,
        cycle_bid: bid,
        cell_bid: bid,
        max_deposit: Amount::ZERO,
        instruction: Instruction::Transfer { to: bob(), amount: PAID },
    }
}

fn transfer_hash() -> B256 {
    tx_hash(&transfer().sign(&alice()).to_bytes())
}

// spec §3.1, §3.2, §3.3, §3.4, §3.13
fn payment(all: &mut Examples) {
    let signed = transfer().sign(&alice());
    all.hex("transaction.body", transfer().to_bytes());
    all.hex("transaction.digest", transfer().digest());
    all.hex("transaction.signature", signed.signature.bytes);
    all.hex("transaction.hash", transfer_hash());
    let receipt = Receipt {
        cause: Cause::Transaction { hash: transfer_hash() },
        code: 0,
        used: Usage { cycles: Cycles(2_200), cells: Cells(214) },
        fee: Amount((2_200 + 214) * 10_001),
        events: vec![Event::Transferred { from: alice().address(), to: bob(), amount: PAID }],
    };
    all.hex("transaction.receipt", receipt.to_bytes());
}

fn header() -> Header {
    Header {
        parent: B256::repeat_byte(1),
        parent_view: 103,
        height: Height(41),
        round: Round { epoch: 0, view: 105 },
        proposer: [2; 32],
        timestamp_ms: 1_700_000_000_000,
        transactions_root: B256::repeat_byte(3),
        receipts_root: B256::repeat_byte(4),
        state: StateCommitment {
            root: B256::repeat_byte(5),
            ops_root: B256::repeat_byte(6),
            ops_start: 7,
            ops_end: 900,
        },
        seeds_root: seeds_root(&[
            SeedSignature { bytes: [8; 48] },
            SeedSignature { bytes: [9; 48] },
        ]),
        presence_hash: presence_hash(None),
    }
}

// spec §4.2, §4.3, §4.6, §4.8, §4.10, §4.14
fn blocks(all: &mut Examples) {
    all.hex("block.header", header().to_bytes());
    all.hex("block.hash", header().hash());
    all.hex("block.beacon", beacon(Round { epoch: 0, view: 104 }, &[9; 48]));
    all.hex("block.genesis_beacon", genesis_beacon(HASH));
    let attestation = Attestation { validator: 2, bits: Bytes(vec![5]), signature: [0x0c; 64] };
    let certificate = PresenceCertificate {
        height: Height(40),
        round: Round { epoch: 0, view: 103 },
        parent_view: 102,
        block: B256::repeat_byte(1),
        vote_signature: [0x0a; 48],
        seed_signature: [0x0b; 48],
        attestations: vec![attestation],
    };
    all.hex("block.certificate", certificate.to_bytes());
    all.hex("block.presence_hash", presence_hash(Some(&certificate)));
    // Numbers below 128 are one byte each. The node's tests hold votes to the library.
    all.hex("block.proposal", [&[0, 105, 103], header().hash().as_slice()].concat());
    let params = ChainParams::one_second();
    let next = |used: u64| {
        let before = Basefees { cycle: 10_000, cell: 10_000 };
        let after = before.next(&params, Usage { cycles: Cycles(used), cells: Cells(0) });
        format!("basefee 10000, used {used}, target 10000000 -> {}", after.cycle)
    };
    all.lines("block.basefee", [0, 10_000_000, 15_000_000, 20_000_000].map(next));
}

// spec §5.2, §5.11
fn state(all: &mut Examples) {
    let key = AccountKey { address: bob() }.bytes();
    let value = Account { balance: PAID, nonce: 1, failed_callbacks: 0 }.to_bytes();
    all.hex("state.account_key", &key);
    all.hex("state.account", &value);
    all.hex("state.path", keccak256(&key));
    let length = u16::try_from(key.len()).unwrap();
    all.hex("state.entry", [&length.to_be_bytes()[..], &key, &value].concat());
}

fn spec() -> JobSpec {
    JobSpec {
        job_type: JobType::Http {
            method: "GET".into(),
            url: "https://example.org/price".into(),
            headers: vec![("accept".into(), "application/json".into())],
            body: Bytes::default(),
            extract: String::new(),
        },
        bounds: ResourceBounds {
            max_input_tokens: 4_096,
            max_output_tokens: 1_024,
            max_wall_time_seconds: 30,
            max_memory_mb: 512,
            max_retries: 0,
        },
        verification: Verification {
            mode: VerificationMode::MajorityVote,
            runners: 3,
            threshold: 2,
            checks: vec![VerifierCheck::MajorityVote { field: "price".into() }],
        },
        result_schema: ResultSchema {
            max_return_bytes: 1_024,
            expected_execution_ms: 2_000,
            data_format: DataFormat::Json,
        },
        max_price: Amount::cby(9),
        tip: Amount::ZERO,
        timeout_blocks: 60,
        callback: None,
        tee_required: false,
        secrets: Vec::new(),
        required_runner_pool: None,
    }
}

fn job() -> B256 {
    job_id(CHAIN, transfer_hash(), 0)
}

fn seed() -> B256 {
    selection_seed(SelectionMode::Delayed, HASH, job(), 41)
}

// spec §6.2, §6.5, §6.7, §6.8, §6.13, §6.20
fn jobs(all: &mut Examples) {
    all.hex("job.spec", spec().to_bytes());
    all.hex("job.id", job());
    let query = Query::of(&spec(), &ChainParams::one_second(), 3);
    all.hex("job.query", query.to_bytes());
    all.hex("job.query_hash", query.hash());
    all.hex("job.seed", seed());
    all.hex("job.retry_seed", retry_seed(seed(), 1));
    let sized = |stakes: Vec<u128>| {
        let hhi = hhi_instant(stakes.iter().copied()).unwrap();
        let target = m_target(stakes.len() as u64, hhi, 10_000_000);
        let list: Vec<String> = stakes.iter().map(u128::to_string).collect();
        format!(
            "stakes {}: HHI_instant = {hhi}, M_target = {target}, M_adaptive = {}",
            list.join(","),
            m_adaptive(target, 3, 9)
        )
    };
    let skewed = [vec![100_000], vec![10_000; 9]].concat();
    all.lines("job.committee", [vec![10_000; 10], skewed].map(sized));
    let needed = |(m, runners, threshold): (u64, u32, u32)| {
        let needed = n_threshold(m, runners, threshold).unwrap();
        format!("M={m} runners={runners} threshold={threshold} -> N_threshold = {needed}")
    };
    all.lines("job.threshold", [(3, 3, 2), (5, 5, 4), (9, 9, 9), (3, 5, 5)].map(needed));
}

// spec §6.10, §6.12, §6.14, §6.16
fn selections(all: &mut Examples) {
    let leaf = |(byte, weight, slot)| Leaf {
        address: Address::repeat_byte(byte),
        slot: Slot(slot),
        weight,
    };
    let leaves = [(0x11, 100, 0), (0x22, 200, 1), (0xaa, 300, 2), (0xab, 400, 3)].map(leaf);
    let line =
        |leaf: &Leaf| format!("{:#x} weight {} slot {}", leaf.address, leaf.weight, leaf.slot);
    all.lines("job.candidates", leaves.iter().map(line));
    let Leaf { address, slot, weight: own } = leaves[0];
    let hashed = [&[0][..], &address.to_bytes(), &own.to_be_bytes(), &slot.to_bytes()].concat();
    assert_eq!(Trie::build(&leaves[..1]).unwrap().root(), keccak256(&hashed));
    all.hex("job.trie_leaf", hashed);
    let trie = Trie::build(&leaves).unwrap();
    all.hex("job.trie_root", trie.root());
    let drawn = |favourite| {
        let draws = draw(seed(), 3, favourite, std::slice::from_ref(&trie)).unwrap();
        let line = |draw: &remuda_protocol::dispatcher::draw::Draw| {
            format!("i={} r={} {:#x}", draw.i, draw.r, draw.leaf.address)
        };
        draws.iter().map(line).collect::<Vec<_>>()
    };
    all.lines("job.draw", drawn(None));
    all.lines("job.draw_mru", drawn(Some(Favourite { address, multiplier: 4 })));
    let stake = 10_000_000_000_000;
    let weighed = |reputation: u64| {
        let weight = weight(stake, reputation, 100_000_000).unwrap();
        format!("stake {stake}, reputation_nano {reputation} -> {weight}")
    };
    all.lines("job.weight", [60_000_000_000, 100_000_000_000, 0].map(weighed));
    let members = [(0x11, 60_000_000_000), (0x22, 70_000_000_000), (0xaa, 65_000_000_000)];
    let members = members.map(|(byte, reputation)| (Address::repeat_byte(byte), reputation));
    let chosen = eligible(&members);
    let mut lines: Vec<String> =
        members.iter().map(|(who, nano)| format!("{who:#x} reputation_nano {nano}")).collect();
    lines.push("p50 = 65000000000".into());
    let names: Vec<String> = chosen.iter().map(|who| format!("{who:#x}")).collect();
    lines.push(format!("eligible: {}", names.join(", ")));
    lines.push(format!("aggregator: {:#x}", choose(seed(), job(), &chosen).unwrap()));
    all.lines("job.aggregator", lines);
}

// spec §7.2, §7.9
fn results(all: &mut Examples) {
    let runner = SecretKey::from_label("runner");
    let who = runner.address();
    let salt = B256::repeat_byte(7);
    let result: Delivery = br#"{"price":42}"#.into();
    let digest = result.digest(CHAIN, job(), 0, who);
    let result_sig = runner.sign(&digest);
    all.hex("result.digest", digest);
    all.hex("result.signature", result_sig.bytes);
    all.hex("result.commitment", result.commitment(CHAIN, job(), 0, who, &salt, &result_sig.bytes));
    all.hex("result.reveal", Reveal { runner: who, result, salt, result_sig }.to_bytes());
    let excuse: Delivery = Excuse::Unreachable.into();
    let digest = excuse.digest(CHAIN, job(), 0, who);
    all.hex("result.excuse_digest", digest);
    let signature = runner.sign(&digest).bytes;
    let bound = excuse.commitment(CHAIN, job(), 0, who, &salt, &signature);
    all.hex("result.excuse_commitment", bound);
    let input = r#"{ "b": 1.50, "a": [1e2, -0.0, "\u0041\n"], "\u20ac": null }"#;
    let canonical = json::parse(input.as_bytes()).unwrap().canonical();
    all.lines(
        "result.canonical",
        [format!("input:     {input}"), format!("canonical: {canonical}")],
    );
}

// spec §8.1, §8.9
fn money(all: &mut Examples) {
    let winners = [1, 2, 3].map(Address::repeat_byte);
    let parts = |(gross, wins): (u128, bool)| {
        let aggregator = wins.then_some(winners[0]);
        let split = split(gross, &winners, aggregator, &PayoutBps::default()).unwrap();
        let share = split.payouts[1].1;
        format!(
            "gross {gross}, 3 winners, aggregator {}: share {share}, bonus {}, burn {}, treasury {}",
            if wins { "wins" } else { "does not win" },
            split.payouts[0].1 - share,
            split.burn,
            split.treasury
        )
    };
    let cases = [(9_000_000_000, true), (9_000_000_000, false), (1_000_000_007, true)];
    all.lines("money.split", cases.map(parts));
    let times = [0, 1, 3_600, HALF_LIFE_BLOCKS, 2 * HALF_LIFE_BLOCKS];
    all.lines("money.keep", times.map(|dt| format!("keep({dt}) = {}", keep(dt))));
    let mut reputation = Reputation::new(0);
    let events = [(100, 100), (3_700, 0), (10_000, 110)].map(|(height, score)| {
        reputation.record(height, score).unwrap();
        let Reputation { score_sum, weight_sum, .. } = reputation;
        format!(
            "height {height}, score {score}: score_sum {score_sum}, weight_sum {weight_sum}, \
             reputation_nano {}",
            reputation.nano()
        )
    });
    all.lines("money.reputation", events);
}

// spec §9.2
fn presence(all: &mut Examples) {
    let size = |n: usize| {
        let k = subset_size(n);
        format!("n={n}: k={k} t={}", presence_threshold(k))
    };
    all.lines("presence.size", [1, 4, 7, 10, 100, 128].map(size));
    let validators = [1, 2, 3, 4, 5].map(|byte| [byte; 32]);
    let runner = SecretKey::from_label("runner").public_key().bytes;
    let members = subset(&HASH, &runner, &validators);
    all.lines("presence.subset", members.iter().map(|key| B256::new(*key).to_string()));
}

// spec §10.1, §10.2, §10.4, §10.5, §10.6
fn timers(all: &mut Examples) {
    let id = timer_id(ONE, Height(500), b"tick", 0);
    all.hex("timer.id", id);
    all.hex("timer.lot", lot(&HASH, &id));
    let schedule = ScheduleTimer {
        height: Height(500),
        payload: Bytes(b"tick".to_vec()),
        gas_limit: Some(50_000),
        expires_at: Some(Height(600)),
        max_fee_per_cycle: Some(3_000),
        max_priority_fee_per_cycle: Some(200),
        ..ScheduleTimer::default()
    };
    all.hex("timer.schedule", schedule.to_bytes());
    let timer = Timer {
        actor: ONE,
        due: Height(500),
        expires_at: Height(600),
        fee_payer: ONE,
        gas_limit: 50_000,
        max_cells: 16_384,
        max_fee: 3_000,
        max_priority_fee: 200,
        agent: None,
        deposit: remuda_protocol::deposit::price(&ChainParams::one_second(), 256 + 4),
        payload: Payload::new(b"tick"),
    };
    all.hex("timer.record", timer.to_bytes());
    let priced = |(basefee, used, quotient): (u128, u64, u64)| {
        let next = next_basefee(basefee, used, quotient).unwrap();
        format!("basefee {basefee}, used {used}, quotient {quotient} -> {next}")
    };
    let cases = [
        (1_000, 0, 1),
        (1_000, 1_100_000, 1),
        (1_000, 2_000_000, 1),
        (100_000, 900_000, 1),
        (100_000, 900_000, 8),
        (1_000, 1_000_001, 8),
    ];
    all.lines("timer.lane", cases.map(priced));
    let fair = |(recent, median): (u64, u64)| {
        format!("recent {recent}, median {median} -> W = {}", fairness::weight(recent, median))
    };
    all.lines("timer.weight", [(0, 4), (1, 4), (4, 4), (40, 4), (1, 0)].map(fair));
}

// spec §11.3, §11.4, §11.7
fn entitlements(all: &mut Examples) {
    let scope = Scope::Actor { address: ONE };
    let action = Action::ActorExecuteHandler { name: Bytes(b"on_price".to_vec()) };
    all.hex("entitlement.scope", scope.to_bytes());
    all.hex("entitlement.action", action.to_bytes());
    all.hex("entitlement.right", right(&scope, &action));
    let constraints = Constraints {
        valid_until: Some(Height(1_000)),
        max_uses: 10,
        rate_limit: Some(RateLimit { max_uses: 2, window_blocks: 100 }),
        delegatable: true,
        delegation_depth_max: 2,
        ..Constraints::default()
    };
    all.hex("entitlement.constraints", constraints.to_bytes());
    let record = Entitlement {
        granter: ONE,
        grantee: TWO,
        scope,
        action,
        constraints,
        parent: None,
        used: Used::default(),
        accepted: true,
        held_place: 0,
        member_place: 0,
        deposit: Amount::ZERO,
    };
    all.hex("entitlement.id", entitlement_id(&record, 0));
    all.hex("entitlement.role", role_id(ONE, b"clerk"));
}

// spec §12.1, §12.5, §12.8
fn actors(all: &mut Examples) {
    all.hex("actor.address", actor_address(ONE, B256::ZERO, "def init():\n    pass\n"));
    all.hex("actor.call_id", call_id(CHAIN, 5));
    let label = keccak256("dice");
    let parts = [HASH.as_slice(), ONE.as_slice(), JOB.as_slice(), label.as_slice()].concat();
    let random = [b"cowboy-random-v1:", &parts[..]].concat();
    all.hex("actor.random", keccak256(random));
}

#[test]
fn examples_of_the_specification_are_computed() {
    let expected = examples().0;
    let mut shown = shown();
    // The link's own tests compute these.
    shown.retain(|name, _| !name.starts_with("link."));
    let names = |map: &BTreeMap<String, Shown>| map.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&shown), names(&expected));
    for (name, expected) in &expected {
        assert_eq!(&shown[name], expected, "docs/spec shows something else for {name}");
    }
}

#[test]
fn the_payment_of_the_specification_is_read_back() {
    let Some(Shown::Hex(body)) = shown().remove("transaction.body") else { panic!("no body") };
    assert_eq!(Transaction::from_bytes(&body), Ok(transfer()));
    assert_ne!(transactions_root(&[Bytes(body)]), B256::ZERO);
}

/// The cells of each row of all tables, without backticks.
fn rows() -> Vec<Vec<String>> {
    let row = |line: &str| {
        let cells = line.trim_matches('|').replace("\\|", "\u{0}");
        cells.split('|').map(|cell| cell.replace('`', "").trim().to_owned()).collect()
    };
    let text = text();
    text.lines().filter(|line| line.starts_with("| ")).map(row).collect()
}

fn source(path: &str) -> String {
    fs::read_to_string(format!("{CRATES}/{path}")).expect("the source is there")
}

/// Names before colons, in the order in which they stand.
fn field_names(list: &str) -> Vec<String> {
    let words = list.split([',', '(', ')', '[', ']', '<', '>']);
    let names = words.filter_map(|word| word.split_once(':')).map(|(name, _)| name.trim());
    names.map(str::to_owned).collect()
}

#[test]
fn codes_and_texts_of_errors_are_in_the_specification() {
    let rows: BTreeSet<Vec<String>> = rows().into_iter().collect();
    let inadmissible = Inadmissible::ALL.iter().map(|e| (e.code(), e.name(), e.to_string()));
    let refusals = Refusal::ALL.iter().map(|e| (e.code(), e.name(), e.to_string()));
    for (code, name, text) in inadmissible.chain(refusals) {
        assert!(rows.contains(&vec![code.to_string(), name.into(), text]), "{code} {name}");
    }
}

#[test]
fn parameters_of_the_one_second_preset_are_in_the_specification() {
    let rows = rows();
    let listed: Vec<&Vec<String>> =
        rows.iter().filter(|row| row[0].starts_with("system:")).collect();
    let table = ChainParams::one_second().table();
    assert_eq!(listed.len(), table.len());
    for (row, parameter) in listed.iter().zip(&table) {
        assert_eq!(row[0], parameter.key, "in the order of the hash");
        assert_eq!(read(&row[1]), parameter.value, "{}", parameter.key);
        assert_eq!(read(&row[2]), parameter.min, "{}", parameter.key);
        assert_eq!(read(&row[3]), parameter.max, "{}", parameter.key);
    }
}

/// A number as the text writes it: `1,000`, `0.1 CBY`, `2^40`, `2^64 - 1`.
fn read(text: &str) -> u128 {
    let plain = text.replace(',', "");
    match plain.as_str() {
        "0.1 CBY" => Amount::CBY.get() / 10,
        "2^128 - 1" => u128::MAX,
        "2^64 - 1" => u64::MAX.into(),
        power if power.starts_with("2^") => 1 << power[2..].parse::<u32>().unwrap(),
        plain => match plain.strip_suffix(" CBY") {
            Some(cby) => Amount::cby(cby.parse().unwrap()).get(),
            None => plain.parse().unwrap_or_else(|_| panic!("{text} is a number")),
        },
    }
}

// spec §1.4
#[test]
fn decimals_outside_of_their_range_are_refused() {
    let most = 10_i128.pow(29);
    for nanos in [most, -most] {
        assert!(json::Decimal::from_bytes(&nanos.to_be_bytes()).is_ok());
    }
    for nanos in [most + 1, -most - 1, i128::MAX, i128::MIN] {
        assert!(json::Decimal::from_bytes(&nanos.to_be_bytes()).is_err(), "{nanos}");
    }
}

// spec §7.8
#[test]
fn documents_that_are_not_acceptable_are_refused() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let refused = [
        nested(65).as_str(),
        r#"{"a":1,"\u0061":2}"#,
        r#""\ud800""#,
        "100000000000000000001",
        "-1e21",
        "0.0000000001",
        "\u{feff}1",
    ]
    .map(str::to_owned);
    for text in refused {
        assert!(json::parse(text.as_bytes()).is_err(), "{text}");
    }
    for text in [nested(64).as_str(), "1e20", "-100000000000000000000", "0.000000001"] {
        assert!(json::parse(text.as_bytes()).is_ok(), "{text}");
    }
    let equal = |a: &str, b: &str| json::parse(a.as_bytes()) == json::parse(b.as_bytes());
    assert!(equal("1", "1.0") && equal("1", "1e0") && equal("0", "-0"));
    assert!(!equal("9007199254740992", "9007199254740993"));
}

// spec §4.17
#[test]
fn genesis_is_refused_with_lists_out_of_order_or_too_long() {
    let validator = |byte, fee_recipient| Validator { key: [byte; 32], fee_recipient };
    let sound = Genesis {
        params: ChainParams::one_second(),
        timestamp_ms: 0,
        balances: vec![(ONE, Amount(1)), (TWO, Amount(2))],
        pinned_executors: Vec::new(),
        system_deployers: vec![ONE, TWO],
        validators: vec![validator(1, ONE), validator(2, TWO)],
        threshold_key: Bytes::default(),
    };
    assert!(sound.entries().is_ok());
    let refused = |change: &dyn Fn(&mut Genesis)| {
        let mut genesis = sound.clone();
        change(&mut genesis);
        assert!(genesis.entries().is_err());
        assert_ne!(genesis.hash(), sound.hash());
    };
    refused(&|genesis| genesis.balances.reverse());
    refused(&|genesis| genesis.balances[0].1 = Amount(1 << 96));
    refused(&|genesis| genesis.validators.reverse());
    refused(&|genesis| genesis.validators.clear());
    refused(&|genesis| genesis.validators[1] = genesis.validators[0]);
    refused(&|genesis| genesis.validators[0].fee_recipient = Address::with_last_byte(8));
    refused(&|genesis| {
        genesis.validators = (0..129).map(|byte| validator(byte, ONE)).collect();
    });
    refused(&|genesis| genesis.system_deployers.reverse());
    refused(&|genesis| {
        genesis.system_deployers = (0..17).map(|byte| Address::repeat_byte(byte + 1)).collect();
    });
}

// spec §13.2
#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let contradictions = [
        ("system:cip2:payout.burn_bps", 999),
        ("system:cip2:slash_distribution.treasury_bps", 1),
        ("system:cip2:committee.m_max", 3),
        ("system:cip2:committee.m_min", 9),
        ("system:cip2:aggregator_timeout_blocks", 61),
        ("system:cip2:reputation.jail_blocks", 86_401),
        ("system:cip2:default_timeout_blocks", 86_401),
        ("system:cip11:subset_epoch_blocks", 189),
    ];
    let mut params = ChainParams::one_second();
    let sound = params.clone();
    for (key, value) in contradictions {
        let alone = params.set(key, value);
        if key.contains("committee") {
            // Each is sound alone; together they are not.
            assert_eq!(alone.is_ok(), key.ends_with("m_max"), "{key}");
            continue;
        }
        assert!(alone.is_err(), "{key}");
    }
    assert!(params.set("system:cip2:committee.m_max", 9).is_ok());
    assert_eq!(params, sound);
}

// spec §3.8
#[test]
fn instructions_are_in_the_specification_with_their_fields() {
    let source = source("protocol/src/rules/transaction.rs");
    let (_, table) = source.split_once("codec_enum!(Instruction {\n").unwrap();
    let rows = rows();
    for line in table.lines().take_while(|line| !line.starts_with("});")) {
        let (number, rest) = line.trim().split_once(" => ").unwrap();
        let (name, fields) = rest.trim_end_matches(',').split_once(' ').unwrap();
        let fields: Vec<&str> =
            fields.trim_matches(['{', '}', ' ']).split(", ").filter(|f| !f.is_empty()).collect();
        let row = rows.iter().find(|row| row[0] == number && row[1] == name);
        let row = row.unwrap_or_else(|| panic!("{number} {name} is missing"));
        assert_eq!(field_names(&row[2]), fields, "{name}");
    }
}

#[test]
fn events_are_in_the_specification_with_their_fields() {
    let source = source("protocol/src/rules/event.rs");
    let (_, table) = source.split_once("\nevents! {\n").unwrap();
    let rows = rows();
    let lines = table.lines().take_while(|line| *line != "}").map(str::trim);
    for line in lines.filter(|line| !line.is_empty()) {
        let (head, rest) = line.split_once(" {").unwrap();
        let (tag, name) = head.split_once(' ').unwrap();
        let fields = field_names(rest.split_once('}').unwrap().0);
        let row = rows.iter().find(|row| row[0] == tag && row[1] == name);
        let row = row.unwrap_or_else(|| panic!("{tag} {name} is missing"));
        assert_eq!(field_names(&row[2]), fields, "{name}");
    }
}

// spec §5.1, §5.2
#[test]
fn keys_of_the_state_are_in_the_specification_with_their_parts() {
    let source = source("protocol/src/rules/key.rs");
    let rows = rows();
    let mut found = 0;
    for line in source.lines().map(str::trim) {
        let Some((tag, rest)) = line.split_once(" => ") else { continue };
        let (Ok(_), Some((name, rest))) = (tag.parse::<u8>(), rest.split_once(" {")) else {
            continue;
        };
        let parts = field_names(rest.split_once('}').unwrap().0);
        let row = rows.iter().find(|row| row[0] == tag && row[1] == name);
        let row = row.unwrap_or_else(|| panic!("{tag} {name} is missing"));
        let shown = field_names(&row[2].replace(" ‖ ", ", "));
        assert_eq!(shown, parts, "{name}");
        found += 1;
    }
    assert!(found > 40, "the table is not where it was");
}

/// All sources below a folder.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "rs") {
            found.push(fs::read_to_string(entry).unwrap());
        }
    }
}

// spec §1.3, §5.1
#[test]
fn records_are_in_the_specification_with_their_fields() {
    let mut all = Vec::new();
    sources(Path::new(CRATES).join("protocol/src").as_path(), &mut all);
    let rows = rows();
    // One field each; the text calls them what they are.
    let basic = [
        "Signature",
        "PublicKey",
        "SeedSignature",
        "Transaction",
        "SignedTransaction",
        "Receipt",
        "Block",
        "Bid",
    ];
    let mut found = 0;
    for source in &all {
        for part in source.split("\ncodec_struct!(").skip(1) {
            let (name, rest) = part.split_once(" {").unwrap();
            if basic.contains(&name) {
                continue;
            }
            let fields = rest.split_once('}').unwrap().0.split(',').map(str::trim);
            let fields: Vec<&str> = fields.filter(|field| !field.is_empty()).collect();
            let row = rows.iter().find(|row| row[0] == name && row.len() == 2);
            let row = row.unwrap_or_else(|| panic!("the record {name} is missing"));
            assert_eq!(field_names(&row[1]), fields, "{name}");
            found += 1;
        }
    }
    assert!(found > 60, "records are not written as they were");
}

// spec §2.5
#[test]
fn domains_of_all_digests_are_in_the_specification() {
    let mut all = Vec::new();
    for name in ["protocol", "link", "node", "client", "runner", "vm", "cli"] {
        sources(Path::new(CRATES).join(name).join("src").as_path(), &mut all);
    }
    let domains = all.iter().flat_map(|source| source.split("\"cowboy-").skip(1));
    let domains = domains.filter_map(|rest| {
        let word = rest.split(['"', '\\']).next()?;
        word.ends_with(':').then(|| format!("cowboy-{word}"))
    });
    let used: BTreeSet<String> = domains.collect();
    let listed: BTreeSet<String> = rows()
        .into_iter()
        .filter(|row| row[0].starts_with("cowboy-") && row.len() == 4)
        .map(|row| row[0].clone())
        .collect();
    assert_eq!(listed, used);
    for domain in &used {
        let others = used.iter().filter(|other| *other != domain);
        assert!(
            !others.into_iter().any(|other| other.starts_with(domain)),
            "{domain} begins another"
        );
    }
}

#[test]
fn sections_are_numbered_once_and_references_lead_to_one() {
    let mut sections = BTreeSet::new();
    for (file, text) in files() {
        for (above, heading) in
            text.lines().zip(text.lines().skip(2)).filter(|(_, line)| line.starts_with("## "))
        {
            let Some(number) = heading[3..].split(' ').next().filter(|n| n.contains('.')) else {
                continue;
            };
            assert!(
                file.starts_with(&format!("{:0>2}-", number.split('.').next().unwrap())),
                "{heading}"
            );
            assert_eq!(above, format!("<a id=\"{number}\"></a>"), "anchor of {heading}");
            assert!(sections.insert(number.to_owned()), "{number} twice");
        }
    }
    let text = text();
    for reference in text.split('§').skip(1) {
        let end =
            reference.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(reference.len());
        let number = reference[..end].trim_end_matches('.');
        let chapter = format!("{number}.1");
        let known = sections.contains(number) || sections.contains(&chapter);
        assert!(known, "§{number} leads nowhere");
    }
}
