//! The examples of the link in `docs/spec/09-presence-link.md` are what the code computes.

use remuda_link::frame::{CloseReason, Frame, HeartbeatPing, Hello, Role, VERSION};
use remuda_link::sign::{self, HandshakeTranscript, Identity, Signer as _};
use remuda_link::wire::encode;
use remuda_protocol::crypto::SecretKey;
use std::collections::BTreeMap;

const TEXT: &str = include_str!("../../../docs/spec/09-presence-link.md");
const CHAIN: u64 = 7_829_367;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hex digits of the link's examples, by name.
fn shown() -> BTreeMap<&'static str, String> {
    let parts = TEXT.split("<!-- example: link.").skip(1);
    let example = |part: &'static str| {
        let (name, rest) = part.split_once(" -->\n```hex\n").expect("a block follows the name");
        let (body, _) = rest.split_once("\n```").expect("the block ends");
        let digits = body.lines().map(|line| line.split(';').next().unwrap_or_default());
        (name, digits.flat_map(str::split_whitespace).collect())
    };
    parts.map(example).collect()
}

// spec §9.8, §9.9, §9.10, §9.11, §9.16
#[test]
fn examples_of_the_specification_are_computed() {
    let runner = SecretKey::from_label("runner");
    let identity = Identity::from_seed(&[5; 32]).unwrap();
    let hello = Hello {
        version: VERSION,
        party_pubkey: runner.public_key().bytes.to_vec(),
        party_role: Role::Runner,
        block_height: 100,
        challenge_nonce: [1; 32],
        subset_epoch: 3,
    };
    let meeting = HandshakeTranscript {
        chain_id: CHAIN,
        exporter: [7; 32],
        nonce_runner: [1; 32],
        nonce_validator: [2; 32],
        runner: runner.public_key(),
        validator: identity.key(),
        subset_epoch: 3,
    };
    let digests = [Role::Runner, Role::Validator].map(|role| meeting.digest(role));
    let signatures = [&runner.sign(&digests[0]).bytes[..], &identity.sign(&digests[1])].concat();
    let ping_digest = sign::ping(CHAIN, &identity.key(), 100, 1);
    let signed = runner.sign(&ping_digest).bytes;
    let ping = HeartbeatPing { block_height: 100, nonce: 1, signed };
    let expected = BTreeMap::from([
        ("goodbye", encode(&CloseReason::NotRegistered.goodbye())),
        ("hello", encode(&Frame::Hello(hello))),
        ("hello_digest", digests.concat()),
        ("hello_signatures", signatures),
        ("ping", encode(&ping.into())),
        ("ping_digest", ping_digest.to_vec()),
        ("pong_digest", sign::pong(CHAIN, &runner.public_key(), 100, 3).to_vec()),
    ]);
    let expected: BTreeMap<&str, String> =
        expected.into_iter().map(|(name, bytes)| (name, hex(&bytes))).collect();
    assert_eq!(shown(), expected);
}

// spec §9.9
#[test]
fn frame_types_and_goodbyes_are_in_the_specification() {
    let source = include_str!("../src/frame.rs");
    let table = |name: &str| {
        let (_, rest) = source.split_once(&format!("\n{name}! {{\n")).expect("the table is there");
        rest.lines().take_while(|line| *line != "}").map(str::trim)
    };
    for line in table("frames") {
        let (number, name) = line.trim_end_matches(',').split_once(' ').unwrap();
        assert!(TEXT.contains(&format!("| `{number}` | {name} |")), "{line}");
    }
    for line in table("close_reasons") {
        let word = line.split('"').nth(1).unwrap();
        assert!(TEXT.contains(&format!("| `{word}` |")), "{line}");
    }
}
