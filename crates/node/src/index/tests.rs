use super::*;
use crate::block::Block as WireBlock;
use alloy_primitives::hex;
use commonware_runtime::{Runner as _, Supervisor as _, deterministic};
use remuda_protocol::block::{Block, Header, StateCommitment};
use remuda_protocol::codec::Bytes;
use remuda_protocol::event::{Cause, Event, Receipt};
use remuda_protocol::transaction::tx_hash;

const JOB: JobId = B256::repeat_byte(1);

/// A proposer that is a key.
const KEY: [u8; 32] = hex!("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("remuda-index-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self, segment: u64) -> Index {
        Index::open(&self.0, Limits { segment, ..Limits::default() }).expect("a directory")
    }

    fn log(&self) -> PathBuf {
        self.0.join("log")
    }

    fn segments(&self) -> Vec<PathBuf> {
        Segment::paths(&self.0).expect("a directory")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn block(height: u64, transactions: &[&[u8]], events: Vec<Event>) -> Finalised {
    let header = Header {
        parent: B256::ZERO,
        parent_view: 0,
        height: Height(height),
        round: Default::default(),
        proposer: KEY,
        timestamp_ms: 0,
        transactions_root: B256::ZERO,
        receipts_root: B256::ZERO,
        state: StateCommitment::default(),
        seeds_root: B256::ZERO,
        presence_hash: B256::ZERO,
    };
    let transactions = transactions.iter().map(|bytes| Bytes(bytes.to_vec())).collect();
    let block = Block { header, seeds: Vec::new(), presence: None, transactions };
    let (used, fee) = Default::default();
    let receipt = Receipt { cause: Cause::Opening, code: 0, used, fee, events };
    Finalised::new(Arc::new(block), Arc::new(vec![receipt]), 0)
}

fn job(n: u64) -> JobId {
    B256::left_padding_from(&(n + 1).to_be_bytes())
}

fn submitter(n: u64) -> Address {
    Address::repeat_byte(n as u8)
}

/// Two transactions, one or two submissions, and an event about a job that every block has.
fn busy(height: u64) -> Finalised {
    let (a, b) = (format!("{height} a"), format!("{height} b"));
    let submitted = |n: u64| Event::JobSubmitted {
        job: job(n),
        submitter: submitter(n % 3),
        escrow: Default::default(),
    };
    let mut events = vec![Event::CommitsClosed { job: JOB }, submitted(2 * height)];
    if height.is_multiple_of(2) {
        let (challenger, by_job) = (submitter(7), job(2 * height + 1));
        events.push(Event::ResultChallenged { job: job(2 * height), challenger, by_job });
    }
    block(height, &[a.as_bytes(), b.as_bytes()], events)
}

/// Every lookup there is, over `0..blocks`.
fn answers(index: &Index, blocks: u64) -> String {
    let mut out = String::new();
    for height in 0..blocks {
        let transaction = tx_hash(format!("{height} b").as_bytes());
        out +=
            &format!("{:?}", (index.height_of(busy(height).hash), index.transaction(transaction)));
        let (even, odd) = (job(2 * height), job(2 * height + 1));
        out += &format!("{:?}", (index.job_heights(even), index.job_heights(odd)));
    }
    out += &format!("{:?}", index.job_heights(JOB));
    for who in [None, Some(submitter(0)), Some(submitter(2)), Some(submitter(7))] {
        let (mut after, mut pages) = (None, 0);
        loop {
            let page = index.jobs(who, after, 5);
            out += &format!("{page:?}\n");
            after = page.last().map(|(place, _)| *place);
            pages += 1;
            if page.is_empty() {
                break;
            }
        }
        out += &pages.to_string();
    }
    out
}

#[test]
fn lookups_do_not_depend_on_where_segments_end_and_survive_a_restart() {
    let blocks = 60;
    let whole = Directory::new("whole");
    let in_memory = whole.open(u64::MAX);
    (0..blocks).for_each(|height| in_memory.apply(&busy(height)));
    assert_eq!(in_memory.transaction(tx_hash(b"7 b")), Some((Height(7), 1)));
    assert_eq!(in_memory.transaction(busy(7).hash), None, "a block is no transaction");
    assert_eq!(in_memory.height_of(busy(7).hash), Some(Height(7)));
    assert_eq!(in_memory.height_of(tx_hash(b"7 b")), None);
    assert_eq!(in_memory.job_heights(JOB), (0..blocks).map(Height).collect::<Vec<_>>());
    let newest: Vec<JobId> =
        in_memory.jobs(None, None, 3).into_iter().map(|(_, job)| job).collect();
    assert_eq!(newest, [job(118), job(117), job(116)]);
    let expected = answers(&in_memory, blocks + 2);
    for segment in [1, 7, 50, 10_000] {
        let directory = Directory::new(&format!("segments-{segment}"));
        let index = directory.open(segment);
        (0..blocks).for_each(|height| index.apply(&busy(height)));
        assert_eq!(answers(&index, blocks + 2), expected, "segments of {segment}");
        drop(index);
        let index = directory.open(segment);
        assert_eq!((index.next(), answers(&index, blocks + 2)), (Height(blocks), expected.clone()));
        assert_eq!(directory.segments().is_empty(), segment == 10_000);
        let in_memory = index.read().recent.entries();
        assert!(in_memory <= segment, "memory does not grow: {in_memory}");
    }
}

#[test]
fn the_oldest_segments_are_forgotten() {
    let directory = Directory::new("limits");
    // A busy block has six or eight entries.
    let limits = Limits { blocks: 10, entries: u64::MAX, segment: 14 };
    let index = Index::open(&directory.0, limits).unwrap();
    (0..40).for_each(|height| index.apply(&busy(height)));
    let found = (0..40).filter(|height| index.height_of(busy(*height).hash).is_some()).count();
    assert!((8..=10).contains(&found), "{found}");
    assert_eq!(index.transaction(tx_hash(b"3 a")), None);
    assert_eq!(index.job_heights(JOB).len(), found);
    assert_eq!(directory.segments().len(), index.read().segments.0.len());
    let limits = Limits { blocks: u64::MAX, entries: 70, segment: 14 };
    let directory = Directory::new("entries");
    let index = Index::open(&directory.0, limits).unwrap();
    (0..40).for_each(|height| index.apply(&busy(height)));
    let found = (0..40).filter(|height| index.height_of(busy(*height).hash).is_some()).count();
    assert!((8..=12).contains(&found), "{found}");
    let crowd: Vec<Vec<u8>> = (0..99_u8).map(|n| vec![n]).collect();
    let crowd: Vec<&[u8]> = crowd.iter().map(Vec::as_slice).collect();
    index.apply(&block(40, &crowd, Vec::new()));
    assert_eq!(index.transaction(tx_hash(&[98])), Some((Height(40), 98)), "the newest stays");
    assert_eq!(index.height_of(busy(38).hash), None);
}

#[test]
fn a_torn_log_loses_its_torn_block_and_nothing_before() {
    let directory = Directory::new("torn");
    let index = directory.open(u64::MAX);
    (0..5).for_each(|height| index.apply(&busy(height)));
    let before = fs::read(directory.log()).unwrap();
    index.apply(&busy(5));
    let whole = fs::read(directory.log()).unwrap();
    drop(index);
    for length in before.len()..whole.len() {
        fs::write(directory.log(), &whole[..length]).unwrap();
        assert_eq!(directory.open(u64::MAX).next(), Height(5), "cut to {length} bytes");
        assert_eq!(fs::read(directory.log()).unwrap(), before);
    }
    for at in before.len()..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(directory.log(), &damaged).unwrap();
        assert_eq!(directory.open(u64::MAX).next(), Height(5), "byte {at} is another");
    }
    let index = directory.open(u64::MAX);
    index.apply(&busy(5));
    assert_eq!(fs::read(directory.log()).unwrap(), whole);
}

#[test]
fn a_kill_between_segment_and_log_repeats_nothing() {
    let directory = Directory::new("between");
    let index = directory.open(25);
    (0..2).for_each(|height| index.apply(&busy(height)));
    let log = fs::read(directory.log()).unwrap();
    index.apply(&busy(2));
    assert!(directory.segments().is_empty());
    index.apply(&busy(3));
    assert_eq!((directory.segments().len(), fs::read(directory.log()).unwrap().len()), (1, 0));
    let expected = answers(&index, 5);
    drop(index);
    // The log was not emptied, and another segment was not finished.
    fs::write(directory.log(), log).unwrap();
    fs::write(directory.0.join("segment-00000000000000000009.new"), b"half").unwrap();
    let index = directory.open(25);
    assert_eq!((index.next(), answers(&index, 5)), (Height(4), expected));
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 2);
}

#[test]
fn a_damaged_segment_is_removed_with_what_is_older() {
    let directory = Directory::new("damaged");
    let index = directory.open(1);
    (0..4).for_each(|height| index.apply(&busy(height)));
    drop(index);
    let segments = directory.segments();
    let bytes = fs::read(&segments[1]).unwrap();
    fs::write(&segments[1], &bytes[..bytes.len() - 1]).unwrap();
    let index = directory.open(1);
    assert_eq!((index.next(), index.job_heights(JOB)), (Height(4), vec![Height(2), Height(3)]));
    drop(index);
    fs::write(&segments[3], b"").unwrap();
    assert_eq!(directory.open(1).next(), Height(3), "the history has the rest");
}

/// What a start reads is in proportion to the blocks that the index lacks, not to the chain.
#[test]
fn a_start_reads_only_the_blocks_that_the_index_lacks() {
    deterministic::Runner::default().start(|context| async move {
        let directory = Directory::new("catch-up");
        let history = History::open(context.child("history"), "test").await;
        let genesis = busy(0);
        let record = async |heights: std::ops::Range<u64>| {
            for height in heights {
                let finalised = busy(height);
                let block =
                    WireBlock::new((*finalised.block).clone()).expect("its proposer is a key");
                history.record(height, &block, &finalised.receipts).await;
            }
        };
        assert_eq!(directory.open(50).catch_up(&history, &genesis).await, 0);
        record(1..201).await;
        let index = directory.open(50);
        assert_eq!(index.catch_up(&history, &genesis).await, 200);
        let expected = answers(&index, 201);
        drop(index);
        let index = directory.open(50);
        assert_eq!((index.catch_up(&history, &genesis).await, answers(&index, 201)), (0, expected));
        drop(index);
        for new in [0, 3, 0, 1] {
            let end = history.newest().await + 1;
            record(end..end + new).await;
            let index = directory.open(50);
            assert_eq!(index.catch_up(&history, &genesis).await, new);
            assert_eq!(index.next(), Height(end + new));
        }
        // A torn log costs the blocks of the log.
        fs::write(directory.log(), b"torn").unwrap();
        let index = directory.open(50);
        assert!(index.catch_up(&history, &genesis).await < 50);
        assert_eq!(index.next(), Height(205));
        drop(index);
        fs::remove_dir_all(&directory.0).unwrap();
        let limits = Limits { blocks: 30, ..Limits::default() };
        let index = Index::open(&directory.0, limits).unwrap();
        assert_eq!(index.catch_up(&history, &genesis).await, 30, "and no more than it keeps");
        assert_eq!(index.height_of(busy(175).hash), Some(Height(175)));
        assert_eq!(index.height_of(busy(174).hash), None);
    });
}
