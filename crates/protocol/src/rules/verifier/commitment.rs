//! What a runner signs and what it commits to before anybody reveals (SPEC §5).
//!
//! Both digests name the chain, the job, the attempt and the runner, so that neither can be copied to another place.
//!
//! An excuse has domains of its own, and its code stands where a result has its hash:
//!
//! ```text
//! result_sig  signs keccak256("cowboy-result-v1:" ‖ chain_id_be8 ‖ job ‖ attempt_be4 ‖ runner ‖ keccak256(result))
//!             or    keccak256("cowboy-excuse-v1:" ‖ chain_id_be8 ‖ job ‖ attempt_be4 ‖ runner ‖ code_u8)
//! commitment  =     keccak256("cowboy-commit-v1:" ‖ … ‖ keccak256(result) ‖ salt32 ‖ result_sig)
//!             or    keccak256("cowboy-commit-excuse-v1:" ‖ … ‖ code_u8 ‖ salt32 ‖ result_sig)
//! ```
//! All parts have a fixed width and no domain begins another, so no bytes can be read as both.

use super::excuse::Excuse;
use crate::base::primitives::{Address, B256, JobId, keccak256};

const RESULT_DOMAIN: &[u8] = b"cowboy-result-v1:";
const COMMIT_DOMAIN: &[u8] = b"cowboy-commit-v1:";
const EXCUSE_DOMAIN: &[u8] = b"cowboy-excuse-v1:";
const COMMIT_EXCUSE_DOMAIN: &[u8] = b"cowboy-commit-excuse-v1:";

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
    let hash = keccak256(result);
    keccak256(statement(RESULT_DOMAIN, chain_id, job_id, attempt, runner, hash.as_slice()))
}

/// The digest that `result_sig` signs in place of a result.
pub fn excuse_digest(
    chain_id: u64,
    job_id: JobId,
    attempt: u32,
    runner: Address,
    excuse: Excuse,
) -> B256 {
    keccak256(statement(EXCUSE_DOMAIN, chain_id, job_id, attempt, runner, &[excuse as u8]))
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
    let hash = keccak256(result);
    let statement = statement(COMMIT_DOMAIN, chain_id, job_id, attempt, runner, hash.as_slice());
    sealed(statement, salt, result_sig)
}

/// The commitment to an excuse. Without the salt it cannot be told from one to a result.
pub fn excuse_commitment(
    chain_id: u64,
    job_id: JobId,
    attempt: u32,
    runner: Address,
    excuse: Excuse,
    salt: &B256,
    result_sig: &[u8; SIGNATURE_BYTES],
) -> B256 {
    let code = [excuse as u8];
    let statement = statement(COMMIT_EXCUSE_DOMAIN, chain_id, job_id, attempt, runner, &code);
    sealed(statement, salt, result_sig)
}

fn sealed(mut statement: Vec<u8>, salt: &B256, result_sig: &[u8; SIGNATURE_BYTES]) -> B256 {
    statement.extend_from_slice(salt.as_slice());
    statement.extend_from_slice(result_sig);
    keccak256(statement)
}

/// The part that all digests share.
fn statement(
    domain: &[u8],
    chain_id: u64,
    job_id: JobId,
    attempt: u32,
    runner: Address,
    content: &[u8],
) -> Vec<u8> {
    let parts: [&[u8]; 6] = [
        domain,
        &chain_id.to_be_bytes(),
        job_id.as_slice(),
        &attempt.to_be_bytes(),
        runner.as_slice(),
        content,
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
