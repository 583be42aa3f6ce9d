//! What a job has on the disk: its folder and its `/tmp`, counted while its steps run.
//!
//! Like memory it is watched and not held: what a job writes between two looks is not seen. A look takes
//! longer the more files there are, so the next one waits for a multiple of its time, unless the disk loses
//! room meanwhile as fast as the job could be taking it.

use super::files::{Held, held};
use super::place::Place;
use super::steps::Ended;
use super::tree::Tree;
use rustix::fs::statvfs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Between two looks at the room on the disk, which costs nothing.
const ROOM_EVERY: Duration = Duration::from_millis(100);
/// Between two looks at how many files are in memory: their bytes are bounded, but not what the kernel needs
/// for each.
const SHARED_EVERY: Duration = Duration::from_millis(500);
/// Between two looks at a job's files if nothing happens.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Looking takes at most such a part of a processor: if nothing happens, and if much does.
const CALM_PART: u32 = 20;
const HASTE_PART: u32 = 3;
/// Files that are open and have no name any more are looked for among so many.
const OPEN_MAX: usize = 100_000;

/// Until a job has more on the disk than it may, or more files in what it has of memory instead.
pub(super) async fn too_large(place: &Arc<Place>, tree: &Tree, most: Held) -> Ended {
    tokio::select! {
        ended = on_disk(place, tree, most) => ended,
        ended = in_memory(place, tree, most) => ended,
    }
}

async fn in_memory(place: &Place, tree: &Tree, most: Held) -> Ended {
    // Without its folder it ends by itself.
    let Ok(about) = place.folder.metadata() else { return std::future::pending().await };
    loop {
        sleep(SHARED_EVERY).await;
        if tree.shared(about.dev()).await.is_none_or(|files| files > most.files) {
            return Ended::OutOfDisk;
        }
    }
}

async fn on_disk(place: &Arc<Place>, tree: &Tree, most: Held) -> Ended {
    loop {
        let began = Instant::now();
        let held = match look(place, Some(tree), most).await {
            Ok(held) => held,
            Err(ended) => return ended,
        };
        let (cost, room) = (began.elapsed(), Room::of(place));
        // A part of what the job may still take: others fill the disk as well.
        let left =
            Held { bytes: (most.bytes - held.bytes) / 4, files: (most.files - held.files) / 4 };
        loop {
            sleep(ROOM_EVERY).await;
            let waited = began.elapsed();
            let calm = waited >= LOOK_EVERY.max(cost * CALM_PART);
            if calm || waited >= cost * HASTE_PART && room.lost(&Room::of(place), left) {
                break;
            }
        }
    }
}

/// Looks once; an error is how the job ends.
pub(super) async fn look(
    place: &Arc<Place>,
    tree: Option<&Tree>,
    most: Held,
) -> Result<Held, Ended> {
    let (place, tree) = (place.clone(), tree.cloned());
    let looked = super::blocking::blocking(move |wanted| {
        let held = held(&[&place.folder, &place.temporary], most, wanted)?;
        let (Some(mut held), Some(tree)) = (held, &tree) else { return Ok(held) };
        let device = place.folder.metadata()?.dev();
        let Some(unnamed) = tree.unnamed(device, OPEN_MAX) else { return Ok(None) };
        held.bytes = held.bytes.saturating_add(unnamed);
        Ok(Some(held).filter(|held| held.bytes <= most.bytes))
    });
    match looked.await.and_then(|looked: io::Result<Option<Held>>| looked) {
        Ok(Some(held)) => Ok(held),
        Ok(None) => Err(Ended::OutOfDisk),
        Err(error) => Err(Ended::Broken(format!("the job's files cannot be counted: {error}"))),
    }
}

/// What is free on a job's disk. Nothing is known of one that does not say it.
#[derive(Clone, Copy)]
struct Room(Option<Held>);

impl Room {
    fn of(place: &Place) -> Self {
        let about = statvfs(&place.folder).ok();
        Self(about.map(|about| Held {
            bytes: about.f_bfree.saturating_mul(about.f_frsize),
            files: about.f_ffree,
        }))
    }

    /// Whether there is less by more than this.
    fn lost(&self, now: &Self, much: Held) -> bool {
        let (Some(before), Some(now)) = (self.0, now.0) else { return false };
        before.bytes.saturating_sub(now.bytes) > much.bytes
            || before.files.saturating_sub(now.files) > much.files
    }
}
