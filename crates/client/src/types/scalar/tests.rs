use super::*;
use proptest::prelude::*;

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("scalars are JSON")
}

#[test]
fn numbers_beyond_53_bits_are_strings() {
    assert_eq!(json(&Uint(SAFE_MAX)), "9007199254740991");
    assert_eq!(json(&Uint(SAFE_MAX + 1)), "\"9007199254740992\"");
    assert_eq!(json(&BigUint(7)), "\"7\"");
    assert_eq!(json(&BigUint(u128::MAX)), "\"340282366920938463463374607431768211455\"");
}

#[test]
fn a_number_is_read_with_and_without_quotes() {
    for text in ["12", "\"12\""] {
        assert_eq!(serde_json::from_str::<Uint>(text).unwrap(), Uint(12));
        assert_eq!(serde_json::from_str::<BigUint>(text).unwrap(), BigUint(12));
    }
}

#[test]
fn what_is_no_plain_number_is_refused() {
    let bad = ["-1", "1.0", "1e3", "\"\"", "\"+1\"", "\"01\"", "\" 1\"", "null", "[1]"];
    for text in bad {
        assert!(serde_json::from_str::<Uint>(text).is_err(), "{text}");
        assert!(serde_json::from_str::<BigUint>(text).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<Uint>("18446744073709551616").is_err());
}

#[test]
fn bytes_need_their_prefix_and_length() {
    assert_eq!("00".parse::<HexBytes>(), Err(ScalarError::NoPrefix));
    assert_eq!("0x0".parse::<HexBytes>(), Err(ScalarError::NotHex));
    assert_eq!("0xzz".parse::<HexBytes>(), Err(ScalarError::NotHex));
    assert_eq!("0x0x00".parse::<HexBytes>(), Err(ScalarError::NotHex));
    assert_eq!("0x00".parse::<HexAddress>(), Err(ScalarError::WrongLength(20)));
    assert_eq!("0x".parse::<HexBytes>(), Ok(HexBytes(Vec::new())));
    let upper = format!("0x{}", "AB".repeat(32));
    assert_eq!(upper.parse::<HexHash>().unwrap().to_string(), upper.to_lowercase());
}

proptest! {
    #[test]
    fn scalars_come_back_as_they_were(n in any::<u64>(), big in any::<u128>(), bytes in any::<Vec<u8>>()) {
        prop_assert_eq!(serde_json::from_str::<Uint>(&json(&Uint(n))).unwrap(), Uint(n));
        prop_assert_eq!(serde_json::from_str::<BigUint>(&json(&BigUint(big))).unwrap(), BigUint(big));
        let bytes = HexBytes(bytes);
        prop_assert_eq!(serde_json::from_str::<HexBytes>(&json(&bytes)).unwrap(), bytes);
    }
}

#[test]
fn a_place_is_a_height_and_a_number() {
    let place = JobPlace { height: 12, index: 3 };
    assert_eq!(serde_json::to_string(&place).unwrap(), "\"12-3\"");
    assert_eq!("12-3".parse(), Ok(place));
    for wrong in ["", "12", "12-", "-3", "12-3-4", "012-3", "12-4294967296", "+1-2", "1-+2"] {
        assert_eq!(wrong.parse::<JobPlace>(), Err(ScalarError::NotAPlace), "{wrong}");
    }
}
