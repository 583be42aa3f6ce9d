//! Values to canonical bytes.

use num_bigint::{BigInt, Sign};

use super::{BIG_BYTES_MAX, CborError, major};

/// A major type with its argument, in as few bytes as it takes.
pub(crate) fn put_head(out: &mut Vec<u8>, major: u8, argument: u64) {
    let first = major << 5;
    if argument < 24 {
        out.push(first | argument as u8);
    } else if let Ok(byte) = u8::try_from(argument) {
        out.extend([first | 24, byte]);
    } else if let Ok(short) = u16::try_from(argument) {
        out.push(first | 25);
        out.extend(short.to_be_bytes());
    } else if let Ok(word) = u32::try_from(argument) {
        out.push(first | 26);
        out.extend(word.to_be_bytes());
    } else {
        out.push(first | 27);
        out.extend(argument.to_be_bytes());
    }
}

/// An integer of up to 64 bits and a sign.
pub(crate) fn put_int(out: &mut Vec<u8>, int: i128) {
    match u64::try_from(int) {
        Ok(int) => put_head(out, major::UNSIGNED, int),
        Err(_) => put_head(out, major::NEGATIVE, (-1 - int) as u64),
    }
}

pub(crate) fn put_big(out: &mut Vec<u8>, big: &BigInt) -> Result<(), CborError> {
    let (tag, magnitude) = match big.sign() {
        Sign::Minus => (3, (-(big + 1_i32)).to_bytes_be().1),
        _ => (2, big.to_bytes_be().1),
    };
    if magnitude.len() > BIG_BYTES_MAX {
        return Err(CborError::Number);
    }
    if let Ok(small) = i128::try_from(big)
        && magnitude.len() <= 8
    {
        put_int(out, small);
        return Ok(());
    }
    put_head(out, major::TAG, tag);
    put_bytes(out, &magnitude);
    Ok(())
}

pub(crate) fn put_float(out: &mut Vec<u8>, float: f64) {
    // One NaN for all of them.
    let bits = if float.is_nan() { 0x7ff8_0000_0000_0000 } else { float.to_bits() };
    out.push(0xfb);
    out.extend(bits.to_be_bytes());
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_head(out, major::TEXT, text.len() as u64);
    out.extend(text.as_bytes());
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_head(out, major::BYTES, bytes.len() as u64);
    out.extend(bytes);
}

/// Brings the entries of a map into the order of their keys.
pub(crate) fn sort_keys<T>(entries: &mut [(Vec<u8>, T)]) -> Result<(), CborError> {
    entries.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
    if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(CborError::Duplicate);
    }
    Ok(())
}
