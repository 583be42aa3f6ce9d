//! What the host's calls take beside what they cost: `cargo run --release -p remuda-vm --example
//! host_calls`. Each call runs many times in one transaction of a chain of its own, in memory; what an
//! empty loop takes is subtracted. A cycle that the interpreter spends is the measure: a call whose cycle
//! takes more than three times as long is too cheap. Compiling is measured the same way.

use std::time::Duration;

use remuda_protocol::actors::{actor_address, price};
use remuda_protocol::codec::{Bytes, Encode};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::local::LocalChain;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, B256};
use remuda_protocol::transaction::Instruction;
use remuda_vm::{HostValue, cbor, compile};

/// Name, what is prepared, what is done each time, how often.
const CALLS: &[(&str, &str, &str, u32)] = &[
    ("interpreter: x = i * 3 + x % 7", "x = 1", "x = i * 3 + x % 7", 200_000),
    ("context", "", "cowboy.context()", 10_000),
    ("storage_get, nothing there", "", "cowboy.storage_get(b'none')", 10_000),
    (
        "storage_get, 32 bytes",
        "cowboy.storage_set(b'k', bytes(32))",
        "cowboy.storage_get(b'k')",
        1_000,
    ),
    (
        "storage_get, 64 KiB",
        "cowboy.storage_set(b'k', bytes(65536))",
        "cowboy.storage_get(b'k')",
        200,
    ),
    ("storage_set, a new key", "", "cowboy.storage_set(str(i).encode(), b'v')", 500),
    ("storage_set, the same key", "", "cowboy.storage_set(b'k', b'v')", 500),
    ("storage_set, 64 KiB", "v = bytes(65536)", "cowboy.storage_set(b'k', v)", 30),
    (
        "storage_set and storage_delete",
        "",
        "cowboy.storage_set(str(i).encode(), b'v'); cowboy.storage_delete(str(i).encode())",
        300,
    ),
    (
        "storage_scan, 100 keys",
        "for j in range(200): cowboy.storage_set(b'p' + str(j).encode(), b'v')",
        "cowboy.storage_scan(b'p', None, 100)",
        20,
    ),
    ("emit, 32 bytes", "d = bytes(32)", "cowboy.emit('topic', d)", 5_000),
    ("emit, 16 KiB", "d = bytes(16384)", "cowboy.emit('topic', d)", 100),
    ("balance", "", "cowboy.balance()", 10_000),
    ("transfer", "to = bytes([7] * 20)", "cowboy.transfer(to, 10 ** 6)", 500),
    ("randomness", "", "cowboy.randomness(b'label')", 10_000),
    ("randomness, 64 KiB", "d = bytes(65536)", "cowboy.randomness(d)", 200),
    ("call of another actor", "", "cowboy.call(m, 'go', 1)", 1_000),
    ("call, 60 KB there and back", "d = bytes(60000)", "cowboy.call(m, 'go', d)", 200),
    ("send", "", "cowboy.send(m, 'go', 1)", 200),
    ("send, 60 KB", "d = bytes(60000)", "cowboy.send(m, 'go', d)", 10),
    ("ask", "", "cowboy.host('ask', m, 'go', b'', None, 0)", 60),
    ("sleep_until", "h = cowboy.height() + 50", "cowboy.host('sleep_until', h)", 60),
    ("schedule_timer", "h = cowboy.height() + 50", "cowboy.schedule_timer(h + i, b'x')", 200),
    ("submit_job", "", "cowboy.submit_job(SPEC)", 20),
    ("submit_job, refused, 2,000 values", "s = {'job_type': [0] * 2000}", "refused(s)", 20),
    (
        "encode and decode, a small dict",
        "d = {'a': 1, 'b': [1, 2, 3]}",
        "cowboy.decode(cowboy.encode(d))",
        1_000,
    ),
    (
        "encode and decode, 64 KiB of bytes",
        "d = bytes(65536)",
        "cowboy.decode(cowboy.encode(d))",
        50,
    ),
    (
        "encode and decode, 5,000 numbers",
        "d = list(range(5000))",
        "cowboy.decode(cowboy.encode(d))",
        10,
    ),
    ("keccak256, 32 bytes", "d = bytes(32)", "keccak256(d)", 10_000),
    ("keccak256, 64 KiB", "d = bytes(65536)", "keccak256(d)", 200),
    ("sha3_256, 64 KiB", "d = bytes(65536)", "hashlib.sha3_256(d).digest()", 100),
    ("sha256, 64 KiB", "d = bytes(65536)", "hashlib.sha256(d).digest()", 200),
    ("entitled", "", "entitled()", 10_000),
];

const HEAD: &str = "\
import cowboy, hashlib
from pvm_host import keccak256

SPEC = {
    'job_type': {'Http': {'method': 'GET', 'url': 'https://example.org/price'}},
    'verification': {'mode': 'majority_vote', 'runners': 3, 'threshold': 2,
                     'checks': [{'MajorityVote': {'field': 'answer'}}]},
    'result_schema': {'max_return_bytes': 1024, 'expected_execution_ms': 100, 'data_format': 'json'},
    'max_price': 10 ** 9,
    'timeout_blocks': 10,
}

def refused(spec):
    try:
        cowboy.submit_job(spec)
    except cowboy.Refused:
        pass

def entitled():
    try:
        cowboy.entitled('a', 'b')
    except cowboy.HostError:
        pass

def go(m):
    return m
";

struct Stage {
    chain: LocalChain,
    key: SecretKey,
}

impl Stage {
    fn new() -> Option<Self> {
        let key = SecretKey::from_label("bench");
        let money = [(key.address(), Amount::cby(1_000_000_000))];
        let params = ChainParams { cells_target: 100_000_000, ..ChainParams::one_second() };
        let mut chain = LocalChain::start(params, money, Vec::new()).ok()?;
        chain.actors = remuda_vm::chain::machine();
        Some(Self { chain, key })
    }

    fn deploy(&mut self, code: &str) -> Address {
        let salt = B256::ZERO;
        let value = Amount::cby(1_000_000);
        let payload = Bytes::default();
        let deploy = Instruction::DeployActor { salt, code: code.to_owned(), payload, value };
        self.chain.send(&self.key, deploy);
        self.chain.step();
        actor_address(self.key.address(), salt, code)
    }

    /// Nanoseconds and cycles of a block with this call, and how it ended.
    fn call(&mut self, actor: Address, times: u32, other: Address) -> Option<(u128, u64, u16)> {
        let argument =
            HostValue::List(vec![HostValue::Int(times.into()), HostValue::Bytes(other.to_vec())]);
        let payload = Bytes(cbor::encode(&argument).ok()?);
        let (method, value) = ("run".to_owned(), Amount::ZERO);
        let call = Instruction::CallActor { actor, method, payload, value };
        let mut body = self.chain.transaction(self.key.address(), call);
        body.cycles_limit = 4_900_000;
        body.cells_limit = 2_900_000;
        let hash = self.chain.queue(body.sign(&self.key).to_bytes());
        let start = busy();
        self.chain.step();
        let taken = (busy() - start).as_nanos();
        let receipt = self.chain.receipt(hash)?;
        Some((taken, receipt.used.cycles.get(), receipt.code))
    }
}

/// Time that this thread has had a processor; what other processes do is not counted. Elsewhere than on
/// Linux, the time that has passed.
fn busy() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let passed = || START.get_or_init(std::time::Instant::now).elapsed();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(passed, Duration::from_nanos)
}

/// The mean of runs with and without the call, each on a chain of its own, so that state does not grow;
/// as many as the clock needs, which moves by milliseconds.
fn measure(prepare: &str, each: &str, times: u32) -> Option<(u128, u64)> {
    let code = format!(
        "{HEAD}\ndef run(a):\n    n, m = a\n    {prepare}\n    for i in range(n):\n        {each}\n",
        prepare = if prepare.is_empty() { "pass" } else { prepare },
    );
    let run = |times: u32| {
        let mut stage = Stage::new()?;
        let (actor, other) = (stage.deploy(&code), stage.deploy("def go(m):\n    return m\n"));
        stage.call(actor, times, other)
    };
    let (mut full, mut empty, mut paid, mut runs) = (0, 0, 0, 0);
    while full < 150_000_000 && runs < 150 {
        runs += 1;
        let (nanos, base, _) = run(0)?;
        empty += nanos;
        let (nanos, cycles, ended) = run(times)?;
        full += nanos;
        paid = cycles.saturating_sub(base);
        if ended != 0 {
            println!("ended with code {ended}: {each}");
            return None;
        }
    }
    let all = u128::from(times) * runs;
    Some((full.saturating_sub(empty) / all, paid * 10 / u64::from(times)))
}

/// Nanoseconds for a byte of source, of programs that are dear for their length.
fn compiling() {
    let dense =
        "def f(a, b):\n    return [a[i] + b[j] * (i - j) for i in a for j in b if i != j]\n";
    let plain = "x = 1\n";
    let nested = "if a:\n if b:\n  if c:\n   try:\n    f(x, y)\n   finally:\n    g()\n";
    for (name, part) in [("comprehensions", dense), ("assignments", plain), ("finally", nested)] {
        let source = part.repeat(60_000 / part.len());
        let best = (0..10)
            .map(|_| {
                let start = busy();
                let _ = std::hint::black_box(compile(&source, "bench.py"));
                (busy() - start).as_nanos()
            })
            .min()
            .unwrap_or(0);
        let price = price::COMPILE_BYTE_CYCLES;
        let each = best as f64 / source.len() as f64;
        println!("compiling {name}: {each:.0} ns for a byte, at {price} cycles");
    }
}

fn main() {
    compiling();
    let mut measure_of_all = 0.0;
    for (name, prepare, each, times) in CALLS {
        let Some((nanos, tenths)) = measure(prepare, each, *times) else { continue };
        let cycles = tenths as f64 / 10.0;
        let rate = nanos as f64 / cycles.max(0.1);
        if measure_of_all == 0.0 {
            measure_of_all = rate;
        }
        let verdict = if rate > 3.0 * measure_of_all { "TOO CHEAP" } else { "" };
        println!("{name:36} {nanos:>9} ns {cycles:>10.1} cycles {rate:>7.1} ns/cycle {verdict}");
    }
}
