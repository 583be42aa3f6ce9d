use super::*;
use proptest::prelude::*;

fn number(text: &str) -> Result<Decimal, DecimalError> {
    match parse(text.as_bytes()) {
        Ok(Json::Number(value)) => Ok(value),
        Err(JsonError::Number { source, .. }) => Err(source),
        other => panic!("{text} is read as {other:?}"),
    }
}

fn nanos(value: i128) -> Decimal {
    Decimal::from_nanos(value).unwrap()
}

#[test]
fn numbers_are_read_by_value() {
    let cases = [
        ("1.0000000000", NANO),
        ("0e999", 0),
        ("0e-999999999999999999999999", 0),
        ("-0.0", 0),
        ("1E+2", 100 * NANO),
        ("1e-9", 1),
        ("-0.25", -NANO / 4),
        ("1000000000000000000000e-1", MAX_NANOS),
        ("-100000000000000000000", -MAX_NANOS),
        ("99999999999999999999.999999999", MAX_NANOS - 1),
        ("0.00000000000000000001e20", NANO),
    ];
    for (text, value) in cases {
        assert_eq!(number(text), Ok(nanos(value)), "{text}");
    }
}

#[test]
fn numbers_beyond_the_limits_are_refused() {
    use DecimalError::{TooFine, TooLarge};
    let cases = [
        ("1e21", TooLarge),
        ("100000000000000000001", TooLarge),
        ("-100000000000000000000.000000001", TooLarge),
        ("1e999999999", TooLarge),
        ("1e99999999999999999999999999999999999999999", TooLarge),
        ("1e-10", TooFine),
        ("0.1234567891", TooFine),
        ("1e-999999999", TooFine),
        ("1e-99999999999999999999999999999999999999999", TooFine),
    ];
    for (text, error) in cases {
        assert_eq!(number(text), Err(error), "{text}");
    }
}

#[test]
fn an_exponent_and_as_many_digits_cancel() {
    let zeros = "0".repeat(50_000);
    assert_eq!(number(&format!("1{zeros}e-50000")), Ok(nanos(NANO)));
    assert_eq!(number(&format!("0.{zeros}1e50001")), Ok(nanos(NANO)));
    assert_eq!(number(&format!("1.{zeros}")), Ok(nanos(NANO)));
}

#[test]
fn plain_decimals_have_no_exponent_and_one_form() {
    assert_eq!(Decimal::parse_plain("-0.25"), Ok(nanos(-NANO / 4)));
    assert_eq!(Decimal::parse_plain("0.1000000000"), Ok(nanos(NANO / 10)));
    assert_eq!(Decimal::parse_plain("-0"), Ok(nanos(0)));
    assert_eq!(Decimal::parse_plain("0.0000000001"), Err(DecimalError::TooFine));
    assert_eq!(Decimal::parse_plain("100000000000000000001"), Err(DecimalError::TooLarge));
    for text in
        ["", "-", "+1", "1e0", "01", "-01", "00", ".5", "1.", "1 ", " 1", "1_0", "0x1", "١", "NaN"]
    {
        assert_eq!(Decimal::parse_plain(text), Err(DecimalError::Malformed), "{text}");
    }
}

#[test]
fn decimals_hold_nothing_outside_of_their_limits() {
    assert_eq!(Decimal::from_nanos(MAX_NANOS).map(Decimal::nanos), Some(MAX_NANOS));
    assert_eq!(Decimal::from_nanos(MAX_NANOS + 1), None);
    assert_eq!(Decimal::from_nanos(i128::MIN), None);
    assert_eq!(nanos(3 * NANO).to_unsigned(), Some(3));
    assert_eq!(nanos(-3 * NANO).to_unsigned(), None);
    assert_eq!(nanos(3 * NANO + 1).to_unsigned(), None);
}

#[test]
fn text_outside_of_rfc_8259_is_refused() {
    let cases: &[&[u8]] = &[
        b"",
        b" ",
        b"{",
        b"[",
        b"]",
        b"\"",
        b"\"\\",
        b"\"\\u12",
        b"nul",
        b"nulll",
        b"True",
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b"-",
        b"+1",
        b"01",
        b"-01",
        b"1.",
        b".5",
        b"1.e1",
        b"1e",
        b"1e+",
        b"0x1",
        b"'a'",
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b"{,}",
        b"{\"a\":1,}",
        b"{\"a\" 1}",
        b"{\"a\":}",
        b"{a:1}",
        b"{1:1}",
        b"1 1",
        b"{}{}",
        b"{}//x",
        b"/**/1",
        b"\"a\nb\"",
        b"\"\x00\"",
        b"\"\x1f\"",
        b"\"\\x\"",
        b"\"\\u+123\"",
        b"\"\\u12g4\"",
        b"\"\\U0041\"",
        b"\xef\xbb\xbf1",
        b"\x0b1",
        b"\xc2\xa01",
        b"1\x00",
    ];
    for text in cases {
        assert!(matches!(parse(text), Err(JsonError::Syntax(_))), "{text:?}: {:?}", parse(text));
    }
    for text in [&b"\"\xff\""[..], b"\"\xed\xa0\x80\"", b"\xfe\xff\x001", b"\"\xc0\x80\""] {
        assert_eq!(parse(text), Err(JsonError::NotUtf8), "{text:?}");
    }
}

#[test]
fn white_space_is_allowed_between_tokens() {
    let spaced = parse(b" \r\n\t{ \"a\" : [ 1 , 2 , { } , [ ] ] } \n").unwrap();
    assert_eq!(spaced, parse(b"{\"a\":[1,2,{},[]]}").unwrap());
}

#[test]
fn a_name_twice_is_refused_at_every_level() {
    for text in
        [r#"{"v":1,"v":1}"#, r#"{"v":1,"\u0076":1}"#, r#"[{"w":{"a":1,"a":2}}]"#, r#"{"":1,"":2}"#]
    {
        assert!(matches!(parse(text.as_bytes()), Err(JsonError::DuplicateName(_))), "{text}");
    }
    let unnormalised = parse(br#"{"\u00e9":1,"e\u0301":2}"#);
    assert!(unnormalised.is_ok(), "names are not normalised");
}

#[test]
fn surrogates_come_in_pairs() {
    assert_eq!(parse(br#""\ud83d\ude00""#), Ok(Json::String("😀".into())));
    assert_eq!(parse(br#""\uD83D\uDE00""#), Ok(Json::String("😀".into())));
    for text in [
        r#""\ud800""#,
        r#""\ude00""#,
        r#""\ud83dx""#,
        r#""\ud83d\ud83d""#,
        r#""\ud83d\u0041""#,
        r#""\ude00\ud83d""#,
        r#"{"\ud800":1}"#,
    ] {
        assert!(matches!(parse(text.as_bytes()), Err(JsonError::LoneSurrogate(_))), "{text}");
    }
    assert!(parse(br#""\ud83d\n""#).is_err());
}

#[test]
fn nesting_ends_at_64_levels() {
    let arrays = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(arrays(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(parse(arrays(MAX_DEPTH + 1).as_bytes()), Err(JsonError::TooDeep(MAX_DEPTH)));
    assert_eq!(parse("[".repeat(1_000_000).as_bytes()), Err(JsonError::TooDeep(MAX_DEPTH)));
    let objects = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    assert!(parse(objects(MAX_DEPTH).as_bytes()).is_ok());
    assert!(matches!(parse(objects(MAX_DEPTH + 1).as_bytes()), Err(JsonError::TooDeep(_))));
    let siblings = format!("[{0},{0}]", arrays(MAX_DEPTH - 1));
    assert!(parse(siblings.as_bytes()).is_ok(), "siblings do not add up");
}

#[test]
fn canonical_text_is_that_of_rfc_8785() {
    // The examples of RFC 8785 §3.2.2 and §3.2.3, without the numbers that this protocol refuses.
    let input = r#"{"numbers":[4.50,2e-3,-0],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#;
    let expected = r#"{"literals":[null,true,false],"numbers":[4.5,0.002,0],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
    assert_eq!(parse(input.as_bytes()).unwrap().canonical(), expected);
    let input = r#"{"\u20ac":"1","\r":"2","\ufb33":"3","1":"4","\ud83d\ude00":"5","\u0080":"6","\u00f6":"7"}"#;
    let expected = "{\"\\r\":\"2\",\"1\":\"4\",\"\u{80}\":\"6\",\"ö\":\"7\",\"€\":\"1\",\"😀\":\"5\",\"\u{fb33}\":\"3\"}";
    assert_eq!(parse(input.as_bytes()).unwrap().canonical(), expected);
    let controls = Json::String("\u{8}\t\n\u{c}\r\u{0}\u{1f}\u{7f}".into());
    assert_eq!(controls.canonical(), "\"\\b\\t\\n\\f\\r\\u0000\\u001f\u{7f}\"");
}

#[test]
fn canonical_numbers_are_plain_decimals() {
    let cases = [
        ("1e20", "100000000000000000000"),
        ("1e-9", "0.000000001"),
        ("-10.50", "-10.5"),
        ("-0", "0"),
        ("-0.001", "-0.001"),
    ];
    for (text, canonical) in cases {
        assert_eq!(parse(text.as_bytes()).unwrap().canonical(), canonical);
    }
}

fn decimals() -> impl Strategy<Value = Decimal> {
    let any_size =
        (-MAX_NANOS..=MAX_NANOS, 0_u32..30).prop_map(|(value, shift)| value / 10_i128.pow(shift));
    prop_oneof![any_size, -20_i128..20, (-20_i128..20).prop_map(|value| value * NANO)]
        .prop_map(nanos)
}

fn strings() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-c]{0,2}",
        "[\u{0}-\u{20}\"\\\\/\u{7f}\u{e000}-\u{ffff}😀-😂]{0,4}"
    ]
}

fn documents() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        decimals().prop_map(Json::Number),
        strings().prop_map(Json::String),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map(strings(), inner, 0..6).prop_map(Json::Object),
        ]
    })
}

/// Texts made of the pieces of JSON, which get further into the parser than random bytes.
fn near_json() -> impl Strategy<Value = String> {
    let pieces = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "u", "d8", "3d", "\\ud83d", "\\ude00", "-", "0",
        "1", ".", "e", "E+", "9", "true", "null", " ", "a", "é", "\n",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn canonical_text_reads_back_as_the_same_value(document in documents()) {
        prop_assert_eq!(parse(document.canonical().as_bytes()), Ok(document));
    }

    #[test]
    fn canonical_text_is_a_fixed_point(document in documents()) {
        let text = document.canonical();
        prop_assert_eq!(parse(text.as_bytes()).unwrap().canonical(), text);
    }

    #[test]
    fn equal_values_and_equal_canonical_texts_are_the_same_thing(a in documents(), b in documents()) {
        prop_assert_eq!(a == b, a.canonical() == b.canonical());
    }

    #[test]
    fn spellings_of_one_number_are_equal(value in decimals(), zeros in 0_usize..40) {
        let (plain, units) = (value.to_string(), value.nanos());
        // A whole part must not begin with 0, unless it is 0 alone.
        let shift = if units == 0 { 0 } else { zeros };
        let padding = "0".repeat(zeros);
        let point = if plain.contains('.') { "" } else { ".0" };
        for text in [
            format!("{units}e-9"),
            format!("{units}{}E-{}", &padding[..shift], 9 + shift),
            format!("{plain}{point}{padding}"),
            format!("{plain}{point}{padding}e+000"),
        ] {
            prop_assert_eq!(number(&text), Ok(value), "{}", text);
        }
        prop_assert_eq!(Decimal::parse_plain(&plain), Ok(value));
    }

    #[test]
    fn numbers_one_nano_apart_differ(value in decimals()) {
        let other = Decimal::from_nanos(value.nanos() + 1).unwrap_or(nanos(0));
        prop_assert_ne!(number(&value.to_string()), number(&other.to_string()));
    }

    #[test]
    fn reading_never_panics_on_bytes(bytes in any::<Vec<u8>>()) {
        let _ = parse(&bytes);
    }

    #[test]
    fn the_grammar_is_the_one_that_another_parser_knows(text in near_json()) {
        let other = serde_json::from_str::<serde_json::Value>(&text);
        match parse(text.as_bytes()) {
            Ok(document) => {
                prop_assert!(other.is_ok(), "{}", text);
                prop_assert_eq!(parse(document.canonical().as_bytes()), Ok(document));
            }
            Err(JsonError::Syntax(_) | JsonError::LoneSurrogate(_) | JsonError::NotUtf8) => {
                prop_assert!(other.is_err(), "{}", text);
            }
            // Limits that only this protocol has.
            Err(_) => {}
        }
    }
}
