//! Runs twice with one key, and tells each half of the others something else.

use commonware_p2p::Recipients;
use commonware_p2p::simulated::SplitOrigin;
use remuda_node::scheme::PublicKey;

/// Those of the recipients that this one of the two talks to.
pub(super) fn recipients(
    origin: SplitOrigin,
    recipients: &Recipients<PublicKey>,
    halves: &[Vec<PublicKey>; 2],
) -> Option<Recipients<PublicKey>> {
    let half = match origin {
        SplitOrigin::Primary => &halves[0],
        SplitOrigin::Secondary => &halves[1],
    };
    let wanted = match recipients {
        Recipients::All => half.clone(),
        Recipients::Some(some) => some.iter().filter(|key| half.contains(key)).cloned().collect(),
        Recipients::One(one) if half.contains(one) => vec![one.clone()],
        Recipients::One(_) => Vec::new(),
    };
    (!wanted.is_empty()).then_some(Recipients::Some(wanted))
}
