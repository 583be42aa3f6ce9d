//! What a runner signs and what it commits to before anybody reveals (SPEC §5).
//!
//! Both digests name the chain, the job, the attempt and the runner, so that neither can be copied to another place.

use crate::primitives::{Address, B256, JobId, keccak256};

const RESULT_DOMAIN: &[u8] = b"cowboy-result-v1:";
const COMMIT_DOMAIN: &[u8] = b"cowboy-commit-v1:";

/// Length of a recoverable secp256k1 signature, r ‖ s ‖ v.
pub const SIGNATURE_BYTES: usize = 65;

/// The digest that `result_sig` signs.
pub fn result_digest(
    chain_id: u64,
    job_id: JobId,
    attempt: u32,
    runner: Address,
    result: &[u8],
) -> B256 {
    keccak256(statement(RESULT_DOMAIN, chain_id, job_id, attempt, runner, result))
}

/// The commitment to a result. The salt keeps a result with few possible values from being guessed.
pub fn commitment(
    chain_id: u64,
    job_id: JobId,
    attempt: u32,
    runner: Address,
    result: &[u8],
    salt: &B256,
    result_sig: &[u8; SIGNATURE_BYTES],
) -> B256 {
    let mut bytes = statement(COMMIT_DOMAIN, chain_id, job_id, attempt, runner, result);
    bytes.extend_from_slice(salt.as_slice());
    bytes.extend_from_slice(result_sig);
    keccak256(bytes)
}

/// The part that both digests share.
fn statement(
    domain: &[u8],
    chain_id: u64,
    job_id: JobId,
    attempt: u32,
    runner: Address,
    result: &[u8],
) -> Vec<u8> {
    let result_hash = keccak256(result);
    let parts: [&[u8]; 6] = [
        domain,
        &chain_id.to_be_bytes(),
        job_id.as_slice(),
        &attempt.to_be_bytes(),
        runner.as_slice(),
        result_hash.as_slice(),
    ];
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: B256 = B256::repeat_byte(1);
    const RUNNER: Address = Address::repeat_byte(2);
    const SALT: B256 = B256::repeat_byte(3);

    #[test]
    fn every_part_of_a_digest_counts() {
        let base = result_digest(1, JOB, 0, RUNNER, b"x");
        assert_ne!(base, result_digest(2, JOB, 0, RUNNER, b"x"));
        assert_ne!(base, result_digest(1, SALT, 0, RUNNER, b"x"));
        assert_ne!(base, result_digest(1, JOB, 1, RUNNER, b"x"));
        assert_ne!(base, result_digest(1, JOB, 0, Address::ZERO, b"x"));
        assert_ne!(base, result_digest(1, JOB, 0, RUNNER, b"y"));
    }

    #[test]
    fn commitment_covers_salt_and_signature() {
        let base = commitment(1, JOB, 0, RUNNER, b"x", &SALT, &[4; 65]);
        assert_ne!(base, commitment(1, JOB, 0, RUNNER, b"x", &JOB, &[4; 65]));
        assert_ne!(base, commitment(1, JOB, 0, RUNNER, b"x", &SALT, &[5; 65]));
        assert_ne!(base, commitment(1, JOB, 0, RUNNER, b"", &SALT, &[4; 65]));
    }
}
