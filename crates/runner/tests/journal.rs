//! What survives a restart.

use remuda_protocol::codec::Bytes;
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    DataFormat, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::primitives::{Amount, B256};
use remuda_runner::journal::{Entry, Journal, Outcome, Stage};
use std::path::PathBuf;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("remuda-journal-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn spec() -> JobSpec {
    JobSpec {
        job_type: JobType::Custom {
            executor_hash: B256::repeat_byte(3),
            params: Bytes(vec![1, 2]),
        },
        bounds: ResourceBounds::default(),
        verification: Verification {
            mode: VerificationMode::None,
            runners: 1,
            threshold: 1,
            checks: Vec::new(),
        },
        result_schema: ResultSchema {
            max_return_bytes: 100,
            expected_execution_ms: 10,
            data_format: DataFormat::Bytes,
        },
        max_price: Amount(5),
        tip: Amount(0),
        timeout_blocks: 60,
        callback: None,
        tee_required: false,
        secrets: Vec::new(),
        required_runner_pool: None,
    }
}

fn entry(number: u8, stage: Stage) -> Entry {
    Entry { job_id: B256::repeat_byte(number), attempt: 1, spec: spec(), stage }
}

fn outcome() -> Outcome {
    let result_sig = SecretKey::from_label("runner").sign(&B256::ZERO);
    Outcome { delivery: vec![0, 255, 7].into(), salt: B256::repeat_byte(4), result_sig }
}

#[test]
fn every_stage_is_read_as_it_was_written() {
    let folder = Folder::new("stages");
    let journal = Journal::open(&folder.0).unwrap();
    let entries = [
        entry(1, Stage::Taken),
        entry(2, Stage::Begun),
        entry(3, Stage::Done(outcome())),
        entry(4, Stage::Failed("no route".to_owned())),
    ];
    for entry in &entries {
        journal.write(entry).unwrap();
    }
    let again = Journal::open(&folder.0).unwrap();
    assert_eq!(again.read().unwrap(), (entries.to_vec(), Vec::new()));
    again.remove(entries[0].job_id, 1).unwrap();
    again.remove(entries[0].job_id, 1).unwrap();
    assert_eq!(again.read().unwrap().0, entries[1..]);
}

#[test]
fn a_later_stage_replaces_the_earlier_and_a_draft_counts_for_nothing() {
    let folder = Folder::new("replaced");
    let journal = Journal::open(&folder.0).unwrap();
    journal.write(&entry(1, Stage::Begun)).unwrap();
    // A crash in the middle of the next write leaves half a draft.
    let job = B256::repeat_byte(1);
    std::fs::write(folder.0.join(format!("{job:x}-1.new")), b"{\"version\":").unwrap();
    assert_eq!(journal.read().unwrap(), (vec![entry(1, Stage::Begun)], Vec::new()));
    journal.write(&entry(1, Stage::Done(outcome()))).unwrap();
    assert_eq!(journal.read().unwrap().0, [entry(1, Stage::Done(outcome()))]);
}

#[test]
fn files_that_are_none_of_ours_are_named_and_left_alone() {
    let folder = Folder::new("foreign");
    let journal = Journal::open(&folder.0).unwrap();
    journal.write(&entry(1, Stage::Taken)).unwrap();
    let job = B256::repeat_byte(1);
    let copied = folder.0.join(format!("{job:x}-2.json"));
    std::fs::copy(folder.0.join(format!("{job:x}-1.json")), &copied).unwrap();
    let broken = folder.0.join("broken.json");
    std::fs::write(&broken, b"{").unwrap();
    let (entries, mut unreadable) = journal.read().unwrap();
    unreadable.sort();
    let mut expected = vec![copied, broken.clone()];
    expected.sort();
    assert_eq!((entries.len(), unreadable), (1, expected));
    assert!(broken.exists());
}

fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn open_up(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn only_file(folder: &std::path::Path) -> PathBuf {
    std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn results_and_salts_are_for_their_owner_alone() {
    let folder = Folder::new("private");
    let jobs = folder.0.join("jobs");
    let journal = Journal::open(&jobs).unwrap();
    journal.write(&entry(1, Stage::Done(outcome()))).unwrap();
    assert_eq!((mode(&jobs), mode(&only_file(&jobs))), (0o700, 0o600));
    assert_eq!(mode(&folder.0), 0o700, "folders on the way are new, too");
}

#[test]
fn a_journal_that_others_could_read_is_tightened_when_it_is_opened() {
    let folder = Folder::new("tightened");
    let journal = Journal::open(&folder.0).unwrap();
    journal.write(&entry(1, Stage::Done(outcome()))).unwrap();
    let file = only_file(&folder.0);
    open_up(&folder.0, 0o755);
    open_up(&file, 0o644);
    let elsewhere = std::env::temp_dir().join(format!("remuda-elsewhere-{}", std::process::id()));
    std::fs::write(&elsewhere, "x").unwrap();
    open_up(&elsewhere, 0o644);
    std::os::unix::fs::symlink(&elsewhere, folder.0.join("link.json")).unwrap();

    let (entries, _) = Journal::open(&folder.0).unwrap().read().unwrap();
    assert_eq!(entries, [entry(1, Stage::Done(outcome()))]);
    assert_eq!((mode(&folder.0), mode(&file)), (0o700, 0o600));
    assert_eq!(mode(&elsewhere), 0o644, "a link leads to somebody else's file");
    std::fs::remove_file(elsewhere).unwrap();
}
