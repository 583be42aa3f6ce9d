//! A validator's state database, alone: what keeping a block and computing its root costs.

use commonware_runtime::buffer::paged::CacheRef;
use commonware_runtime::{Runner as _, Supervisor as _, tokio as runtime};
use commonware_storage::qmdb::floor::Proportional;
use commonware_utils::{NZU16, NZUsize};
use remuda_node::store::{self, Database, encode_entry, hashed_key};
use remuda_protocol::state::Diff;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Changes that go into one batch when a state is written for the first time.
const FIRST_BATCH: usize = 50_000;

/// The database on a thread of its own; it is removed with this.
pub struct StateDbBench {
    work: Option<SyncSender<Diff>>,
    done: Receiver<Result<(), String>>,
    thread: Option<JoinHandle<()>>,
    directory: PathBuf,
}

impl StateDbBench {
    /// An empty one; what is in the directory is removed.
    pub fn open(directory: PathBuf) -> Self {
        let _ = std::fs::remove_dir_all(&directory);
        let (work, todo) = sync_channel::<Diff>(1);
        let (say, done) = sync_channel(1);
        let config = runtime::Config::default().with_storage_directory(directory.clone());
        let thread = std::thread::spawn(move || {
            runtime::Runner::new(config).start(|context| async move {
                let cache = CacheRef::new(NZU16!(4096), NZUsize!(2048));
                let config = store::config("bench", cache);
                let opened: Result<Database<_>, _> =
                    Database::init(context.child("state"), config, None).await;
                let mut database = match opened {
                    Ok(database) => database,
                    Err(error) => return drop(say.send(Err(error.to_string()))),
                };
                // Nothing else runs here, so it may wait like this.
                while let Ok(diff) = todo.recv() {
                    match keep(database, &diff).await {
                        Ok(kept) => database = kept,
                        Err(error) => return drop(say.send(Err(error))),
                    }
                    if say.send(Ok(())).is_err() {
                        return;
                    }
                }
            });
        });
        Self { work: Some(work), done, thread: Some(thread), directory }
    }

    /// Writes a state, in parts.
    pub fn fill(&self, entries: impl Iterator<Item = (Vec<u8>, Vec<u8>)>) -> Result<(), String> {
        let mut part = Diff::new();
        for (key, value) in entries {
            part.insert(key.into(), Some(value.into()));
            if part.len() >= FIRST_BATCH {
                self.keep(std::mem::take(&mut part))?;
            }
        }
        self.keep(part)
    }

    /// Writes a block's changes, computes the root, and waits for the disk.
    pub fn keep(&self, diff: Diff) -> Result<(), String> {
        let gone = || "the database is gone".to_owned();
        let work = self.work.as_ref().ok_or_else(gone)?;
        // If it is gone, it has said why.
        let _ = work.send(diff);
        self.done.recv().map_err(|_| gone())?
    }
}

impl Drop for StateDbBench {
    fn drop(&mut self) {
        self.work = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

async fn keep<E>(database: Database<E>, diff: &Diff) -> Result<Database<E>, String>
where
    E: commonware_runtime::Spawner + commonware_storage::Context,
{
    let mut batch = database.new_batch();
    for (key, value) in diff {
        batch = batch.write(hashed_key(key), value.as_ref().map(|value| encode_entry(key, value)));
    }
    let sealed = batch.merkleize(&database, None, &mut Proportional).await;
    let sealed = sealed.map_err(|error| error.to_string())?;
    let database = database.apply_batch(sealed).await.map_err(|error| error.to_string())?;
    database.sync().await.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_db_persists_and_removes_its_directory() {
        let directory =
            std::env::temp_dir().join(format!("remuda-state-db-{}", std::process::id()));
        let db = StateDbBench::open(directory.clone());
        let entries = (0u32..1_000).map(|n| (n.to_be_bytes().to_vec(), vec![7; 40]));
        db.fill(entries).unwrap();
        let changes = [(vec![0, 0, 0, 1].into(), None), (vec![9].into(), Some(vec![1].into()))];
        db.keep(Diff::from(changes)).unwrap();
        drop(db);
        assert!(!directory.exists());
    }
}
