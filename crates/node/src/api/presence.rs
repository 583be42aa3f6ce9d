//! `GET /presence`: who attests whom (SPEC §9). All that the API computes about presence is here.

use super::App;
use super::error::Failure;
use super::extract::Asked;
use crate::backend::Tip;
use axum::Json;
use axum::extract::State;
use remuda_client::types::{
    ApiError, AttesterView, HexAddress, HexHash, PresenceRow, PresenceView, Uint,
};
use remuda_protocol::chain::Validator;
use remuda_protocol::dispatcher::filter::Entry;
use remuda_protocol::dispatcher::roster::Roster;
use remuda_protocol::key::{AttestationKey, ChainKey, PresenceKey, ValidatorsKey};
use remuda_protocol::presence::{
    AttestationRecord, Bitmap, PRESENCE_TIMEOUT_BLOCKS, PresenceState, ValidatorKey,
    presence_threshold, subset, subset_size,
};
use remuda_protocol::primitives::{B256, Slot};
use remuda_protocol::state::{View, read};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use utoipa::IntoParams;

/// Slots that are looked at for each row asked for.
const SLOTS_PER_ROW_MAX: usize = 16;

/// Runners up to which a request works out everybody's lists, to read packed bits with: a hash for
/// each runner and validator.
const LISTED_RUNNERS_MAX: usize = 1_024;

#[derive(Debug, Deserialize, IntoParams)]
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
    Asked(query): Asked<PresenceQuery>,
) -> Result<Json<PresenceView>, Failure> {
    let limit = query.limit.unwrap_or(app.limits.page).clamp(1, app.limits.page) as usize;
    let tip = app.tip();
    let connected: BTreeSet<Slot> = app.backend.presence_seen().into_iter().collect();
    let matrix = Matrix::new(&tip);
    let lists = matrix.lists(&tip.state.roster());
    let Page { entries, next } = Page::read(&tip, query.after, limit);
    let row = |entry: &Arc<Entry>| matrix.row(entry, &lists, connected.contains(&entry.slot()));
    let rows: Vec<PresenceRow> = entries.iter().map(row).collect();
    let k = subset_size(matrix.keys.len());
    Ok(Json(PresenceView {
        height: Uint(tip.finalised.height().get()),
        policy: app.params().policy().name().to_owned(),
        epoch: Uint(matrix.state.epoch),
        epoch_start: Uint(matrix.state.epoch_start.get()),
        seed: HexHash(matrix.state.seed),
        previous_seed: matrix.state.previous_seed.map(HexHash),
        newest_certificate: matrix.state.newest_certificate.map(|height| Uint(height.get())),
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
    state: PresenceState,
    keys: Vec<ValidatorKey>,
    attestations: Vec<Option<AttestationRecord>>,
}

/// Every validator's list of slots, ascending; none if that is too much to work out.
type Lists = Option<Vec<Vec<Slot>>>;

impl Matrix {
    fn new(tip: &Tip) -> Self {
        let view = &tip.state;
        let validators: Vec<Validator> = read(view, &ValidatorsKey {}).unwrap_or_default();
        let newest = |(validator, _)| read(view, &AttestationKey { validator });
        Self {
            height: tip.finalised.height().get(),
            state: read(view, &PresenceKey {}).unwrap_or_default(),
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

    /// The lists that attestations pack their bits by: during the overlap, the union of both
    /// epochs' lists.
    fn lists(&self, roster: &Roster) -> Lists {
        if (0..self.keys.len()).all(|validator| self.fresh(validator).is_none()) {
            return Some(vec![Vec::new(); self.keys.len()]);
        }
        // One step further than allowed is enough to know.
        if roster.entries().take(LISTED_RUNNERS_MAX + 1).count() > LISTED_RUNNERS_MAX {
            return None;
        }
        let mut lists: Vec<BTreeSet<Slot>> = vec![BTreeSet::new(); self.keys.len()];
        for entry in roster.entries() {
            for seed in [Some(self.state.seed), self.state.previous_seed].into_iter().flatten() {
                for member in self.members(entry, &seed) {
                    lists[member].insert(entry.slot());
                }
            }
        }
        Some(lists.into_iter().map(|list| list.into_iter().collect()).collect())
    }

    fn row(&self, entry: &Entry, lists: &Lists, connected_here: bool) -> PresenceRow {
        let numbers = |list: Vec<usize>| -> Vec<u32> {
            list.into_iter().filter_map(|number| u32::try_from(number).ok()).collect()
        };
        let members = self.members(entry, &self.state.seed);
        let previous = self.state.previous_seed;
        let previous = previous.map_or(Vec::new(), |seed| self.members(entry, &seed));
        let attests = |member: &usize, lists: &[Vec<Slot>]| {
            let record = self.fresh(*member)?;
            let place = lists.get(*member)?.binary_search(&entry.slot()).ok()?;
            let bytes = record.bits.to_vec();
            let bitmap = Bitmap { bit_length: u32::try_from(bytes.len() * 8).ok()?, bytes };
            bitmap.get(u32::try_from(place).ok()?).then_some(*member)
        };
        let attested_by = lists.as_ref().map(|lists| {
            let all: BTreeSet<usize> = members.iter().chain(&previous).copied().collect();
            numbers(all.iter().filter_map(|member| attests(member, lists)).collect())
        });
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

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_protocol::codec::{Bytes, Encode};
    use remuda_protocol::crypto::SecretKey;
    use remuda_protocol::dispatcher::spec::JobKind;
    use remuda_protocol::local::LocalChain;
    use remuda_protocol::params::ChainParams;
    use remuda_protocol::primitives::{Address, Amount, Height};
    use remuda_protocol::registry::register::plain_offer;
    use remuda_protocol::state::{MemoryState, StateKey};
    use remuda_protocol::transaction::Instruction;

    const VALIDATORS: u8 = 7;

    /// Six runners, seven validators, of which those in `attesting` have seen everybody on their
    /// lists at height `at`; the chain stands at 100.
    fn tip(attesting: &[u32], at: u64) -> Tip {
        let params = ChainParams::development();
        let keys: Vec<SecretKey> =
            (0..6).map(|i| SecretKey::from_label(&format!("runner {i}"))).collect();
        let balances = keys.iter().map(|key| (key.address(), Amount::cby(100_000)));
        let mut chain = LocalChain::start(params.clone(), balances, Vec::new()).unwrap();
        for key in &keys {
            let offer = plain_offer(&[JobKind::Http]);
            chain.send(key, Instruction::RegisterRunner { stake: Amount::cby(20_000), offer });
        }
        chain.step();
        let validators: Vec<Validator> = (0..VALIDATORS)
            .map(|i| Validator { key: [i; 32], fee_recipient: Address::ZERO })
            .collect();
        let presence = PresenceState { seed: B256::repeat_byte(5), ..PresenceState::default() };
        let mut entries = chain.state.entries().clone();
        entries.insert(ValidatorsKey {}.bytes(), validators.to_bytes());
        entries.insert(PresenceKey {}.bytes(), presence.to_bytes());
        for validator in attesting {
            let record = AttestationRecord { height: Height(at), bits: Bytes(vec![0xff]) };
            let key = AttestationKey { validator: *validator };
            entries.insert(key.bytes(), record.to_bytes());
        }
        let finalised = Arc::new(crate::api::index::tests::block(100, &[], Vec::new()));
        Tip { finalised, state: MemoryState::new(entries, &params) }
    }

    fn rows(tip: &Tip) -> Vec<PresenceRow> {
        let matrix = Matrix::new(tip);
        let lists = matrix.lists(&tip.state.roster());
        let page = Page::read(tip, None, 100);
        page.entries.iter().map(|entry| matrix.row(entry, &lists, false)).collect()
    }

    #[test]
    fn a_runner_is_attested_by_those_of_its_subset_that_saw_it() {
        let attesting = [0, 2, 3, 6];
        let rows = rows(&tip(&attesting, 99));
        assert_eq!(rows.len(), 6);
        for row in rows {
            assert_eq!(row.members.len(), subset_size(VALIDATORS.into()));
            let expected: Vec<u32> =
                row.members.iter().copied().filter(|m| attesting.contains(m)).collect();
            assert_eq!(row.attested_by, Some(expected));
        }
    }

    #[test]
    fn an_old_attestation_says_nothing() {
        let newest = 100 - PRESENCE_TIMEOUT_BLOCKS;
        assert!(
            rows(&tip(&[0, 1, 2, 3, 4, 5, 6], newest))
                .iter()
                .all(|row| row.attested_by == Some(vec![]))
        );
        assert!(
            rows(&tip(&[0, 1, 2, 3, 4, 5, 6], newest + 1))
                .iter()
                .all(|row| row.attested_by.as_ref() == Some(&row.members))
        );
    }

    #[test]
    fn pages_walk_over_slots() {
        let tip = tip(&[], 0);
        let page = Page::read(&tip, None, 4);
        assert_eq!((page.entries.len(), page.next), (4, Some(3)));
        let page = Page::read(&tip, page.next, 4);
        assert_eq!((page.entries.len(), page.next), (2, None));
        let page = Page::read(&tip, Some(u32::MAX), 4);
        assert_eq!((page.entries.len(), page.next), (0, None));
    }
}
