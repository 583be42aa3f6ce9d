//! Keeps votes back.

use super::Misconduct;
use commonware_codec::DecodeExt as _;
use commonware_consensus::simplex::types::Vote;
use commonware_cryptography::keccak256::Digest;
use commonware_runtime::IoBuf;
use remuda_node::scheme::Scheme;

/// Whether a message of the channel of votes is not sent.
pub(super) fn withholds(misconduct: Misconduct, message: &IoBuf) -> bool {
    match misconduct {
        Misconduct::WithholdsVotes => true,
        Misconduct::WithholdsFinalize => {
            let vote = Vote::<Scheme, Digest>::decode(message.clone());
            matches!(vote, Ok(Vote::Finalize(_)))
        }
        _ => false,
    }
}
