//! The result that a settled job ends with.

use crate::base::codec::{Bytes, codec_struct};
use crate::base::primitives::Address;

/// What a callback gets; public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedResult {
    /// Canonical JSON of the fields that the winners agree on.
    pub agreed: Option<Bytes>,
    /// The whole result of the first winner in draw order: that runner's word.
    pub result: Bytes,
    pub runner: Address,
}
codec_struct!(VerifiedResult { agreed, result, runner });
