//! Values between program and chain.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use remuda_protocol::actors::JobEnd;
use remuda_protocol::actors::host::Context;
use remuda_protocol::dispatcher::job::{Failure, Status};
use remuda_protocol::primitives::{Address, Amount, B256, Height};
use remuda_protocol::timers::agents::{GbaContext, TimerCall};
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::verifier::json::{Decimal, Json};

use crate::cbor;
use crate::{HostErrorKind, HostValue};

/// Containers in a job's specification.
const JSON_DEPTH_MAX: usize = 32;

pub(crate) fn text(text: &str) -> HostValue {
    HostValue::Str(text.to_owned())
}

pub(crate) fn bytes(bytes: &[u8]) -> HostValue {
    HostValue::Bytes(bytes.to_vec())
}

pub(crate) fn number(number: u128) -> HostValue {
    match i64::try_from(number) {
        Ok(int) => HostValue::Int(int),
        Err(_) => HostValue::Big(BigInt::from(number).to_signed_bytes_be()),
    }
}

pub(crate) fn dict<const N: usize>(entries: [(&str, HostValue); N]) -> HostValue {
    HostValue::Dict(entries.into_iter().map(|(name, value)| (text(name), value)).collect())
}

/// Canonical CBOR of a dict of ours, which has some.
pub(super) fn payload(value: &HostValue) -> Vec<u8> {
    cbor::encode(value).unwrap_or_default()
}

pub(crate) fn as_u128(value: &HostValue) -> Option<u128> {
    match value {
        HostValue::Int(int) => u128::try_from(*int).ok(),
        HostValue::Big(big) => u128::try_from(BigInt::from_signed_bytes_be(big)).ok(),
        _ => None,
    }
}

pub(crate) fn as_u64(value: &HostValue) -> Option<u64> {
    as_u128(value).and_then(|number| u64::try_from(number).ok())
}

pub(crate) fn as_amount(value: &HostValue) -> Option<Amount> {
    as_u128(value).map(Amount)
}

pub(crate) fn as_address(value: &HostValue) -> Option<Address> {
    match value {
        HostValue::Bytes(bytes) => Address::try_from(&bytes[..]).ok(),
        // As people write them.
        HostValue::Str(text) if text.starts_with("0x") => text.parse().ok(),
        _ => None,
    }
}

pub(crate) fn as_hash(value: &HostValue) -> Option<B256> {
    match value {
        HostValue::Bytes(bytes) => B256::try_from(&bytes[..]).ok(),
        _ => None,
    }
}

/// What a call may know of itself.
pub(super) fn context(context: &Context) -> HostValue {
    dict([
        ("tx_hash", bytes(context.cause.as_slice())),
        ("sender", bytes(context.sender.as_slice())),
        ("origin", bytes(context.origin.as_slice())),
        ("actor_addr", bytes(context.actor.as_slice())),
        ("block_height", number(context.height.get().into())),
        ("chain_id", number(context.chain_id.into())),
        ("timestamp_ms", number(context.timestamp_ms.into())),
        ("value", number(context.value.get())),
        ("cycles_left", number(context.cycles_left.into())),
    ])
}

/// What a job's callback gets, and an await on one.
pub(super) fn job_end(end: &JobEnd) -> HostValue {
    let status = match end.status {
        Status::Settled => "settled",
        Status::Failed { .. } => "failed",
        Status::Cancelled => "cancelled",
        _ => "open",
    };
    let result = end.result.as_ref();
    let or_none = |found: Option<&[u8]>| found.map_or(HostValue::None, bytes);
    dict([
        ("job_id", bytes(end.job.as_slice())),
        ("submitter", bytes(end.submitter.as_slice())),
        ("status", text(status)),
        ("result", or_none(result.map(|result| &result.result[..]))),
        ("agreed", or_none(result.and_then(|result| result.agreed.as_deref()))),
        ("runner", or_none(result.map(|result| result.runner.as_slice()))),
        ("error", failure(&end.status).map_or(HostValue::None, |(_, message)| text(message))),
    ])
}

/// Why a job has no result: what programs can tell apart, and the words.
pub(super) fn failure(status: &Status) -> Option<(HostErrorKind, &'static str)> {
    Some(match status {
        Status::Failed { reason: Failure::NoRunners } => {
            (HostErrorKind::Timeout, "no runner delivered in time")
        }
        Status::Failed { reason: Failure::InsufficientRunners } => {
            (HostErrorKind::Failed, "there are too few runners for this job")
        }
        Status::Failed { reason: Failure::NoAgreement } => {
            (HostErrorKind::Failed, "the results do not agree")
        }
        Status::Failed { reason: Failure::Excused } => {
            (HostErrorKind::Failed, "the runners say that the job cannot be done")
        }
        Status::Failed { reason: Failure::NoSeed } => {
            (HostErrorKind::Failed, "the seed for the draw never came")
        }
        Status::Cancelled => (HostErrorKind::Failed, "the job was called off"),
        Status::Pending { .. } | Status::Assigned | Status::Committed | Status::Settled => {
            return None;
        }
    })
}

/// What a timer's handler gets.
pub(super) fn timer(timer: &TimerCall) -> HostValue {
    dict([
        ("timer_id", bytes(timer.timer.as_slice())),
        ("height", number(timer.due.get().into())),
        ("payload", bytes(&timer.payload)),
    ])
}

/// The method that a timer's payload names: canonical CBOR of a map with a text under `method`.
pub(super) fn named_method(payload: &[u8]) -> Option<String> {
    cbor::text_under(payload, "method").map(str::to_owned)
}

pub(super) fn gas_context(context: &GbaContext) -> HostValue {
    dict([
        ("trigger_block_height", number(context.trigger_block_height.into())),
        ("current_block_height", number(context.current_block_height.into())),
        ("basefee_cycle", number(context.basefee_cycle)),
        ("basefee_cell", number(context.basefee_cell)),
        ("basefee_lane_timer", number(context.basefee_lane_timer)),
        ("last_block_cycle_usage", number(context.last_block_cycle_usage.into())),
        (
            "previous_block_p50_priority_tip_per_cycle",
            number(context.previous_block_p50_priority_tip_per_cycle),
        ),
        ("owner_actor_balance", number(context.owner_actor_balance)),
    ])
}

/// The options of `schedule_timer`, by CIP-1's names. The name of one that there is not, or whose value
/// is none, if there is such a one.
pub(super) fn schedule<'o>(
    height: u64,
    payload: &[u8],
    options: &'o [(HostValue, HostValue)],
) -> Result<ScheduleTimer, &'o str> {
    let height = Height(height);
    let mut timer = ScheduleTimer { height, payload: payload.into(), ..ScheduleTimer::default() };
    for (name, value) in options {
        let HostValue::Str(name) = name else { return Err("of another kind than a name") };
        if !matches!(value, HostValue::None) {
            option(&mut timer, name, value).ok_or(name.as_str())?;
        }
    }
    Ok(timer)
}

fn option(timer: &mut ScheduleTimer, name: &str, value: &HostValue) -> Option<()> {
    match name {
        "fee_payer" => timer.fee_payer = Some(as_address(value)?),
        "gas_limit" => timer.gas_limit = Some(as_u64(value)?),
        "max_cells" => timer.max_cells = Some(as_u64(value)?),
        "expires_at" => timer.expires_at = Some(Height(as_u64(value)?)),
        "max_fee_per_cycle" => timer.max_fee_per_cycle = Some(as_u128(value)?),
        "max_priority_fee_per_cycle" => {
            timer.max_priority_fee_per_cycle = Some(as_u128(value)?);
        }
        "gas_bidding_agent" | "agent" => timer.agent = Some(as_address(value)?),
        "bid" => timer.bid = Some(as_u128(value)?),
        _ => return None,
    }
    Some(())
}

/// How many values a value is made of, and the bytes of its texts. The machine has bounded both.
pub(super) fn size(value: &HostValue) -> (u64, u64) {
    let sum = |one: (u64, u64), other: (u64, u64)| (one.0 + other.0, one.1 + other.1);
    match value {
        HostValue::Str(text) => (1, text.len() as u64),
        HostValue::Bytes(bytes) | HostValue::Big(bytes) => (1, bytes.len() as u64),
        HostValue::List(items) => items.iter().map(size).fold((1, 0), sum),
        HostValue::Dict(pairs) => {
            pairs.iter().map(|(key, value)| sum(size(key), size(value))).fold((1, 0), sum)
        }
        _ => (1, 0),
    }
}

/// A program's value as the document that a job file would be.
pub(super) fn json(value: &HostValue, depth: usize) -> Option<Json> {
    if depth > JSON_DEPTH_MAX {
        return None;
    }
    Some(match value {
        HostValue::None => Json::Null,
        HostValue::Bool(truth) => Json::Bool(*truth),
        HostValue::Int(int) => {
            Json::Number(Decimal::from_nanos(i128::from(*int).checked_mul(1_000_000_000)?)?)
        }
        // Beyond what a number of the documents can be: digits.
        HostValue::Big(_) => Json::String(as_u128(value)?.to_string()),
        HostValue::Float(_) => return None,
        HostValue::Str(text) => Json::String(text.clone()),
        HostValue::Bytes(bytes) => Json::String(hex(bytes)),
        HostValue::List(items) => {
            Json::Array(items.iter().map(|item| json(item, depth + 1)).collect::<Option<_>>()?)
        }
        HostValue::Dict(pairs) => {
            let mut members = BTreeMap::new();
            for (name, value) in pairs {
                let HostValue::Str(name) = name else { return None };
                members.insert(name.clone(), json(value, depth + 1)?);
            }
            Json::Object(members)
        }
    })
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    let digits = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    "0x".chars().chain(digits).collect()
}
