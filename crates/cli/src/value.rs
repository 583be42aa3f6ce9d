//! Between what people write, JSON, and what actors get, canonical CBOR.

use alloy_primitives::hex;
use remuda_vm::{HostValue, cbor};
use serde_json::{Map, Number, Value};

/// The bytes of a JSON value.
pub(crate) fn from_json(text: &str) -> Result<Vec<u8>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        format!("{error}. Text needs quotes of its own: '\"hello\"'; an object: '{{\"by\": 2}}'")
    })?;
    cbor::encode(&host_value(&value)?).map_err(|error| error.to_string())
}

fn host_value(value: &Value) -> Result<HostValue, String> {
    Ok(match value {
        Value::Null => HostValue::None,
        Value::Bool(truth) => HostValue::Bool(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(int) => HostValue::Int(int),
            None => number_beyond(number)?,
        },
        Value::String(text) => {
            written_in_hex(text).map_or_else(|| HostValue::Str(text.clone()), HostValue::Bytes)
        }
        Value::Array(items) => {
            HostValue::List(items.iter().map(host_value).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => HostValue::Dict(
            fields
                .iter()
                .map(|(key, value)| Ok((HostValue::Str(key.clone()), host_value(value)?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}

/// Addresses and hashes, as they are written everywhere; actors have them as bytes.
fn written_in_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").filter(|digits| matches!(digits.len(), 40 | 64))?;
    hex::decode(digits).ok()
}

/// A float, or an integer that does not fit into 64 bits.
fn number_beyond(number: &Number) -> Result<HostValue, String> {
    let text = number.to_string();
    match text.parse::<i128>() {
        Ok(int) => Ok(HostValue::Big(int.to_be_bytes().to_vec())),
        Err(_) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
            Err(format!("{text} has more than 128 bits; write it as text"))
        }
        Err(_) => text.parse().map(HostValue::Float).map_err(|_| format!("{text} is no number")),
    }
}

/// Bytes of an actor, for people: the value that they are the CBOR of, text, or hex.
pub(crate) fn shown(bytes: &[u8]) -> String {
    match to_json(bytes) {
        Value::String(text) => text,
        value => value.to_string(),
    }
}

/// Wherever an answer in JSON has an event with bytes of an actor: what they mean, as `decoded` beside them.
pub(crate) fn decode_events(answer: &mut Value) {
    match answer {
        Value::Array(items) => items.iter_mut().for_each(decode_events),
        Value::Object(fields) => {
            for (name, field) in fields {
                match &name[..] {
                    "ActorEvent" => decode(field, "data"),
                    "ActorReturned" => decode(field, "value"),
                    _ => decode_events(field),
                }
            }
        }
        _ => {}
    }
}

fn decode(event: &mut Value, bytes: &str) {
    let Some(fields) = event.as_object_mut() else { return };
    let digits = fields.get(bytes).and_then(Value::as_str);
    if let Some(bytes) = digits.and_then(|digits| hex::decode(digits).ok()) {
        fields.insert("decoded".to_owned(), to_json(&bytes));
    }
}

/// The same as JSON. Bytes, also inside, are hex with 0x.
pub(crate) fn to_json(bytes: &[u8]) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    if let Ok(value) = cbor::decode(bytes) {
        return json_value(&value);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => Value::String(text.to_owned()),
        _ => Value::String(hex::encode_prefixed(bytes)),
    }
}

fn json_value(value: &HostValue) -> Value {
    match value {
        HostValue::None => Value::Null,
        HostValue::Bool(truth) => Value::Bool(*truth),
        HostValue::Int(int) => Value::from(*int),
        HostValue::Big(bytes) => Value::String(big(bytes)),
        HostValue::Float(float) => {
            Number::from_f64(*float).map_or_else(|| Value::String(float.to_string()), Value::Number)
        }
        HostValue::Str(text) => Value::String(text.clone()),
        HostValue::Bytes(bytes) => Value::String(hex::encode_prefixed(bytes)),
        HostValue::List(items) => Value::Array(items.iter().map(json_value).collect()),
        HostValue::Dict(pairs) => {
            let name = |key: &HostValue| match json_value(key) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            Value::Object(
                pairs.iter().map(|(k, v)| (name(k), json_value(v))).collect::<Map<_, _>>(),
            )
        }
    }
}

/// A large integer, big-endian two's complement, in decimal where it has up to 128 bits.
fn big(bytes: &[u8]) -> String {
    let first = bytes.first().copied().unwrap_or(0);
    let fill = if first >= 0x80 { 0xff } else { 0 };
    let skip = bytes.len().saturating_sub(16);
    let fits = bytes[..skip].iter().all(|byte| *byte == fill)
        && bytes.get(skip).is_none_or(|byte| (byte ^ fill) < 0x80);
    if !fits {
        return hex::encode_prefixed(bytes);
    }
    let mut full = [fill; 16];
    full[16 - (bytes.len() - skip)..].copy_from_slice(&bytes[skip..]);
    i128::from_be_bytes(full).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_shown() {
        for text in
            [r#"{"by":2}"#, "[1,-2,1.5,null,true,\"a\"]", "7", "{\"a\":{\"b\":[{\"c\":\"d\"}]}}"]
        {
            assert_eq!(shown(&from_json(text).unwrap()), text);
        }
        assert_eq!(shown(&from_json("\"hello\"").unwrap()), "hello");
        let large = "340282366920938463463374607431768211455";
        assert_eq!(
            from_json(large).unwrap_err(),
            format!("{large} has more than 128 bits; write it as text")
        );
        assert_eq!(shown(&from_json("-18446744073709551617").unwrap()), "-18446744073709551617");
        assert!(from_json("hello").unwrap_err().contains("quotes"));
    }

    #[test]
    fn addresses_and_hashes_are_bytes_and_all_other_text_is_text() {
        let given = |text: &str| cbor::decode(&from_json(&format!("\"{text}\"")).unwrap()).unwrap();
        for bytes in [20, 32] {
            let text = format!("0x{}", "aB".repeat(bytes));
            assert_eq!(given(&text), HostValue::Bytes(vec![0xab; bytes]));
        }
        for text in ["0xab", "0x", &format!("0x{}", "zz".repeat(20)), &"ab".repeat(20)] {
            assert_eq!(given(text), HostValue::Str(text.to_owned()));
        }
    }

    #[test]
    fn events_come_with_what_their_bytes_mean() {
        let hex = hex::encode_prefixed(from_json(r#"{"by":[2,null]}"#).unwrap());
        let mut answer = serde_json::json!({"receipt": {"events": [
            {"ActorEvent": {"topic": "added", "data": hex}},
            {"ActorReturned": {"method": "add", "value": "0x"}},
            {"CallFailed": {"method": "add", "value": "0x00"}},
        ]}});
        decode_events(&mut answer);
        let events = &answer["receipt"]["events"];
        assert_eq!(events[0]["ActorEvent"]["decoded"], serde_json::json!({"by": [2, null]}));
        assert_eq!(events[0]["ActorEvent"]["data"], hex);
        assert_eq!(events[1]["ActorReturned"]["decoded"], Value::Null);
        assert!(events[1]["ActorReturned"].get("decoded").is_some());
        assert!(events[2]["CallFailed"].get("decoded").is_none());
    }

    #[test]
    fn bytes_that_are_no_value_are_text_or_hex() {
        assert_eq!(shown(b""), "null");
        assert_eq!(shown(b"\xff\x00"), "0xff00");
        assert_eq!(shown(b"ok"), "ok");
    }
}
