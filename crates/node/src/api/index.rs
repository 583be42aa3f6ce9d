//! Where things are in the blocks: transactions, jobs, hashes. For backends that keep it in memory,
//! for the newest blocks; it follows from the blocks alone and can be built again from them.

use crate::backend::Finalised;
use remuda_client::types::Subject;
use remuda_protocol::event::Event;
use remuda_protocol::primitives::{Address, B256, Height, JobId, TxHash};
use remuda_protocol::transaction::tx_hash;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// An index over the newest blocks.
#[derive(Debug)]
pub struct Index {
    keep: usize,
    blocks: VecDeque<Mentioned>,
    hashes: HashMap<B256, Height>,
    transactions: HashMap<TxHash, (Height, u32)>,
    jobs: HashMap<JobId, BTreeSet<Height>>,
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
}

impl Index {
    /// Keeps the newest `keep` blocks.
    pub fn new(keep: usize) -> Self {
        Self {
            keep: keep.max(1),
            blocks: VecDeque::new(),
            hashes: HashMap::new(),
            transactions: HashMap::new(),
            jobs: HashMap::new(),
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
        };
        for (index, bytes) in (0..).zip(&finalised.block.transactions) {
            let hash = tx_hash(bytes);
            self.transactions.insert(hash, (height, index));
            mentioned.transactions.push(hash);
        }
        for event in finalised.receipts.iter().flat_map(|receipt| &receipt.events) {
            mentioned.jobs.extend(Subject::of(event).jobs);
            self.seat(event);
        }
        for job in &mentioned.jobs {
            self.jobs.entry(*job).or_default().insert(height);
        }
        self.hashes.insert(finalised.hash, height);
        self.blocks.push_back(mentioned);
        while self.blocks.len() > self.keep {
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
        self.hashes.remove(&old.hash);
        for hash in &old.transactions {
            self.transactions.remove(hash);
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

    /// Where a transaction is.
    pub fn transaction(&self, hash: TxHash) -> Option<(Height, u32)> {
        self.transactions.get(&hash).copied()
    }

    /// Blocks with events about a job.
    pub fn job_heights(&self, job: JobId) -> Vec<Height> {
        self.jobs.get(&job).map(|heights| heights.iter().copied().collect()).unwrap_or_default()
    }

    /// Jobs that a runner sits on.
    pub fn open_jobs(&self, runner: Address) -> Vec<JobId> {
        self.open.get(&runner).map(|jobs| jobs.iter().copied().collect()).unwrap_or_default()
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
        Finalised { block: Arc::new(block), hash, receipts: Arc::new(vec![receipt]) }
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
        let mut index = Index::new(2);
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
}
