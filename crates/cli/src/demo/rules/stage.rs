//! The chain that the story plays on, and a log of everything that happened.

use super::cast::{Cast, Person};
use super::sentence::sentence;
use crate::demo::teller::Teller;
use crate::format::thousandths;
use crate::style::Tone;
use remuda_protocol::chain::EpochCommittee;
use remuda_protocol::dispatcher::committee::m_target;
use remuda_protocol::dispatcher::job::{Job, Status};
use remuda_protocol::error::{Inadmissible, Refusal};
use remuda_protocol::event::Event;
use remuda_protocol::key::EpochCommitteeKey;
use remuda_protocol::local::LocalChain;
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::{Address, Amount, B256, JobId, TxHash, keccak256};
use remuda_protocol::state::read;
use remuda_protocol::transaction::Instruction;
use std::collections::BTreeMap;

/// The first job is over when the first epoch boundary comes.
const EPOCH_BLOCKS: u64 = 12;
/// Nobody waits a minute of blocks for a reveal that never comes.
const AGGREGATOR_BLOCKS: u64 = 3;
const REVEAL_BLOCKS: u64 = 6;
/// Whatever the story waits for comes within so many blocks.
const PATIENCE_BLOCKS: u64 = 100;

/// Something happened that the rules do not allow here; the story cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surprise {
    /// The chain could not start.
    NoGenesis(String),
    /// A transaction did not get into a block.
    LeftOut(&'static str, Inadmissible),
    /// A transaction was turned down.
    Refused(&'static str, u16),
    /// Something that the rules promise did not happen.
    NeverHappened(&'static str),
}

impl core::fmt::Display for Surprise {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoGenesis(why) => write!(f, "the chain does not start: {why}"),
            Self::LeftOut(who, why) => write!(f, "a transaction by {who} is left out: {why}"),
            Self::Refused(who, code) => {
                let why = Refusal::from_code(*code).map(|refusal| refusal.to_string());
                write!(f, "a transaction by {who} is refused ({code}): {}", why.unwrap_or_default())
            }
            Self::NeverHappened(what) => write!(f, "this never happened: {what}"),
        }
    }
}

impl core::error::Error for Surprise {}

/// What a transaction paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fee {
    /// In which block.
    pub height: u64,
    /// Who signed it.
    pub payer: Address,
    /// Cycles consumed.
    pub cycles: u64,
    /// Cells consumed.
    pub cells: u64,
    /// Paid for both, basefee and tip.
    pub paid: Amount,
}

/// The committee size from a height on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// The first height.
    pub height: u64,
    /// Healthy runners.
    pub active: u64,
    /// Concentration of stake.
    pub hhi_nano: u64,
    /// The size that these ask for.
    pub m_target: u64,
    /// The size that jobs get.
    pub m_adaptive: u64,
}

/// Everything that happened, in order.
#[derive(Default)]
pub(super) struct Log {
    pub(super) events: Vec<(u64, Event)>,
    pub(super) fees: Vec<Fee>,
    pub(super) epochs: Vec<Epoch>,
}

/// The chain, who plays on it, and who tells about it.
pub(super) struct Stage<'a> {
    pub(super) chain: LocalChain,
    pub(super) cast: Cast,
    pub(super) log: Log,
    pub(super) teller: &'a mut Teller,
    /// Results by their hash: events carry the hash alone.
    results: BTreeMap<B256, String>,
    sent: BTreeMap<TxHash, (&'static str, Address)>,
}

impl<'a> Stage<'a> {
    pub(super) fn open(seed: &str, teller: &'a mut Teller) -> Result<Self, Surprise> {
        let cast = Cast::new(seed);
        let mut params = ChainParams::development();
        params.epoch_blocks = EPOCH_BLOCKS;
        params.aggregator_blocks = AGGREGATOR_BLOCKS;
        params.reveal_blocks = REVEAL_BLOCKS;
        let mut chain = LocalChain::start(params, cast.purses(), Vec::new())
            .map_err(|error| Surprise::NoGenesis(error.to_string()))?;
        chain.paranoid = true;
        let (log, results, sent) = (Log::default(), BTreeMap::new(), BTreeMap::new());
        Ok(Self { chain, cast, log, teller, results, sent })
    }

    pub(super) fn send(&mut self, who: &Person, instruction: Instruction) -> TxHash {
        let hash = self.chain.send(&who.key, instruction);
        self.sent.insert(hash, (who.name, who.address()));
        hash
    }

    /// Remembers a result by its hash.
    pub(super) fn note_result(&mut self, result: &str) {
        self.results.insert(keccak256(result), result.to_owned());
    }

    pub(super) fn result(&self, hash: &B256) -> Option<&str> {
        self.results.get(hash).map(String::as_str)
    }

    pub(super) fn job(&self, job: JobId) -> Result<Job, Surprise> {
        self.chain.job(job).ok_or(Surprise::NeverHappened("a job was submitted"))
    }

    /// Makes a block, and tells what happened in it.
    pub(super) fn step(&mut self) -> Result<(), Surprise> {
        let outcome = self.chain.step();
        let height = self.chain.height().get();
        self.take_receipts(height)?;
        self.note_epoch(height);
        for event in outcome.events() {
            if let Some((tone, text)) = sentence(self, event) {
                self.teller.at(height, tone, &text);
            }
            self.log.events.push((height, event.clone()));
        }
        Ok(())
    }

    /// Makes blocks until a job is where the story needs it.
    pub(super) fn wait(
        &mut self,
        job: JobId,
        what: &'static str,
        is_there: impl Fn(&Status) -> bool,
    ) -> Result<Job, Surprise> {
        for _ in 0..PATIENCE_BLOCKS {
            let record = self.job(job)?;
            if is_there(&record.status) {
                return Ok(record);
            }
            self.step()?;
        }
        Err(Surprise::NeverHappened(what))
    }

    /// Every transaction of the story is a legal one: each gets into its block and is accepted.
    fn take_receipts(&mut self, height: u64) -> Result<(), Surprise> {
        for (hash, (who, payer)) in core::mem::take(&mut self.sent) {
            if let Some(why) = self.chain.left_out(hash) {
                return Err(Surprise::LeftOut(who, why));
            }
            let receipt = self.chain.receipt(hash);
            let receipt = receipt.ok_or(Surprise::NeverHappened("a transaction's receipt"))?;
            if receipt.code != 0 {
                return Err(Surprise::Refused(who, receipt.code));
            }
            let (cycles, cells) = (receipt.used.cycles.get(), receipt.used.cells.get());
            self.log.fees.push(Fee { height, payer, cycles, cells, paid: receipt.fee });
        }
        Ok(())
    }

    fn note_epoch(&mut self, height: u64) {
        let params = &self.chain.params;
        let committee: Option<EpochCommittee> = read(&self.chain.state, &EpochCommitteeKey {});
        let Some(EpochCommittee { active, hhi_nano: Some(hhi_nano), m_adaptive }) = committee
        else {
            return;
        };
        if !height.is_multiple_of(params.epoch_blocks) {
            return;
        }
        let (least, most) = (params.m_min, params.m_max);
        let m_target = m_target(active, hhi_nano, params.hhi_min_nano);
        self.log.epochs.push(Epoch { height, active, hhi_nano, m_target, m_adaptive });
        let hhi = thousandths(hhi_nano);
        let mut text = format!("epoch boundary: {active} healthy runners, HHI {hhi}: ");
        // The arithmetic once; later boundaries only say what comes of it.
        if self.log.epochs.len() == 1 {
            text += &format!("ceil(2·log2({active}) / {hhi}) = {m_target}, ");
            text += &format!("kept between {least} and {most}: ");
        }
        text += &format!("M = {m_adaptive}");
        self.teller.at(height, Tone::Plain, &text);
    }
}
