//! Folders that jobs find again, on this machine, by a key. A cache is whole or not there: it is
//! copied beside its place and then renamed, and the first one under a key stays. If all of them together
//! are too large, those go that were not used for longest.

use super::place::Place;
use crate::auth::{random_hex, sha256_hex};
use crate::message::CacheSpec;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The caches of a worker.
#[derive(Clone, Debug)]
pub(super) struct Caches {
    folder: PathBuf,
    bytes_max: u64,
}

impl Caches {
    /// In a folder. What was left half done is removed: one worker has it at a time.
    pub(super) fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        for left in fs::read_dir(folder)? {
            let left = left?;
            if left.file_name().to_string_lossy().starts_with(".new-") {
                fs::remove_dir_all(left.path())?;
            }
        }
        let caches = Self { folder: folder.to_owned(), bytes_max };
        // The limit may have been lowered.
        caches.evict()?;
        Ok(caches)
    }

    fn at(&self, spec: &CacheSpec) -> PathBuf {
        // Kinds are apart: the same key may mean something else in another.
        self.folder.join(&sha256_hex(format!("{}\n{}", spec.kind, spec.key).as_bytes())[..32])
    }

    /// Puts what is there into a job's folders. True: something was.
    pub(super) fn restore(&self, spec: &CacheSpec, place: &Place) -> io::Result<bool> {
        let at = self.at(spec);
        if !at.is_dir() {
            return Ok(false);
        }
        for (index, path) in spec.paths.iter().enumerate() {
            let (from, Some(to)) = (at.join(index.to_string()), place.locate(path)) else {
                continue;
            };
            if from.exists() && place.holds(&to) {
                copy(&from, &to)?;
            }
        }
        used(&at)?;
        Ok(true)
    }

    /// Keeps what a job left in its folders, if nothing is kept under the key.
    pub(super) fn save(&self, spec: &CacheSpec, place: &Place) -> io::Result<()> {
        let at = self.at(spec);
        if at.exists() {
            return Ok(());
        }
        let new = self.folder.join(format!(".new-{}", random_hex::<8>()));
        fs::create_dir(&new)?;
        let copied = spec.paths.iter().enumerate().try_for_each(|(index, path)| {
            let there = |from: &PathBuf| from.symlink_metadata().is_ok() && place.holds(from);
            match place.locate(path).filter(there) {
                Some(from) => copy(&from, &new.join(index.to_string())),
                None => Ok(()),
            }
        });
        let renamed = copied.and_then(|()| match fs::rename(&new, &at) {
            // Another was faster; its is as good.
            Err(_) if at.exists() => Ok(()),
            other => other,
        });
        if new.exists() {
            fs::remove_dir_all(&new)?;
        }
        renamed?;
        self.evict()
    }

    /// Removes what was not used for longest, until the rest is small enough.
    fn evict(&self) -> io::Result<()> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            all.push((entry.metadata()?.modified()?, size(&entry.path())?, entry.path()));
        }
        all.sort();
        let mut bytes: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, size, at) in all {
            if bytes <= self.bytes_max {
                break;
            }
            tracing::info!(bytes = size, "a cache is removed to make room");
            fs::remove_dir_all(at)?;
            bytes -= size;
        }
        Ok(())
    }
}

/// Its turn to be removed comes last.
fn used(at: &Path) -> io::Result<()> {
    fs::File::open(at)?.set_modified(SystemTime::now())
}

/// Bytes of all files in a tree.
pub(super) fn size(at: &Path) -> io::Result<u64> {
    let about = at.symlink_metadata()?;
    match about.is_dir() {
        true => fs::read_dir(at)?.map(|entry| size(&entry?.path())).sum(),
        false => Ok(about.len()),
    }
}

/// Copies a tree. Links stay links, and other things than files and folders are left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let about = from.symlink_metadata()?;
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if about.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from)?, to)
    } else if about.is_file() {
        fs::copy(from, to).map(|_| ())
    } else if about.is_dir() {
        fs::create_dir_all(to)?;
        fs::read_dir(from)?.try_for_each(|entry| {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))
        })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &Path, name: &str) -> Place {
        let folder = folder.join(name);
        let (work, home) = (folder.join("work"), folder.join("home"));
        fs::create_dir_all(&work).expect("a folder");
        fs::create_dir_all(&home).expect("a folder");
        Place { folder, start: work.clone(), work, home }
    }

    #[test]
    fn a_cache_is_found_by_its_key_and_the_first_one_stays() {
        let folder = std::env::temp_dir().join(format!("fleet-cache-{}", std::process::id()));
        let caches = Caches::open(&folder.join("caches"), u64::MAX).expect("a folder");
        let spec = |key: &str| CacheSpec {
            kind: "deps".to_owned(),
            key: key.to_owned(),
            paths: vec!["~/.nuget/packages".to_owned(), "target".to_owned()],
        };
        let first = place(&folder, "first");
        assert!(!caches.restore(&spec("a"), &first).expect("no error"));
        fs::create_dir_all(first.home.join(".nuget/packages/p")).expect("a folder");
        fs::write(first.home.join(".nuget/packages/p/x"), "1").expect("a file");
        caches.save(&spec("a"), &first).expect("saved");
        fs::write(first.home.join(".nuget/packages/p/x"), "2").expect("a file");
        caches.save(&spec("a"), &first).expect("left as it was");
        // A link of the job's does not lead the worker to files that are not the job's.
        std::os::unix::fs::symlink("/etc", first.work.join("target")).expect("a link");
        let through = CacheSpec { paths: vec!["target/hostname".to_owned()], ..spec("c") };
        caches.save(&through, &first).expect("nothing to save");
        assert_eq!(fs::read_dir(caches.at(&through)).expect("a folder").count(), 0);
        let second = place(&folder, "second");
        assert!(caches.restore(&spec("a"), &second).expect("restored"));
        let found = fs::read_to_string(second.home.join(".nuget/packages/p/x")).expect("a file");
        assert_eq!(found, "1");
        assert!(!caches.restore(&spec("b"), &second).expect("no error"));
        fs::create_dir(folder.join("caches/.new-half")).expect("a folder");
        Caches::open(&folder.join("caches"), u64::MAX).expect("a folder");
        assert!(!folder.join("caches/.new-half").exists());
        drop((first, second));
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let folder = std::env::temp_dir().join(format!("fleet-evict-{}", std::process::id()));
        let caches = Caches::open(&folder.join("caches"), 250).expect("a folder");
        let spec = |key: &str| CacheSpec {
            kind: "deps".to_owned(),
            key: key.to_owned(),
            paths: vec!["big".to_owned()],
        };
        let place = place(&folder, "job");
        fs::write(place.work.join("big"), [0; 100]).expect("a file");
        let there = || ["a", "b", "c"].map(|key| caches.at(&spec(key)).exists());
        // Clocks of files may be coarse.
        let pause = || std::thread::sleep(std::time::Duration::from_millis(20));
        for key in ["a", "b"] {
            caches.save(&spec(key), &place).expect("saved");
            pause();
        }
        assert_eq!(there(), [true, true, false]);
        assert!(caches.restore(&spec("a"), &place).expect("restored"));
        pause();
        caches.save(&spec("c"), &place).expect("saved");
        assert_eq!(there(), [true, false, true], "`b` was used before the others");
        Caches::open(&folder.join("caches"), 150).expect("a folder");
        assert_eq!(there(), [false, false, true]);
        drop(place);
        fs::remove_dir_all(&folder).expect("removed");
    }
}
