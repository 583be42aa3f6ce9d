use super::*;

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).unwrap())
        .collect()
}

fn list(items: Vec<HostValue>) -> HostValue {
    HostValue::List(items)
}

fn big(text: &str) -> HostValue {
    let big: BigInt = text.parse().unwrap();
    HostValue::Big(big.to_signed_bytes_be())
}

/// From RFC 8949, appendix A, as far as this form has them.
fn known() -> Vec<(&'static str, HostValue)> {
    use HostValue::{Bool, Bytes, Dict, Float, Int, None, Str};
    let text = |text: &str| Str(text.to_owned());
    vec![
        ("00", Int(0)),
        ("17", Int(23)),
        ("1818", Int(24)),
        ("1864", Int(100)),
        ("1903e8", Int(1000)),
        ("1a000f4240", Int(1_000_000)),
        ("1b000000e8d4a51000", Int(1_000_000_000_000)),
        ("1bffffffffffffffff", big("18446744073709551615")),
        ("c249010000000000000000", big("18446744073709551616")),
        ("3bffffffffffffffff", big("-18446744073709551616")),
        ("c349010000000000000000", big("-18446744073709551617")),
        ("20", Int(-1)),
        ("3863", Int(-100)),
        ("fb3ff199999999999a", Float(1.1)),
        ("fb0000000000000000", Float(0.0)),
        ("fb8000000000000000", Float(-0.0)),
        ("fb7ff0000000000000", Float(f64::INFINITY)),
        ("f4", Bool(false)),
        ("f5", Bool(true)),
        ("f6", None),
        ("40", Bytes(vec![])),
        ("4401020304", Bytes(vec![1, 2, 3, 4])),
        ("60", text("")),
        ("62c3bc", text("ü")),
        ("80", list(vec![])),
        (
            "8301820203820405",
            list(vec![Int(1), list(vec![Int(2), Int(3)]), list(vec![Int(4), Int(5)])]),
        ),
        ("a0", Dict(vec![])),
        (
            "a26161016162820203",
            Dict(vec![(text("a"), Int(1)), (text("b"), list(vec![Int(2), Int(3)]))]),
        ),
    ]
}

#[test]
fn examples_of_the_rfc_go_both_ways() {
    for (bytes, value) in known() {
        assert_eq!(encode(&value), Ok(hex(bytes)), "{value:?}");
        assert_eq!(decode(&hex(bytes)), Ok(value), "{bytes}");
    }
}

#[test]
fn keys_are_sorted_by_length_first() {
    let key = |text: &str| HostValue::Str(text.to_owned());
    let map = HostValue::Dict(vec![
        (key("aa"), HostValue::Int(1)),
        (key("b"), HostValue::Int(2)),
        (HostValue::Int(300), HostValue::Int(3)),
        (HostValue::Int(5), HostValue::Int(4)),
    ]);
    assert_eq!(encode(&map), Ok(hex("a40504616202 19012c03 62616101".replace(' ', "").as_str())));
    let twice = HostValue::Dict(vec![(key("a"), HostValue::None), (key("a"), HostValue::None)]);
    assert_eq!(encode(&twice), Err(CborError::Duplicate));
    let listed = HostValue::Dict(vec![(list(vec![]), HostValue::None)]);
    assert_eq!(encode(&listed), Err(CborError::Key));
}

#[test]
fn what_is_not_canonical_is_refused() {
    let cases = [
        ("", CborError::Truncated),
        ("18", CborError::Truncated),
        ("1817", CborError::Form),
        ("190017", CborError::Form),
        ("1b00000000ffffffff", CborError::Form),
        ("f93c00", CborError::Form),
        ("fa3f800000", CborError::Form),
        ("fb7ff8000000000001", CborError::Form),
        ("f7", CborError::Unsupported),
        ("c000", CborError::Unsupported),
        ("c24101", CborError::Form),
        ("c2490001000000000000 00", CborError::Form),
        ("9f00ff", CborError::Indefinite),
        ("61ff", CborError::Text),
        ("0000", CborError::Trailing),
        ("44010203", CborError::Truncated),
        ("9bffffffffffffffff", CborError::Truncated),
        ("bb8000000000000000", CborError::Truncated),
        ("a2616200616100", CborError::Form),
        ("a2616100616100", CborError::Duplicate),
        ("a18000", CborError::Key),
    ];
    for (bytes, error) in cases {
        assert_eq!(decode(&hex(&bytes.replace(' ', ""))), Err(error), "{bytes}");
    }
}

#[test]
fn nesting_is_bounded_both_ways() {
    let nested = |depth: usize| {
        let mut bytes = vec![0x81; depth];
        bytes.push(0);
        bytes
    };
    let value = decode(&nested(DEPTH_MAX)).unwrap();
    assert_eq!(encode(&value), Ok(nested(DEPTH_MAX)));
    assert_eq!(decode(&nested(DEPTH_MAX + 1)), Err(CborError::Depth));
    assert_eq!(decode(&nested(1_000_000)), Err(CborError::Depth));
    assert_eq!(encode(&list(vec![value])), Err(CborError::Depth));
}

#[test]
fn halves_are_what_they_stand_for() {
    let cases =
        [("f93c00", 1.0), ("f97bff", 65504.0), ("f90001", 5.960464477539063e-8), ("f9c400", -4.0)];
    for (bytes, expected) in cases {
        let read = read(&hex(bytes), Form::Any, &mut Plain);
        assert_eq!(read, Ok(HostValue::Float(expected)), "{bytes}");
    }
}

#[test]
fn every_input_of_three_bytes_is_refused_or_its_own_encoding() {
    for number in 0..1_u32 << 24 {
        let bytes = &number.to_be_bytes()[1..];
        if let Ok(value) = decode(bytes) {
            assert_eq!(encode(&value).as_deref(), Ok(bytes), "{value:?}");
        }
    }
}

#[test]
fn claims_that_outnumber_the_bytes_make_nothing() {
    // Each list says that all the rest of a megabyte are its items.
    let mut bytes = Vec::new();
    for _ in 0..DEPTH_MAX {
        bytes.extend([0x9a, 0x00, 0x0f, 0x00, 0x00]);
    }
    bytes.resize(1 << 20, 0);
    assert_eq!(decode(&bytes), Err(CborError::Truncated));
}

#[test]
fn a_text_is_found_in_a_map_and_nowhere_else() {
    use HostValue::{Dict, Int, Str};
    let text = |text: &str| Str(text.to_owned());
    let map = Dict(vec![
        (text("a"), list(vec![Dict(vec![(text("method"), text("inner"))])])),
        (text("method"), text("go")),
        (Int(7), big("-18446744073709551617")),
        (text("longer than it"), Int(1)),
    ]);
    let bytes = encode(&map).unwrap();
    assert_eq!(text_under(&bytes, "method"), Some("go"));
    assert_eq!(text_under(&bytes, "longer than it"), None, "no text");
    assert_eq!(text_under(&bytes, "metho"), None);
    for end in 0..bytes.len() {
        assert_eq!(text_under(&bytes[..end], "method"), None, "{end}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(text_under(&longer, "method"), None);
    assert_eq!(text_under(&encode(&list(vec![map])).unwrap(), "method"), None);
}
