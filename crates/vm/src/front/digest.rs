//! The hash of compiled code: every part of it that a suspended frame relies on.

use sha2::{Digest, Sha256};

use crate::code::{Code, Const, Kind};

pub(crate) fn digest(codes: &[Code]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(b"remuda-vm-code-v1:");
    for code in codes {
        absorb(&mut hasher, code);
    }
    hasher.finalize().into()
}

/// Lengths go before contents, so that no two codes are written alike.
fn blob(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn strings(hasher: &mut Sha256, texts: &[String]) {
    hasher.update((texts.len() as u64).to_le_bytes());
    texts.iter().for_each(|text| blob(hasher, text.as_bytes()));
}

fn absorb(hasher: &mut Sha256, code: &Code) {
    blob(hasher, code.name.as_bytes());
    blob(hasher, code.qualname.as_bytes());
    match &code.doc {
        Some(doc) => blob(hasher, doc.as_bytes()),
        None => hasher.update(u64::MAX.to_le_bytes()),
    }
    let kind = match code.kind {
        Kind::Plain => 0,
        Kind::Generator => 1,
        Kind::Coroutine => 2,
        Kind::AsyncGenerator => 3,
    };
    hasher.update([kind, u8::from(code.var_args), u8::from(code.var_keywords)]);
    let counts = [code.positional, code.positional_only, code.keyword_only, code.slots, code.free];
    counts.iter().for_each(|count| hasher.update(count.to_le_bytes()));
    strings(hasher, &code.slot_names);
    strings(hasher, &code.names);
    hasher.update((code.instrs.len() as u64).to_le_bytes());
    for instr in &code.instrs {
        hasher.update([instr.op as u8, instr.cost]);
        hasher.update(instr.a.to_le_bytes());
        hasher.update(instr.b.to_le_bytes());
    }
    hasher.update((code.consts.len() as u64).to_le_bytes());
    code.consts.iter().for_each(|constant| absorb_constant(hasher, constant));
    hasher.update((code.handlers.len() as u64).to_le_bytes());
    for handler in &code.handlers {
        for place in [handler.start, handler.end, handler.target] {
            hasher.update(place.to_le_bytes());
        }
        hasher.update(handler.depth.to_le_bytes());
    }
    hasher.update((code.lines.len() as u64).to_le_bytes());
    for (start, line) in &code.lines {
        hasher.update(start.to_le_bytes());
        hasher.update(line.to_le_bytes());
    }
}

fn absorb_constant(hasher: &mut Sha256, constant: &Const) {
    match constant {
        Const::Ellipsis => hasher.update([0]),
        Const::True => hasher.update([1]),
        Const::False => hasher.update([2]),
        Const::Int(int) => {
            hasher.update([3]);
            hasher.update(int.to_le_bytes());
        }
        Const::Big(big) => {
            hasher.update([4]);
            blob(hasher, &big.to_signed_bytes_le());
        }
        Const::Float(bits) => {
            hasher.update([5]);
            hasher.update(bits.to_le_bytes());
        }
        Const::Str(text) => {
            hasher.update([6]);
            blob(hasher, text.as_bytes());
        }
        Const::Bytes(bytes) => {
            hasher.update([7]);
            blob(hasher, bytes);
        }
        Const::Names(names) => {
            hasher.update([8]);
            strings(hasher, names);
        }
    }
}
