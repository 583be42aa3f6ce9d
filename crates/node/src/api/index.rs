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
