//! Where things are in the blocks: transactions, jobs, hashes. For backends that keep it in memory,
//! for the newest blocks; it follows from the blocks alone and can be built again from them.

use crate::backend::Finalised;
use remuda_client::types::{JobPlace, Subject};
use remuda_protocol::event::Event;
use remuda_protocol::primitives::{Address, B256, Height, JobId, TxHash};
use remuda_protocol::transaction::tx_hash;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;

/// An index over the newest blocks.
#[derive(Debug)]
pub struct Index {
    keep_blocks: usize,
    keep_entries: usize,
    /// What all blocks mention.
    entries: usize,
    blocks: VecDeque<Mentioned>,
    hashes: HashMap<B256, Height>,
    transactions: HashMap<TxHash, (Height, u32)>,
    jobs: HashMap<JobId, BTreeSet<Height>>,
    /// Jobs in the order of their submission, and the same by submitter.
    submitted: BTreeMap<JobPlace, JobId>,
    by_submitter: HashMap<Address, BTreeSet<JobPlace>>,
    /// Jobs by seated runner. A job leaves when it ends, however long that takes.
    open: BTreeMap<Address, BTreeSet<JobId>>,
    seated: HashMap<JobId, BTreeSet<Address>>,
}

/// What a block mentions, so that it can be forgotten.
#[derive(Debug)]
struct Mentioned {
    height: Height,
    hash: B256,
    transactions: Vec<TxHash>,
    jobs: BTreeSet<JobId>,
    /// Who submitted jobs, in order.
    submitters: Vec<Address>,
}

impl Mentioned {
    /// How many entries it has in the index, itself included.
    fn len(&self) -> usize {
        1 + self.transactions.len() + self.jobs.len() + self.submitters.len()
    }
}

impl Index {
    /// Keeps the newest blocks: so many, and no more than mention so many things together. The
    /// newest one is always kept.
    pub fn new(blocks: usize, entries: usize) -> Self {
        Self {
            keep_blocks: blocks.max(1),
            keep_entries: entries,
            entries: 0,
            blocks: VecDeque::new(),
            hashes: HashMap::new(),
            transactions: HashMap::new(),
            jobs: HashMap::new(),
            submitted: BTreeMap::new(),
            by_submitter: HashMap::new(),
            open: BTreeMap::new(),
            seated: HashMap::new(),
        }
    }

    /// Takes in the next block.
    pub fn apply(&mut self, finalised: &Finalised) {
        let height = finalised.height();
        let mut mentioned = Mentioned {
            height,
            hash: finalised.hash,
            transactions: Vec::new(),
            jobs: BTreeSet::new(),
            submitters: Vec::new(),
        };
        for (index, bytes) in (0..).zip(&finalised.block.transactions) {
            let hash = tx_hash(bytes);
            self.transactions.insert(hash, (height, index));
            mentioned.transactions.push(hash);
        }
        for event in finalised.receipts.iter().flat_map(|receipt| &receipt.events) {
            mentioned.jobs.extend(Subject::of(event).jobs);
            self.seat(event);
            if let Some((job, submitter)) = submission(event) {
                let index = u32::try_from(mentioned.submitters.len()).unwrap_or(u32::MAX);
                let place = JobPlace { height: height.get(), index };
                self.submitted.insert(place, job);
                self.by_submitter.entry(submitter).or_default().insert(place);
                mentioned.submitters.push(submitter);
            }
        }
        for job in &mentioned.jobs {
            self.jobs.entry(*job).or_default().insert(height);
        }
        self.hashes.insert(finalised.hash, height);
        self.entries += mentioned.len();
        self.blocks.push_back(mentioned);
        let many = |index: &Self| {
            let blocks = index.blocks.len();
            blocks > index.keep_blocks || (blocks > 1 && index.entries > index.keep_entries)
        };
        while many(self) {
            self.forget_oldest();
        }
    }

    fn seat(&mut self, event: &Event) {
        match event {
            Event::JobAssigned { job, runners, .. } => {
                for runner in runners {
                    self.open.entry(*runner).or_default().insert(*job);
                    self.seated.entry(*job).or_default().insert(*runner);
                }
            }
            Event::JobSettled { job, .. }
            | Event::JobFailed { job, .. }
            | Event::JobCancelled { job, .. } => {
                for runner in self.seated.remove(job).unwrap_or_default() {
                    let Some(jobs) = self.open.get_mut(&runner) else { continue };
                    jobs.remove(job);
                    if jobs.is_empty() {
                        self.open.remove(&runner);
                    }
                }
            }
            _ => {}
        }
    }

    fn forget_oldest(&mut self) {
        let Some(old) = self.blocks.pop_front() else { return };
        self.entries -= old.len();
        self.hashes.remove(&old.hash);
        for hash in &old.transactions {
            self.transactions.remove(hash);
        }
        for (index, submitter) in (0..).zip(&old.submitters) {
            let place = JobPlace { height: old.height.get(), index };
            self.submitted.remove(&place);
            let Some(places) = self.by_submitter.get_mut(submitter) else { continue };
            places.remove(&place);
            if places.is_empty() {
                self.by_submitter.remove(submitter);
            }
        }
        for job in &old.jobs {
            let Some(heights) = self.jobs.get_mut(job) else { continue };
            heights.remove(&old.height);
            if heights.is_empty() {
                self.jobs.remove(job);
            }
        }
    }

    /// Height of the block that comes next.
    pub fn next(&self) -> Height {
        self.blocks.back().map_or(Height::ZERO, |newest| newest.height.plus(1))
    }

    /// The height of a block.
    pub fn height_of(&self, hash: B256) -> Option<Height> {
        self.hashes.get(&hash).copied()
    }

    pub fn transaction(&self, hash: TxHash) -> Option<(Height, u32)> {
        self.transactions.get(&hash).copied()
    }

    /// Blocks with events about a job.
    pub fn job_heights(&self, job: JobId) -> Vec<Height> {
        self.jobs.get(&job).map(|heights| heights.iter().copied().collect()).unwrap_or_default()
    }

    /// Jobs, or one submitter's, newest first: up to `limit` that come after a place in this order.
    pub fn jobs(
        &self,
        submitter: Option<Address>,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Vec<(JobPlace, JobId)> {
        let older = (Bound::Unbounded, after.map_or(Bound::Unbounded, Bound::Excluded));
        let Some(submitter) = submitter else {
            let newest = self.submitted.range(older).rev().take(limit);
            return newest.map(|(place, job)| (*place, *job)).collect();
        };
        let own = self.by_submitter.get(&submitter).into_iter();
        let newest = own.flat_map(|places| places.range(older).rev()).take(limit);
        newest.filter_map(|place| Some((*place, *self.submitted.get(place)?))).collect()
    }

    /// Jobs that a runner sits on.
    pub fn open_jobs(&self, runner: Address) -> Vec<JobId> {
        self.open.get(&runner).map(|jobs| jobs.iter().copied().collect()).unwrap_or_default()
    }
}

/// The job that an event brings into being, and who pays for it.
fn submission(event: &Event) -> Option<(JobId, Address)> {
    match event {
        Event::JobSubmitted { job, submitter, .. } => Some((*job, *submitter)),
        // A challenged result is worked out again by a job of the challenger's.
        Event::ResultChallenged { by_job, challenger, .. } => Some((*by_job, *challenger)),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use remuda_protocol::block::{Block, Header, StateCommitment};
    use remuda_protocol::codec::Bytes;
    use remuda_protocol::dispatcher::job::Failure;
    use remuda_protocol::event::{Cause, Receipt};
    use std::sync::Arc;

    pub(in crate::api) fn block(height: u64, transactions: &[u8], events: Vec<Event>) -> Finalised {
        let header = Header {
            parent: B256::ZERO,
            parent_view: 0,
            height: Height(height),
            round: Default::default(),
            proposer: [0; 32],
            timestamp_ms: 0,
            transactions_root: B256::ZERO,
            receipts_root: B256::ZERO,
            state: StateCommitment::default(),
            seeds_root: B256::ZERO,
            presence_hash: B256::ZERO,
        };
        let hash = header.hash();
        let transactions = transactions.iter().map(|byte| Bytes(vec![*byte])).collect();
        let block = Block { header, seeds: Vec::new(), presence: None, transactions };
        let (used, fee) = Default::default();
        let receipt = Receipt { cause: Cause::Opening, code: 0, used, fee, events };
        Finalised { block: Arc::new(block), hash, receipts: Arc::new(vec![receipt]), bytes: 0 }
    }

    const JOB: JobId = B256::repeat_byte(1);
    const RUNNER: Address = Address::repeat_byte(2);

    fn assigned() -> Event {
        Event::JobAssigned {
            job: JOB,
            attempt: 0,
            seed: B256::ZERO,
            runners: vec![RUNNER],
            aggregator: None,
            commit_by: Height(9),
        }
    }

    #[test]
    fn old_blocks_are_forgotten_and_open_jobs_are_not() {
        let mut index = Index::new(2, usize::MAX);
        let first = block(1, &[7, 8], vec![assigned()]);
        index.apply(&first);
        assert_eq!(index.transaction(tx_hash(&[8])), Some((Height(1), 1)));
        assert_eq!(index.height_of(first.hash), Some(Height(1)));
        index.apply(&block(2, &[], vec![Event::CommitsClosed { job: JOB }]));
        assert_eq!(index.job_heights(JOB), [Height(1), Height(2)]);
        index.apply(&block(3, &[], Vec::new()));
        assert_eq!(index.transaction(tx_hash(&[8])), None);
        assert_eq!(index.height_of(first.hash), None);
        assert_eq!(index.job_heights(JOB), [Height(2)]);
        assert_eq!(index.open_jobs(RUNNER), [JOB], "it has not ended");
        let reason = Failure::NoRunners;
        index.apply(&block(4, &[], vec![Event::JobFailed { job: JOB, reason }]));
        assert!(index.open_jobs(RUNNER).is_empty());
        index.apply(&block(5, &[], Vec::new()));
        index.apply(&block(6, &[], Vec::new()));
        assert!(index.jobs.is_empty() && index.transactions.is_empty() && index.seated.is_empty());
        assert_eq!(index.hashes.len(), 2);
    }

    #[test]
    fn jobs_are_listed_newest_first_and_forgotten_with_their_blocks() {
        let job = |n: u8| B256::repeat_byte(n);
        let (ann, bob) = (Address::repeat_byte(0xa), Address::repeat_byte(0xb));
        let submitted = |n, submitter| Event::JobSubmitted {
            job: job(n),
            submitter,
            escrow: Default::default(),
        };
        let challenged = Event::ResultChallenged { job: job(1), challenger: bob, by_job: job(4) };
        let mut index = Index::new(2, usize::MAX);
        index.apply(&block(1, &[], vec![submitted(1, ann), submitted(2, bob)]));
        index.apply(&block(2, &[], vec![submitted(3, ann), challenged]));
        let listed = |index: &Index, who, after, limit| -> Vec<JobId> {
            index.jobs(who, after, limit).into_iter().map(|(_, job)| job).collect()
        };
        assert_eq!(listed(&index, None, None, 9), [4, 3, 2, 1].map(job));
        assert_eq!(listed(&index, Some(ann), None, 9), [3, 1].map(job));
        assert_eq!(listed(&index, Some(bob), None, 1), [job(4)]);
        let after = |height, index| Some(JobPlace { height, index });
        assert_eq!(listed(&index, None, after(2, 0), 9), [2, 1].map(job));
        assert_eq!(listed(&index, Some(bob), after(2, 1), 9), [job(2)]);
        assert!(listed(&index, None, after(1, 0), 9).is_empty());
        index.apply(&block(3, &[], Vec::new()));
        assert_eq!(listed(&index, None, None, 9), [4, 3].map(job));
        assert_eq!(listed(&index, Some(bob), None, 9), [job(4)]);
        index.apply(&block(4, &[], Vec::new()));
        assert!(index.submitted.is_empty() && index.by_submitter.is_empty());
    }

    #[test]
    fn blocks_that_mention_much_push_out_more_of_the_old() {
        let mut index = Index::new(100, 10);
        for height in 0..4 {
            index.apply(&block(height, &[height as u8; 1], vec![assigned()]));
        }
        assert_eq!(
            (index.blocks.len(), index.entries),
            (3, 9),
            "a block, its transaction, its job"
        );
        assert_eq!(index.transaction(tx_hash(&[0])), None);
        assert_eq!(index.transaction(tx_hash(&[1])), Some((Height(1), 0)));
        index.apply(&block(4, &[10, 11, 12, 13, 14, 15, 16, 17, 18, 19], Vec::new()));
        assert_eq!((index.blocks.len(), index.entries), (1, 11), "the newest stays in any case");
        assert_eq!(index.transaction(tx_hash(&[19])), Some((Height(4), 9)));
        assert_eq!((index.transactions.len(), index.next()), (10, Height(5)));
    }
}
