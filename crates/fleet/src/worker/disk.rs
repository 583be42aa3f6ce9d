//! Watches how much of the disk a job uses: its folder and its `/tmp`.
//!
//! Counting takes time in proportion to the number of files. So the pause between two counts is a multiple
//! of the last one's duration, cut short when the disk's free space drops by an amount that the job could
//! have used up.

use super::files::{Held, held};
use super::job_dir::JobDir;
use super::steps::Ended;
use super::tree::Tree;
use rustix::fs::statvfs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Interval of free-space checks, which are cheap.
const FREE_SPACE_EVERY: Duration = Duration::from_millis(100);
/// Interval of checks of `/dev/shm`: its size is bounded, but not the kernel's memory for each file.
const SHARED_EVERY: Duration = Duration::from_millis(500);
/// Interval of counts while free space is stable.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Pause between counts, as a multiple of a count's duration: normally, and when free space drops.
const CALM_PART: u32 = 20;
const HASTE_PART: u32 = 3;
/// Open descriptors that are searched for deleted files. More are refused.
const OPEN_MAX: usize = 100_000;

/// Resolves when a job exceeds its bounds.
pub(super) async fn too_large(dir: &Arc<JobDir>, tree: &Tree, most: Held) -> Ended {
    tokio::select! {
        ended = on_disk(dir, tree, most) => ended,
        ended = in_memory(dir, tree, most) => ended,
    }
}

async fn in_memory(dir: &JobDir, tree: &Tree, most: Held) -> Ended {
    // Without its folder the job fails by itself.
    let Ok(about) = dir.folder.metadata() else { return std::future::pending().await };
    loop {
        sleep(SHARED_EVERY).await;
        if tree.shared(about.dev()).await.is_none_or(|files| files > most.files) {
            return Ended::OutOfDisk;
        }
    }
}

async fn on_disk(dir: &Arc<JobDir>, tree: &Tree, most: Held) -> Ended {
    loop {
        let began = Instant::now();
        let held = match look(dir, Some(tree), most).await {
            Ok(held) => held,
            Err(ended) => return ended,
        };
        let (cost, free) = (began.elapsed(), FreeSpace::of(dir));
        // A quarter of what is left to the job: other processes use the disk too.
        let left =
            Held { bytes: (most.bytes - held.bytes) / 4, files: (most.files - held.files) / 4 };
        loop {
            sleep(FREE_SPACE_EVERY).await;
            let waited = began.elapsed();
            let calm = waited >= LOOK_EVERY.max(cost * CALM_PART);
            if calm || waited >= cost * HASTE_PART && free.lost(&FreeSpace::of(dir), left) {
                break;
            }
        }
    }
}

/// Counts once. The error is how the job ends.
pub(super) async fn look(
    dir: &Arc<JobDir>,
    tree: Option<&Tree>,
    most: Held,
) -> Result<Held, Ended> {
    let (dir, tree) = (dir.clone(), tree.cloned());
    let looked = super::blocking::blocking(move |cancel| {
        let held = held(&[&dir.folder, &dir.temporary], most, cancel)?;
        let (Some(mut held), Some(tree)) = (held, &tree) else { return Ok(held) };
        let device = dir.folder.metadata()?.dev();
        let Some(unnamed) = tree.unnamed(device, OPEN_MAX) else { return Ok(None) };
        held.bytes = held.bytes.saturating_add(unnamed);
        Ok(Some(held).filter(|held| held.bytes <= most.bytes))
    });
    match looked.await.and_then(|looked: io::Result<Option<Held>>| looked) {
        Ok(Some(held)) => Ok(held),
        Ok(None) => Err(Ended::OutOfDisk),
        Err(error) => Err(Ended::Broken(format!("failed to count the job's files: {error}"))),
    }
}

/// Free space of the job's file system, if known.
#[derive(Clone, Copy)]
struct FreeSpace(Option<Held>);

impl FreeSpace {
    fn of(dir: &JobDir) -> Self {
        let about = statvfs(&dir.folder).ok();
        Self(about.map(|about| Held {
            bytes: about.f_bfree.saturating_mul(about.f_frsize),
            files: about.f_ffree,
        }))
    }

    /// Whether free space dropped by more than this.
    fn lost(&self, now: &Self, much: Held) -> bool {
        let (Some(before), Some(now)) = (self.0, now.0) else { return false };
        before.bytes.saturating_sub(now.bytes) > much.bytes
            || before.files.saturating_sub(now.files) > much.files
    }
}
