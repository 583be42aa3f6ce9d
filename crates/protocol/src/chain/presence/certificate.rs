//! Which certificate a block may carry on the state of its parent.

use crate::base::state::{View, read};
use crate::chain::presence::window::ancestor;
use crate::rules::beacon::Round;
use crate::rules::block::Header;
use crate::rules::key::{PresenceKey, ValidatorsKey};
use crate::rules::presence::{
    AncestorRecord, PRESENCE_TIMEOUT_BLOCKS, PresenceCertificate, PresenceRefusal,
    check_attestations,
};

/// Whether a block with this header, on the state of its parent, may carry a certificate.
/// Proposers and voters ask the same. Signatures are not looked at.
pub fn acceptable(
    view: &dyn View,
    header: &Header,
    certificate: &PresenceCertificate,
) -> Result<(), PresenceRefusal> {
    finalized(view, header, certificate).map(|_| ())
}

/// The ancestor that an acceptable certificate finalizes.
pub(crate) fn finalized(
    view: &dyn View,
    header: &Header,
    certificate: &PresenceCertificate,
) -> Result<AncestorRecord, PresenceRefusal> {
    let (height, got) = (header.height, certificate.height);
    let newest = read(view, &PresenceKey {}).and_then(|presence| presence.newest_certificate);
    if let Some(newest) = newest.filter(|newest| *newest >= got) {
        return Err(PresenceRefusal::HeightsDoNotIncrease { newest, got });
    }
    if got >= height {
        return Err(PresenceRefusal::NotAnAncestor { height, got });
    }
    // Heights do not go below 0, so genesis, for which there are no votes, is always too old.
    if got <= height.minus(PRESENCE_TIMEOUT_BLOCKS) {
        return Err(PresenceRefusal::TooOld { height, got });
    }
    let of = ancestor(view, header, certificate.block).ok_or(PresenceRefusal::UnknownBlock)?;
    if of.height != got {
        return Err(PresenceRefusal::WrongHeight { expected: of.height, got });
    }
    // A chain has one epoch so far, so an ancestor's is the header's.
    let expected = Round { epoch: header.round.epoch, view: of.view };
    if certificate.round != expected {
        return Err(PresenceRefusal::WrongRound { expected, got: certificate.round });
    }
    let got = certificate.parent_view;
    if let Some(expected) = of.parent_view.filter(|expected| *expected != got) {
        return Err(PresenceRefusal::WrongParentView { expected, got });
    }
    let validators = read(view, &ValidatorsKey {}).unwrap_or_default();
    check_attestations(&certificate.attestations, validators.len())?;
    Ok(of)
}
