use super::*;
use proptest::prelude::*;

fn schema(text: &str) -> Schema {
    Schema::parse(text).unwrap()
}

fn assert_verdicts(schema_text: &str, accepted: &[&str], refused: &[&str]) {
    let schema = schema(schema_text);
    for (documents, verdict) in [(accepted, true), (refused, false)] {
        for text in documents {
            let document = json::parse(text.as_bytes()).unwrap();
            assert_eq!(schema.accepts(&document), verdict, "{schema_text} on {text}");
        }
    }
}

#[test]
fn the_empty_schema_accepts_everything() {
    assert_verdicts("{}", &["null", "1", "[]", "{\"a\":1}", "\"x\""], &[]);
}

#[test]
fn a_type_covers_its_values_only() {
    let samples = [
        ("null", "null"),
        ("boolean", "true"),
        ("object", "{}"),
        ("array", "[]"),
        ("number", "1.5"),
        ("string", "\"\""),
    ];
    for (name, own) in samples {
        let others: Vec<_> =
            samples.iter().map(|(_, text)| *text).filter(|text| *text != own).collect();
        assert_verdicts(&format!("{{\"type\":\"{name}\"}}"), &[own], &others);
    }
    assert_verdicts(r#"{"type":["null","array"]}"#, &["null", "[1]"], &["1", "{}", "false"]);
    assert_verdicts(r#"{"type":[]}"#, &[], &["null", "1"]);
}

#[test]
fn an_integer_is_a_number_without_fraction_by_value() {
    let integers = ["1", "-2.0", "1e2", "10e-1", "0.0"];
    assert_verdicts(r#"{"type":"integer"}"#, &integers, &["1.5", "15e-1", "1e-9", "\"1\""]);
    assert_verdicts(r#"{"type":"number"}"#, &["1", "1.5"], &["\"1\""]);
}

#[test]
fn enum_and_const_compare_by_value() {
    assert_verdicts(
        r#"{"enum":[1,"a",null]}"#,
        &["1.0", "\"a\"", "null"],
        &["2", "\"b\"", "false"],
    );
    assert_verdicts(r#"{"enum":[]}"#, &[], &["null"]);
    assert_verdicts(r#"{"const":{"b":1.0,"a":[]}}"#, &[r#"{"a":[],"b":1}"#], &[r#"{"a":[]}"#, "1"]);
    assert_verdicts(r#"{"const":null}"#, &["null"], &["0"]);
}

#[test]
fn members_are_required_described_and_closed_independently() {
    assert_verdicts(r#"{"required":["v"]}"#, &[r#"{"v":null}"#, "[]", "1"], &["{}", r#"{"w":1}"#]);
    assert_verdicts(
        r#"{"properties":{"v":{"type":"string"}}}"#,
        &["{}", r#"{"w":1}"#],
        &[r#"{"v":1}"#],
    );
    assert_verdicts(r#"{"additionalProperties":false}"#, &["{}", "1"], &[r#"{"w":1}"#]);
    assert_verdicts(r#"{"additionalProperties":true}"#, &[r#"{"w":1}"#], &[]);
    let closed = r#"{"properties":{"v":{}},"additionalProperties":false}"#;
    assert_verdicts(closed, &["{}", r#"{"v":1}"#], &[r#"{"v":1,"w":1}"#]);
}

#[test]
fn bounds_include_their_ends() {
    assert_verdicts(
        r#"{"minimum":-1,"maximum":2.5}"#,
        &["-1", "2.5", "\"9\""],
        &["-1.000000001", "2.500000001"],
    );
    assert_verdicts(
        r#"{"minItems":1,"maxItems":2.0}"#,
        &["[1]", "[1,2]", "\"\""],
        &["[]", "[1,2,3]"],
    );
    assert_verdicts(
        r#"{"minLength":1,"maxLength":2}"#,
        &["\"😀é\"", "\"a\"", "[]"],
        &["\"\"", "\"abc\""],
    );
    assert_verdicts(r#"{"maxLength":100000000000000000000}"#, &["\"abc\""], &[]);
}

#[test]
fn items_describe_every_element() {
    assert_verdicts(
        r#"{"items":{"type":"integer"}}"#,
        &["[]", "[1,2]", "{}"],
        &["[1,1.5]", "[null]"],
    );
}

#[test]
fn unknown_keywords_are_refused_at_every_level() {
    for text in [
        r#"{"pattern":"x"}"#,
        r#"{"$schema":"x"}"#,
        r#"{"title":"x"}"#,
        r#"{"properties":{"v":{"pattern":"x"}}}"#,
        r#"{"items":{"pattern":"x"}}"#,
    ] {
        assert!(matches!(Schema::parse(text), Err(SchemaError::UnknownKeyword(_))), "{text}");
    }
    // A property may have any name.
    assert!(Schema::parse(r#"{"properties":{"pattern":{}}}"#).is_ok());
    assert!(Schema::parse(r#"{"const":{"pattern":1},"enum":[{"pattern":1}]}"#).is_ok());
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    for text in [
        r#"{"type":"float"}"#,
        r#"{"type":1}"#,
        r#"{"type":["string",1]}"#,
        r#"{"enum":1}"#,
        r#"{"properties":[]}"#,
        r#"{"required":"v"}"#,
        r#"{"required":[1]}"#,
        r#"{"additionalProperties":{}}"#,
        r#"{"minItems":-1}"#,
        r#"{"maxItems":1.5}"#,
        r#"{"minLength":"1"}"#,
        r#"{"maxLength":null}"#,
        r#"{"minimum":"0"}"#,
        r#"{"maximum":true}"#,
    ] {
        assert!(matches!(Schema::parse(text), Err(SchemaError::BadValue(_))), "{text}");
    }
    for text in
        ["true", "[]", "1", r#"{"items":true}"#, r#"{"items":[{}]}"#, r#"{"properties":{"v":1}}"#]
    {
        assert_eq!(Schema::parse(text), Err(SchemaError::NotAnObject), "{text}");
    }
}

#[test]
fn the_text_must_be_acceptable_json() {
    for text in ["", "{", r#"{"type":"null","type":"null"}"#, r#"{"minimum":1e-10}"#] {
        assert!(matches!(Schema::parse(text), Err(SchemaError::Json(_))), "{text}");
    }
    let deep =
        |levels: usize| format!("{}{{}}{}", r#"{"items":"#.repeat(levels), "}".repeat(levels));
    assert!(Schema::parse(&deep(63)).is_ok());
    assert!(matches!(Schema::parse(&deep(64)), Err(SchemaError::Json(JsonError::TooDeep(_)))));
}

proptest! {
    #[test]
    fn the_range_of_a_number_decides_alone(value in -50_i64..50, low in -50_i64..50, high in -50_i64..50) {
        let schema = schema(&format!(r#"{{"minimum":{low}e-1,"maximum":{high}e-1}}"#));
        let document = json::parse(format!("{value}e-1").as_bytes()).unwrap();
        prop_assert_eq!(schema.accepts(&document), low <= value && value <= high);
    }

    #[test]
    fn reading_never_panics(text in r#"[\{\}\[\]:,"a-z0-9 ]{0,40}"#) {
        let _ = Schema::parse(&text);
    }
}
