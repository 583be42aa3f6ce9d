//! Seals results for an aggregator, and checks those that an aggregator receives.

use super::seal::{Envelope, OVERHEAD, open, seal};
use remuda_client::types::{HandoverPost, HexAddress, HexBytes};
use remuda_link::frame::Handover;
use remuda_link::sign;
use remuda_protocol::codec::{Decode as _, Encode as _};
use remuda_protocol::crypto::{PublicKey, SecretKey, Signature};
use remuda_protocol::dispatcher::job::{Job, SeatState};
use remuda_protocol::primitives::{Address, JobId};
use remuda_protocol::transaction::Reveal;

/// Bytes of a reveal besides its result: address, tag, length, salt, signature.
const REVEAL_OVERHEAD: usize = 20 + 1 + 4 + 32 + 65;

/// Seals a result for the aggregator and signs that. `None` if the key is not the aggregator's.
pub fn prepare(
    chain_id: u64,
    job_id: JobId,
    key: &SecretKey,
    reveal: &Reveal,
    aggregator: Address,
    aggregator_key: PublicKey,
    random: &[u8; 32],
) -> Option<HandoverPost> {
    // Otherwise a node could name its own key, and read the result before the reveal.
    if aggregator_key.address() != Some(aggregator) {
        return None;
    }
    let from = key.address();
    let envelope = Envelope { chain_id, job_id, from, to: aggregator_key };
    let sealed = seal(&envelope, &reveal.to_bytes(), random)?;
    let mut frame = Handover { job_id, runner: from.into_array(), sealed, runner_signed: [0; 65] };
    let digest = sign::handover(chain_id, &aggregator.into_array(), &frame);
    frame.runner_signed = key.sign(&digest).bytes;
    Some(HandoverPost {
        runner: HexAddress(from),
        sealed: HexBytes(frame.sealed),
        signature: HexBytes(frame.runner_signed.to_vec()),
    })
}

/// Whether a handover comes from a member of the committee, is signed, and is not too long.
pub fn genuine(chain_id: u64, me: Address, job: &Job, max_bytes: usize, frame: &Handover) -> bool {
    let from = Address::from(frame.runner);
    let member = from != me && job.taking_part().any(|seat| seat.runner == from);
    if !member || frame.sealed.len() > max_bytes + REVEAL_OVERHEAD + OVERHEAD {
        return false;
    }
    let digest = sign::handover(chain_id, &me.into_array(), frame);
    Signature { bytes: frame.runner_signed }.recover_address(&digest) == Ok(from)
}

/// Opens a handover and checks it against the sender's commitment: one wrong result would invalidate the whole
/// aggregate.
pub fn opened(chain_id: u64, key: &SecretKey, job: &Job, frame: &Handover) -> Option<Reveal> {
    let from = Address::from(frame.runner);
    let seat = job.taking_part().find(|seat| seat.runner == from)?;
    let SeatState::Committed { commitment: expected, .. } = seat.progress else { return None };
    let envelope = Envelope { chain_id, job_id: frame.job_id, from, to: key.public_key() };
    let reveal = Reveal::from_bytes(&open(&envelope, &frame.sealed, key)?).ok()?;
    let Reveal { runner, result, salt, result_sig } = &reveal;
    let (job_id, attempt) = (frame.job_id, seat.attempt);
    let actual = result.commitment(chain_id, job_id, attempt, from, salt, &result_sig.bytes);
    let digest = result.digest(chain_id, job_id, attempt, from);
    let signed = result_sig.recover_address(&digest) == Ok(from);
    (*runner == from && actual == expected && signed).then_some(reveal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{job, seat};
    use remuda_protocol::dispatcher::job::Status;
    use remuda_protocol::primitives::{B256, Height};
    use remuda_protocol::verifier::commitment::result_digest;

    const CHAIN: u64 = 7;
    const JOB: B256 = B256::repeat_byte(1);
    const MAX: usize = 1_024;

    fn key(name: &str) -> SecretKey {
        SecretKey::from_label(name)
    }

    fn reveal(who: &SecretKey, result: &[u8]) -> Reveal {
        let digest = result_digest(CHAIN, JOB, 0, who.address(), result);
        Reveal {
            runner: who.address(),
            result: result.into(),
            salt: B256::repeat_byte(3),
            result_sig: who.sign(&digest),
        }
    }

    fn committed(who: &SecretKey, reveal: &Reveal) -> SeatState {
        let Reveal { result, salt, result_sig, .. } = reveal;
        let who = who.address();
        let commitment = result.commitment(CHAIN, JOB, 0, who, salt, &result_sig.bytes);
        SeatState::Committed { commitment, at: Height(110) }
    }

    fn committee(progress: SeatState) -> Job {
        let (aggregator, member) = (key("aggregator").address(), key("member").address());
        let seats = vec![seat(aggregator, SeatState::Waiting), seat(member, progress)];
        job(Status::Committed, Some(aggregator), seats)
    }

    fn frame(from: &SecretKey, reveal: &Reveal) -> Handover {
        let to = key("aggregator");
        let post =
            prepare(CHAIN, JOB, from, reveal, to.address(), to.public_key(), &[7; 32]).unwrap();
        Handover {
            job_id: JOB,
            runner: post.runner.0.into_array(),
            sealed: post.sealed.0,
            runner_signed: post.signature.0.try_into().unwrap(),
        }
    }

    #[test]
    fn what_a_member_committed_to_reaches_the_aggregator() {
        let (member, aggregator) = (key("member"), key("aggregator"));
        let result = reveal(&member, b"42");
        let job = committee(committed(&member, &result));
        let frame = frame(&member, &result);
        assert!(genuine(CHAIN, aggregator.address(), &job, MAX, &frame));
        assert_eq!(opened(CHAIN, &aggregator, &job, &frame), Some(result));
    }

    #[test]
    fn handovers_of_strangers_and_forgers_are_refused() {
        let (member, aggregator) = (key("member"), key("aggregator"));
        let result = reveal(&member, b"42");
        let job = committee(committed(&member, &result));
        let me = aggregator.address();
        let stranger = key("stranger");
        assert!(!genuine(CHAIN, me, &job, MAX, &frame(&stranger, &reveal(&stranger, b"42"))));
        let mut forged = frame(&stranger, &result);
        forged.runner = member.address().into_array();
        assert!(!genuine(CHAIN, me, &job, MAX, &forged), "signed by another");
        let mut changed = frame(&member, &result);
        changed.sealed[40] ^= 1;
        assert!(!genuine(CHAIN, me, &job, MAX, &changed));
        let other_job = Handover { job_id: B256::repeat_byte(2), ..frame(&member, &result) };
        assert!(!genuine(CHAIN, me, &job, MAX, &other_job));
        assert!(!genuine(CHAIN + 1, me, &job, MAX, &frame(&member, &result)));
        assert!(!genuine(CHAIN, me, &job, 1, &frame(&member, &result)), "too long");
    }

    #[test]
    fn a_result_that_was_not_committed_to_is_not_taken() {
        let (member, aggregator) = (key("member"), key("aggregator"));
        let told = reveal(&member, b"43");
        let job = committee(committed(&member, &reveal(&member, b"42")));
        assert_eq!(opened(CHAIN, &aggregator, &job, &frame(&member, &told)), None);
        let waiting = committee(SeatState::Waiting);
        assert_eq!(opened(CHAIN, &aggregator, &waiting, &frame(&member, &told)), None);
        let borrowed = Reveal { runner: aggregator.address(), ..reveal(&member, b"42") };
        assert_eq!(opened(CHAIN, &aggregator, &job, &frame(&member, &borrowed)), None);
    }

    #[test]
    fn a_key_that_is_not_the_aggregators_gets_nothing() {
        let (member, other) = (key("member"), key("other"));
        let to = key("aggregator").address();
        let post =
            prepare(CHAIN, JOB, &member, &reveal(&member, b"42"), to, other.public_key(), &[7; 32]);
        assert_eq!(post, None);
    }
}
