//! Frames as bytes.

use proptest::prelude::*;
use remuda_link::frame::{Frame, Goodbye, HeartbeatPing, JobProgress, JobResult, Parting};
use remuda_link::wire::{CONTROL_LIMIT, Cutter, JOB_LIMIT, WireError, decode, encode, length};
use remuda_protocol::primitives::B256;

fn ping() -> Frame {
    HeartbeatPing { block_height: 1, nonce: 2, signed: [3; 65] }.into()
}

// spec §9.8
#[test]
fn a_frame_is_a_length_a_type_and_a_map() {
    let bytes = encode(&ping());
    assert_eq!(length(bytes[..4].try_into().unwrap(), CONTROL_LIMIT), Ok(bytes.len() - 4));
    assert_eq!(bytes[4], 0x10);
    assert_eq!(bytes[5], 0xA3, "a map of three");
    assert_eq!(decode(&bytes[4..]), Ok(ping()));
}

// spec §9.8
#[test]
fn unknown_fields_are_ignored_and_unknown_types_are_not() {
    let mut bytes = encode(&Parting::Shutdown.goodbye());
    // One entry more: {"x": 1}.
    bytes[5] += 1;
    bytes.extend_from_slice(&[0x61, b'x', 0x01]);
    assert_eq!(decode(&bytes[4..]), Ok(Parting::Shutdown.goodbye()));
    bytes[4] = 0x77;
    assert_eq!(decode(&bytes[4..]), Err(WireError::UnknownType(0x77)));
}

// spec §9.8
#[test]
fn lengths_are_refused_before_their_bytes_come() {
    let long = (CONTROL_LIMIT as u32 + 1).to_be_bytes();
    let refusal = WireError::TooLong { length: CONTROL_LIMIT + 1, limit: CONTROL_LIMIT };
    let mut cutter = Cutter::new(CONTROL_LIMIT);
    cutter.push(&long);
    assert_eq!(cutter.next_frame(), Err(refusal));
    assert_eq!(length([0; 4], JOB_LIMIT), Err(WireError::Empty));
}

#[test]
fn a_map_that_lies_about_its_size_allocates_nothing() {
    // A byte string that says it has 2^62 bytes, a text, an array and a map that say the same.
    for major in [0x5B, 0x7B, 0x9B, 0xBB] {
        let mut body = vec![0xF0, 0xA1, 0x66];
        body.extend_from_slice(b"reason");
        body.push(major);
        body.extend_from_slice(&(1u64 << 62).to_be_bytes());
        assert!(matches!(decode(&body), Err(WireError::Map(_))));
    }
}

// spec §9.8
#[test]
fn deep_maps_are_refused() {
    let mut body = vec![0xF0];
    body.extend(std::iter::repeat_n(0x81, 60_000));
    assert!(matches!(decode(&body), Err(WireError::Map(_))));
}

proptest! {
    #[test]
    fn frames_survive_any_cutting(
        texts in proptest::collection::vec((any::<u8>(), proptest::option::of(".{0,40}")), 1..6),
        data in proptest::collection::vec(any::<u8>(), 0..2_000),
        cuts in proptest::collection::vec(1..50usize, 1..200),
    ) {
        let mut frames: Vec<Frame> = texts
            .into_iter()
            .map(|(fraction, detail)| {
                JobProgress { job_id: B256::repeat_byte(fraction), fraction, detail }.into()
            })
            .collect();
        frames.push(JobResult { job_id: B256::ZERO, result_data: data, runner_signed: [1; 65] }.into());
        let bytes: Vec<u8> = frames.iter().flat_map(encode).collect();
        let (mut cutter, mut out, mut rest) = (Cutter::new(JOB_LIMIT), Vec::new(), &bytes[..]);
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            cutter.push(now);
            while let Some(frame) = cutter.next_frame().unwrap() {
                out.push(frame);
            }
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(out, frames);
        prop_assert_eq!(cutter.waiting(), 0);
    }

    #[test]
    fn truncated_frames_are_no_frames(cut in 1..70usize) {
        let bytes = encode(&ping());
        prop_assume!(cut < bytes.len() - 4);
        prop_assert!(decode(&bytes[4..bytes.len() - cut]).is_err());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(frame) = decode(&bytes) {
            prop_assert_eq!(decode(&encode(&frame)[4..]), Ok(frame));
        }
    }

    #[test]
    fn words_of_parting_are_read_back(which in 0..Parting::ALL.len()) {
        let parting = Parting::ALL[which];
        let Frame::Goodbye(Goodbye { reason, .. }) = parting.goodbye() else { unreachable!() };
        prop_assert_eq!(Parting::from_word(&reason), Some(parting));
    }
}
