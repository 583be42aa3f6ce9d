//! `GET /presence`: who attests whom (SPEC §9). All that the API computes about presence is here.

use super::App;
use super::error::Failure;
use super::extract::{Asked, Peer};
use crate::backend::Tip;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{
    ApiError, AttesterView, HexAddress, HexHash, PresenceRow, PresenceView, Uint,
};
use remuda_protocol::chain::Validator;
use remuda_protocol::dispatcher::filter::Entry;
use remuda_protocol::key::{AttestationKey, ChainKey, PresenceKey, ValidatorsKey};
use remuda_protocol::presence::{
    AttestationRecord, Bitmap, PRESENCE_TIMEOUT_BLOCKS, PresenceState, SubsetEpoch, ValidatorKey,
    presence_threshold, subset, subset_size,
};
use remuda_protocol::primitives::{B256, Slot};
use remuda_protocol::state::{Indexed, read};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use utoipa::IntoParams;

/// A runner's subset is a hash for each validator. So many are as much work as a request.
const HASHES_PER_TOKEN: usize = 2_048;

/// Slots that are looked at for each row asked for.
const SLOTS_PER_ROW_MAX: usize = 16;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PresenceQuery {
    /// Only slots after this one.
    after: Option<u32>,
    /// So many rows at most.
    limit: Option<u32>,
}

/// Who attests whom: a row for each runner, a page at a time, ascending by slot.
#[utoipa::path(
    get, path = "/presence", tag = "chain", params(PresenceQuery),
    responses((status = 200, body = PresenceView), (status = "4XX", body = ApiError))
)]
pub(super) async fn presence(
    State(app): State<App>,
    peer: Peer,
    Asked(query): Asked<PresenceQuery>,
) -> Result<Json<PresenceView>, Failure> {
    let limit = query.limit.unwrap_or(app.limits.page).clamp(1, app.limits.page) as usize;
    let tip = app.tip();
    let connected: BTreeSet<Slot> = app.backend.presence_seen().into_iter().collect();
    let matrix = Matrix::new(&tip);
    let Page { entries, next } = Page::read(&tip, query.after, limit);
    let hashes = entries.len().saturating_mul(matrix.keys.len());
    let price = u32::try_from(hashes / HASHES_PER_TOKEN).unwrap_or(u32::MAX);
    app.allow(peer, price.min(app.limits.burst / 2))?;
    let row = |entry: &Arc<Entry>| matrix.row(entry, connected.contains(&entry.slot()));
    let rows: Vec<PresenceRow> = entries.iter().map(row).collect();
    let k = subset_size(matrix.keys.len());
    Ok(Json(PresenceView {
        height: Uint(tip.finalised.height().get()),
        policy: app.params().policy().name().to_owned(),
        epoch: Uint(matrix.state.map_or(0, |state| state.epoch.number)),
        epoch_start: Uint(matrix.state.map_or(0, |state| state.epoch.start.get())),
        seed: HexHash(matrix.state.map_or(B256::ZERO, |state| state.epoch.seed)),
        previous_seed: matrix.previous().map(|epoch| HexHash(epoch.seed)),
        newest_certificate: matrix
            .state
            .and_then(|state| state.newest_certificate)
            .map(|height| Uint(height.get())),
        subset_size: u32::try_from(k).unwrap_or(u32::MAX),
        threshold: u32::try_from(presence_threshold(k)).unwrap_or(u32::MAX),
        validators: matrix.attesters(),
        rows,
        next,
    }))
}

/// Some runners, ascending by slot.
struct Page {
    entries: Vec<Arc<Entry>>,
    next: Option<u32>,
}

impl Page {
    /// A walk over so many slots at most: where many have left, a page is short and says where to
    /// go on.
    fn read(tip: &Tip, after: Option<u32>, limit: usize) -> Self {
        let roster = tip.state.roster();
        let chain = read(&tip.state, &ChainKey {});
        let end = chain.map_or(0, |chain| chain.next_slot.get());
        let start = after.map_or(0, |after| after.saturating_add(1));
        let mut page = Self { entries: Vec::new(), next: None };
        for (steps, slot) in (start..end).enumerate() {
            if page.entries.len() >= limit || steps >= limit * SLOTS_PER_ROW_MAX {
                page.next = Some(slot - 1);
                break;
            }
            page.entries.extend(roster.entry(Slot(slot)).cloned());
        }
        page
    }
}

/// What the state says about presence.
struct Matrix {
    height: u64,
    /// None before the first block.
    state: Option<PresenceState>,
    keys: Vec<ValidatorKey>,
    attestations: Vec<Option<AttestationRecord>>,
    /// Every validator's list of slots, ascending: what its bits are about.
    lists: Vec<Vec<Slot>>,
}

impl Matrix {
    fn new(tip: &Tip) -> Self {
        let view = &tip.state;
        let validators: Vec<Validator> = read(view, &ValidatorsKey {}).unwrap_or_default();
        let newest = |(validator, _)| read(view, &AttestationKey { validator });
        Self {
            height: tip.finalised.height().get(),
            state: read(view, &PresenceKey {}),
            lists: (0..).zip(&validators).map(|(i, _)| view.subsets().list(i)).collect(),
            attestations: (0..).zip(&validators).map(newest).collect(),
            keys: validators.iter().map(|validator| validator.key).collect(),
        }
    }

    /// The newest attestation of a validator, if it still counts.
    fn fresh(&self, validator: usize) -> Option<&AttestationRecord> {
        let record = self.attestations.get(validator)?.as_ref()?;
        (record.height.get() + PRESENCE_TIMEOUT_BLOCKS > self.height).then_some(record)
    }

    fn attesters(&self) -> Vec<AttesterView> {
        let view = |(index, key): (usize, &ValidatorKey)| AttesterView {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            key: HexHash(B256::new(*key)),
            attested_at: self.attestations[index].as_ref().map(|r| Uint(r.height.get())),
            fresh: self.fresh(index).is_some(),
        };
        self.keys.iter().enumerate().map(view).collect()
    }

    /// Numbers of the validators in `Sub(R)` for a seed.
    fn members(&self, entry: &Entry, seed: &B256) -> Vec<usize> {
        let members = subset(seed, &entry.profile.public_key.bytes, &self.keys);
        let number = |key| self.keys.iter().position(|known| known == key);
        let mut numbers: Vec<usize> = members.iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The epoch before, while its subsets count.
    fn previous(&self) -> Option<SubsetEpoch> {
        self.state.filter(|state| state.phase.overlap).and_then(|state| state.previous)
    }

    /// Whether a validator's newest attestation vouches for a slot. One from before places moved,
    /// which they do when a subset epoch begins and when its overlap ends, cannot be read here.
    fn vouches(&self, validator: usize, slot: Slot) -> bool {
        let read = || {
            let since = self.state?.phase.since;
            let record = self.fresh(validator).filter(|record| record.height >= since)?;
            let place = self.lists.get(validator)?.binary_search(&slot).ok()?;
            let bytes = record.bits.to_vec();
            let bitmap = Bitmap { bit_length: u32::try_from(bytes.len() * 8).ok()?, bytes };
            Some(bitmap.get(u32::try_from(place).ok()?))
        };
        read().unwrap_or(false)
    }

    fn row(&self, entry: &Entry, connected_here: bool) -> PresenceRow {
        let numbers = |list: Vec<usize>| -> Vec<u32> {
            list.into_iter().filter_map(|number| u32::try_from(number).ok()).collect()
        };
        let seed = self.state.map(|state| state.epoch.seed);
        let members = seed.map_or(Vec::new(), |seed| self.members(entry, &seed));
        let previous = self.previous().map_or(Vec::new(), |epoch| self.members(entry, &epoch.seed));
        let all: BTreeSet<usize> = members.iter().chain(&previous).copied().collect();
        let vouching = all.into_iter().filter(|member| self.vouches(*member, entry.slot()));
        let attested_by = Some(numbers(vouching.collect()));
        PresenceRow {
            slot: entry.slot().get(),
            runner: HexAddress(entry.address),
            present: entry.candidacy.present,
            members: numbers(members),
            previous_members: numbers(previous),
            attested_by,
            connected_here,
        }
    }
}
