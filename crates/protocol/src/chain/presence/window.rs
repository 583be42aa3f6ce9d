//! The recent blocks that a certificate may finalize.

use crate::base::primitives::{B256, Height};
use crate::base::state::{View, read};
use crate::rules::block::Header;
use crate::rules::key::{AncestorKey, ChainKey};
use crate::rules::presence::{AncestorRecord, PRESENCE_TIMEOUT_BLOCKS};

/// Blocks that the state knows by their hash: those of the window and one before, whose view is
/// the parent view of the oldest.
const ANCESTORS_KEPT: u64 = PRESENCE_TIMEOUT_BLOCKS + 1;

/// A recent block that a block with this header descends from, by its hash. `view` is the state of
/// the header's parent, which is one of them.
pub fn ancestor(view: &dyn View, header: &Header, hash: B256) -> Option<AncestorRecord> {
    if header.parent == hash {
        return parent_record(view, header);
    }
    let records = (0..ANCESTORS_KEPT).filter_map(|place| read(view, &AncestorKey { place }));
    records.into_iter().find(|record| record.hash == hash)
}

/// What is known of the parent of a block with this header.
pub(crate) fn parent_record(view: &dyn View, header: &Header) -> Option<AncestorRecord> {
    let height = Height(header.height.get().checked_sub(1)?);
    let grandparent = height.get().checked_sub(1).and_then(|above| {
        read(view, &place_of(Height(above))).filter(|record| record.height.get() == above)
    });
    Some(AncestorRecord {
        height,
        hash: header.parent,
        view: header.parent_view,
        parent_view: grandparent.map(|record| record.view),
        next_slot: read(view, &ChainKey {})?.next_slot,
    })
}

/// Where a block is kept.
pub(crate) fn place_of(height: Height) -> AncestorKey {
    AncestorKey { place: height.get() % ANCESTORS_KEPT }
}
