//! Excuses: why a seat has no result, in one signed word (SPEC §7).
//!
//! A runner that cannot do a job commits to an excuse and opens it like a result. An excuse is a
//! code, never a document, so no result can be mistaken for one and no excuse can win a vote:
//!
//! ```text
//! committee          an excuse joins no group, is scored by nobody and paid nothing
//! one runner         the codes that take no work pay EXCUSE_BPS of the escrow, the rest goes back;
//!                    the others took the work and pay in full
//! one runner, bonded every excuse pays EXCUSE_BPS: no stake answers for it, and none can be lost
//!                    to a machine that is slower than those of the judges
//! ```
//! Nobody earns by excusing itself instead of working: in a committee an excuse earns nothing, and
//! alone a lazy runner could claim any result as well as any excuse.

use crate::base::codec::{Bytes, codec_enum};
use crate::base::primitives::{Address, Amount, B256, BPS, JobId};
use crate::rules::verifier::commitment::{
    SIGNATURE_BYTES, commitment, excuse_commitment, excuse_digest, result_digest,
};

/// Why a runner has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Excuse {
    /// The server that the job names does not answer.
    Unreachable = 1,
    /// The server or the provider turns the request down.
    Refused = 2,
    /// What the job names does not exist.
    NotFound = 3,
    /// The job cannot be read, or asks for what no runner can do.
    BadJob = 4,
    /// The result is larger than `max_return_bytes`.
    TooLarge = 5,
    /// The work did not end within its time.
    TimedOut = 6,
    /// The program ended with an error.
    ProgramFailed = 7,
    /// Opening the result would cost more in fees than the job pays.
    TooCostly = 8,
}
codec_enum!(Excuse {
    1 => Unreachable {},
    2 => Refused {},
    3 => NotFound {},
    4 => BadJob {},
    5 => TooLarge {},
    6 => TimedOut {},
    7 => ProgramFailed {},
    8 => TooCostly {},
});

impl Excuse {
    /// Every code, ascending.
    pub const ALL: [Self; 8] = [
        Self::Unreachable,
        Self::Refused,
        Self::NotFound,
        Self::BadJob,
        Self::TooLarge,
        Self::TimedOut,
        Self::ProgramFailed,
        Self::TooCostly,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
            Self::NotFound => "not_found",
            Self::BadJob => "bad_job",
            Self::TooLarge => "too_large",
            Self::TimedOut => "timed_out",
            Self::ProgramFailed => "program_failed",
            Self::TooCostly => "too_costly",
        }
    }

    /// The code of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|excuse| excuse.name() == name)
    }

    /// Whether the work was done before it turned out to be in vain.
    pub const fn took_the_work(self) -> bool {
        matches!(self, Self::TooLarge | Self::TimedOut | Self::ProgramFailed)
    }

    /// What an escrow pays for this excuse of its only runner; the rest goes back.
    pub fn gross(self, escrow: Amount, excuse_bps: u16, bonded: bool) -> Amount {
        if self.took_the_work() && !bonded {
            return escrow;
        }
        escrow.scale(u128::from(excuse_bps), BPS).unwrap_or_default()
    }
}

/// What a runner delivers for its seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    Result {
        bytes: Bytes,
    },
    /// The reason why there is none.
    Excuse {
        code: Excuse,
    },
}
codec_enum!(Delivery { 1 => Result { bytes }, 2 => Excuse { code } });

impl Delivery {
    /// The result, if it is one.
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Result { bytes } => Some(bytes),
            Self::Excuse { .. } => None,
        }
    }

    /// The excuse, if it is one.
    pub fn excuse(&self) -> Option<Excuse> {
        match self {
            Self::Result { .. } => None,
            Self::Excuse { code } => Some(*code),
        }
    }

    /// Bytes of the result; an excuse has none.
    pub fn len(&self) -> usize {
        self.bytes().map_or(0, |bytes| bytes.len())
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the runner signs: see [`result_digest`] and [`excuse_digest`].
    pub fn digest(&self, chain_id: u64, job: JobId, attempt: u32, runner: Address) -> B256 {
        match self {
            Self::Result { bytes } => result_digest(chain_id, job, attempt, runner, bytes),
            Self::Excuse { code } => excuse_digest(chain_id, job, attempt, runner, *code),
        }
    }

    /// What the runner commits to: see [`commitment`] and [`excuse_commitment`].
    pub fn commitment(
        &self,
        chain_id: u64,
        job: JobId,
        attempt: u32,
        runner: Address,
        salt: &B256,
        result_sig: &[u8; SIGNATURE_BYTES],
    ) -> B256 {
        match self {
            Self::Result { bytes } => {
                commitment(chain_id, job, attempt, runner, bytes, salt, result_sig)
            }
            Self::Excuse { code } => {
                excuse_commitment(chain_id, job, attempt, runner, *code, salt, result_sig)
            }
        }
    }
}

impl From<Bytes> for Delivery {
    fn from(bytes: Bytes) -> Self {
        Self::Result { bytes }
    }
}
impl From<Vec<u8>> for Delivery {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Result { bytes: Bytes(bytes) }
    }
}
impl From<&[u8]> for Delivery {
    fn from(bytes: &[u8]) -> Self {
        Self::Result { bytes: bytes.into() }
    }
}
impl From<&Vec<u8>> for Delivery {
    fn from(bytes: &Vec<u8>) -> Self {
        bytes.as_slice().into()
    }
}
impl<const N: usize> From<&[u8; N]> for Delivery {
    fn from(bytes: &[u8; N]) -> Self {
        bytes.as_slice().into()
    }
}
impl From<Excuse> for Delivery {
    fn from(code: Excuse) -> Self {
        Self::Excuse { code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::codec::{Decode, Encode};
    use std::collections::BTreeSet;

    const JOB: B256 = B256::repeat_byte(1);
    const WHO: Address = Address::repeat_byte(2);

    #[test]
    fn names_and_numbers_lead_back_to_the_code() {
        for excuse in Excuse::ALL {
            assert_eq!(Excuse::from_name(excuse.name()), Some(excuse));
            assert_eq!(Excuse::from_bytes(&excuse.to_bytes()), Ok(excuse));
        }
        assert_eq!(Excuse::from_name("lazy"), None);
    }

    #[test]
    fn no_excuse_has_the_digest_of_a_result_or_of_another_excuse() {
        let excuses = Excuse::ALL.map(Delivery::from);
        // Results that spell out what the digest of an excuse is made of.
        let imitations = Excuse::ALL.map(|code| Delivery::from(vec![code as u8]));
        let texts = Excuse::ALL.map(|code| Delivery::from(code.name().as_bytes()));
        let all: Vec<Delivery> = excuses.into_iter().chain(imitations).chain(texts).collect();
        let digests: BTreeSet<B256> = all.iter().map(|it| it.digest(1, JOB, 0, WHO)).collect();
        assert_eq!(digests.len(), all.len());
        let bound = |it: &Delivery| it.commitment(1, JOB, 0, WHO, &JOB, &[4; SIGNATURE_BYTES]);
        let commitments: BTreeSet<B256> = all.iter().map(bound).collect();
        assert_eq!(commitments.len(), all.len());
    }

    #[test]
    fn an_excuse_that_takes_no_work_pays_a_tenth_and_a_bonded_one_always() {
        let escrow = Amount(10_000);
        for excuse in Excuse::ALL {
            let full = excuse.took_the_work();
            let gross = if full { 10_000 } else { 1_000 };
            assert_eq!(excuse.gross(escrow, 1_000, false), Amount(gross), "{excuse:?}");
            assert_eq!(excuse.gross(escrow, 1_000, true), Amount(1_000), "{excuse:?}");
        }
    }
}
