//! Caches: directories that jobs of this machine share by key. A cache is complete or absent: it is copied to
//! a temporary name and renamed, and the first one under a key stays. Least recently used caches are evicted.

use super::blocking::CancelFlag;
use super::files::{self, Budget, RelativePath, Size};
use super::job_dir::JobDir;
use crate::auth::{random_hex, sha256_hex};
use crate::message::CacheSpec;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[derive(Clone, Debug)]
pub(super) struct Caches {
    folder: PathBuf,
    bytes_max: u64,
    /// Submitter whose jobs use them, if known.
    scope: Option<String>,
}

impl Caches {
    /// Opens the directory and removes incomplete caches: one worker uses it at a time.
    pub(super) fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        for left in fs::read_dir(folder)? {
            let left = left?;
            if left.file_name().to_string_lossy().starts_with(".new-") {
                discard(&left.path());
            }
        }
        let caches = Self { folder: folder.to_owned(), bytes_max, scope: None };
        // The limit may have been lowered.
        caches.evict();
        Ok(caches)
    }

    /// The caches of one submitter: the first job that saves a key decides what later jobs with that key run.
    pub(super) fn of(&self, scope: Option<&str>) -> Self {
        Self { scope: scope.map(str::to_owned), ..self.clone() }
    }

    fn at(&self, spec: &CacheSpec) -> PathBuf {
        // A key may mean something else with another kind.
        let mut text = format!("{}\n{}", spec.kind, spec.key);
        if let Some(scope) = &self.scope {
            // Lengths make the encoding unambiguous.
            text = format!("{}:{scope}{}:{text}", scope.len(), spec.kind.len());
        }
        self.folder.join(&sha256_hex(text.as_bytes())[..32])
    }

    /// Copies a cache into a job's directory. True: it existed. If that fails, the cache and the partial copy
    /// are removed, and the job starts without. An error if the partial copy remains.
    pub(super) fn restore(
        &self,
        spec: &CacheSpec,
        dir: &JobDir,
        cancel: &CancelFlag,
    ) -> io::Result<bool> {
        let at = self.at(spec);
        if !at.is_dir() {
            return Ok(false);
        }
        let mut budget = Budget::new(self.bytes_max, cancel);
        let paths: Vec<_> = spec.paths.iter().map(|path| JobDir::locate(path)).collect();
        let copied = paths.iter().enumerate().try_for_each(|(index, path)| {
            let (index, Some(path)) = (index.to_string(), path) else { return Ok(()) };
            let from = RelativePath { root: &at, path: Path::new(&index) };
            files::copy(from, of(dir, path), &mut budget).map(|_| ())
        });
        let Err(error) = copied.and_then(|()| used(&at)) else { return Ok(true) };
        // A cancelled copy says nothing about the cache.
        cancel.check()?;
        tracing::warn!(%error, "failed to restore a cache, removed it");
        discard(&at);
        paths.iter().flatten().try_for_each(|path| of(dir, path).remove())?;
        // They may have been removed with it.
        dir.folders()?;
        Ok(false)
    }

    /// Saves directories of a job, unless the key exists.
    pub(super) fn save(
        &self,
        spec: &CacheSpec,
        dir: &JobDir,
        cancel: &CancelFlag,
    ) -> io::Result<()> {
        let at = self.at(spec);
        if at.exists() {
            return Ok(());
        }
        let new = self.folder.join(format!(".new-{}", random_hex::<8>()));
        fs::create_dir(&new)?;
        // A cache larger than the limit would be evicted next.
        let mut budget = Budget::new(self.bytes_max, cancel);
        let copied = spec.paths.iter().enumerate().try_for_each(|(index, path)| {
            let (index, Some(path)) = (index.to_string(), JobDir::locate(path)) else {
                return Ok(());
            };
            let to = RelativePath { root: &new, path: Path::new(&index) };
            files::copy(of(dir, &path), to, &mut budget).map(|_| ())
        });
        let renamed = copied.and_then(|()| match fs::rename(&new, &at) {
            // Another job saved it first.
            Err(_) if at.exists() => Ok(()),
            other => other,
        });
        discard(&new);
        renamed?;
        self.evict();
        Ok(())
    }

    /// Removes unreadable caches, then least recently used ones until the rest fits.
    fn evict(&self) {
        let mut all = Vec::new();
        for at in fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|at| at.path()) {
            let modified = at.symlink_metadata().and_then(|about| about.modified());
            match (modified, files::size(&at)) {
                (Ok(modified), Size { bytes, whole: true }) => all.push((modified, bytes, at)),
                _ => {
                    tracing::warn!(path = %at.display(), "cache unreadable, removed it");
                    discard(&at);
                }
            }
        }
        all.sort();
        let mut bytes: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, size, at) in all {
            if bytes <= self.bytes_max {
                break;
            }
            tracing::info!(bytes = size, "cache evicted");
            discard(&at);
            bytes -= size;
        }
    }
}

fn of<'a>(dir: &'a JobDir, path: &'a Path) -> RelativePath<'a> {
    RelativePath { root: &dir.folder, path }
}

/// Marks a cache as used.
fn used(at: &Path) -> io::Result<()> {
    fs::File::open(at)?.set_modified(SystemTime::now())
}

/// Removes a cache. Nothing depends on it.
fn discard(at: &Path) {
    if let Err(error) = files::remove(at) {
        tracing::warn!(%error, path = %at.display(), kind = "cache", "cleanup failed");
    }
}

/// Two paths of a job's caches that are equal or nested: restoring one would collide with the other.
pub(super) fn overlap(specs: &[CacheSpec]) -> Option<(&str, &str)> {
    let paths = specs.iter().flat_map(|spec| &spec.paths);
    let mut all: Vec<_> = paths.filter_map(|path| Some((JobDir::locate(path)?, &**path))).collect();
    // A directory sorts right before its content.
    all.sort();
    let meet = all.windows(2).find(|two| two[1].0.starts_with(&two[0].0));
    meet.map(|two| (two[0].1, two[1].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(folder: &Path, name: &str) -> JobDir {
        let folder = folder.join(name);
        let (work, home) = (folder.join("work"), folder.join("home"));
        fs::create_dir_all(&work).expect("a folder");
        fs::create_dir_all(&home).expect("a folder");
        let temporary = folder.join("temporary");
        JobDir { folder, start: work, home, temporary }
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
        let first = dir(&folder, "first");
        assert!(!caches.restore(&spec("a"), &first, &CancelFlag::default()).expect("no error"));
        fs::create_dir_all(first.home.join(".nuget/packages/p")).expect("a folder");
        fs::write(first.home.join(".nuget/packages/p/x"), "1").expect("a file");
        caches.save(&spec("a"), &first, &CancelFlag::default()).expect("saved");
        fs::write(first.home.join(".nuget/packages/p/x"), "2").expect("a file");
        caches.save(&spec("a"), &first, &CancelFlag::default()).expect("left as it was");
        // The worker does not follow a job's link to other files.
        std::os::unix::fs::symlink("/etc", first.folder.join("work").join("target"))
            .expect("a link");
        let through = CacheSpec { paths: vec!["target/hostname".to_owned()], ..spec("c") };
        caches.save(&through, &first, &CancelFlag::default()).expect("nothing to save");
        assert_eq!(fs::read_dir(caches.at(&through)).expect("a folder").count(), 0);
        let second = dir(&folder, "second");
        assert!(caches.restore(&spec("a"), &second, &CancelFlag::default()).expect("restored"));
        let found = fs::read_to_string(second.home.join(".nuget/packages/p/x")).expect("a file");
        assert_eq!(found, "1");
        assert!(!caches.restore(&spec("b"), &second, &CancelFlag::default()).expect("no error"));
        fs::create_dir(folder.join("caches/.new-half")).expect("a folder");
        Caches::open(&folder.join("caches"), u64::MAX).expect("a folder");
        assert!(!folder.join("caches/.new-half").exists());
        drop((first, second));
        fs::remove_dir_all(&folder).expect("removed");
    }

    /// Fault 14: a submitter could plant a cache that another's jobs run.
    #[test]
    fn submitters_do_not_find_each_others_caches() {
        let folder = std::env::temp_dir().join(format!("fleet-scope-{}", std::process::id()));
        let all = Caches::open(&folder.join("caches"), u64::MAX).expect("a folder");
        let (a, b) = (all.of(Some("a")), all.of(Some("b")));
        let (first, second) = (dir(&folder, "first"), dir(&folder, "second"));
        fs::write(first.folder.join("work/x"), "a's").expect("a file");
        fs::write(second.folder.join("work/x"), "b's").expect("a file");
        a.save(&spec("k", &["x"]), &first, &CancelFlag::default()).expect("saved");
        b.save(&spec("k", &["x"]), &second, &CancelFlag::default()).expect("saved");
        for (caches, wanted) in [(&a, Some("a's")), (&b, Some("b's")), (&all, None)] {
            let third = dir(&folder, wanted.unwrap_or("none"));
            let restored = caches
                .restore(&spec("k", &["x"]), &third, &CancelFlag::default())
                .expect("no error");
            assert_eq!(restored, wanted.is_some());
            let found = fs::read_to_string(third.folder.join("work/x")).ok();
            assert_eq!(found.as_deref(), wanted);
        }
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
        let dir = dir(&folder, "job");
        fs::write(dir.folder.join("work/big"), [0; 100]).expect("a file");
        let there = || ["a", "b", "c"].map(|key| caches.at(&spec(key)).exists());
        // File times may be coarse.
        let pause = || std::thread::sleep(std::time::Duration::from_millis(20));
        for key in ["a", "b"] {
            caches.save(&spec(key), &dir, &CancelFlag::default()).expect("saved");
            pause();
        }
        assert_eq!(there(), [true, true, false]);
        fs::remove_file(dir.folder.join("work/big")).expect("removed");
        assert!(caches.restore(&spec("a"), &dir, &CancelFlag::default()).expect("restored"));
        pause();
        caches.save(&spec("c"), &dir, &CancelFlag::default()).expect("saved");
        assert_eq!(there(), [true, false, true], "`b` was used before the others");
        Caches::open(&folder.join("caches"), 150).expect("a folder");
        assert_eq!(there(), [false, false, true]);
        drop(dir);
        fs::remove_dir_all(&folder).expect("removed");
    }

    fn spec(key: &str, paths: &[&str]) -> CacheSpec {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        CacheSpec { kind: "d".to_owned(), key: key.to_owned(), paths }
    }

    /// Links are saved and restored as links, never followed.
    #[test]
    fn links_of_a_cache_are_not_followed() {
        let folder = std::env::temp_dir().join(format!("fleet-through-{}", std::process::id()));
        let caches = Caches::open(&folder.join("caches"), u64::MAX).expect("a folder");
        let outside = folder.join("outside");
        fs::create_dir_all(&outside).expect("a folder");
        fs::write(outside.join("kept"), "safe").expect("a file");
        let (first, second) = (dir(&folder, "first"), dir(&folder, "second"));
        let work = first.folder.join("work");
        for made in ["p/bin", "q/l", "e"] {
            fs::create_dir_all(work.join(made)).expect("a folder");
        }
        fs::write(work.join("q/l/kept"), "evil").expect("a file");
        fs::write(work.join("e/f"), "evil").expect("a file");
        // As in a Python environment, and worse.
        let links: [(&str, &Path); 5] = [
            ("p/bin/python", Path::new("/usr/bin/python3")),
            ("p/l", &outside),
            ("p/up", Path::new("../../../../outside")),
            ("p/around", Path::new("bin/../..")),
            ("s", &outside),
        ];
        for (link, target) in links {
            std::os::unix::fs::symlink(target, work.join(link)).expect("a link");
        }
        let whole = spec("out", &["p", "q", "s"]);
        caches.save(&whole, &first, &CancelFlag::default()).expect("saved");
        assert!(caches.restore(&whole, &second, &CancelFlag::default()).expect("restored"));
        let (at, work) = (caches.at(&whole), second.folder.join("work"));
        for (link, target) in links {
            assert_eq!(fs::read_link(work.join(link)).expect("a link"), target, "{link}");
        }
        assert_eq!(fs::read_link(at.join("2")).expect("a link"), outside);
        assert_eq!(fs::read_to_string(work.join("q/l/kept")).expect("a file"), "evil");
        // A planted cache with a directory where a link was restored before.
        let at = caches.at(&spec("old", &[]));
        for (link, target) in [("0/l", outside.clone()), ("2/f", outside.join("new"))] {
            fs::create_dir_all(at.join(link).parent().expect("a folder")).expect("a folder");
            std::os::unix::fs::symlink(target, at.join(link)).expect("a link");
        }
        fs::create_dir_all(at.join("1/l")).expect("a folder");
        fs::write(at.join("1/l/kept"), "evil").expect("a file");
        assert!(
            !caches
                .restore(&spec("old", &["x", "x", "x"]), &second, &CancelFlag::default())
                .expect("without")
        );
        assert!(!at.exists() && !work.join("x").exists(), "neither it nor half of it is left");
        // Existing links are not followed either.
        for paths in [["y", "w"], ["w", "y"], ["z", "w"], ["z/l", "w"]] {
            caches.save(&spec("good", &["q", "e"]), &first, &CancelFlag::default()).expect("saved");
            let (folder, file) = (work.join("y/l"), work.join("y/f"));
            fs::create_dir_all(work.join("y")).expect("a folder");
            std::os::unix::fs::symlink(&outside, folder).expect("a link");
            std::os::unix::fs::symlink(outside.join("new"), file).expect("a link");
            std::os::unix::fs::symlink(&outside, work.join("z")).expect("a link");
            let restored = caches
                .restore(&spec("good", &paths), &second, &CancelFlag::default())
                .expect("without");
            assert!(!restored && !work.join("w").exists(), "{paths:?}");
            for left in ["y", "z"] {
                files::remove(&work.join(left)).expect("removed");
            }
        }
        assert_eq!(fs::read_to_string(outside.join("kept")).expect("a file"), "safe");
        assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 1);
        drop((first, second));
        fs::remove_dir_all(&folder).expect("removed");
    }

    /// A file in the way must not fail every attempt of a job.
    #[test]
    fn a_job_begins_without_a_cache_that_does_not_fit() {
        let folder = std::env::temp_dir().join(format!("fleet-without-{}", std::process::id()));
        let caches = Caches::open(&folder.join("caches"), u64::MAX).expect("a folder");
        let (first, mut second) = (dir(&folder, "first"), dir(&folder, "second"));
        fs::create_dir_all(first.folder.join("work/sub")).expect("a folder");
        fs::write(first.folder.join("work/sub/a"), "x").expect("a file");
        fs::write(first.folder.join("work/sub/b"), "x").expect("a file");
        caches.save(&spec("k", &["sub"]), &first, &CancelFlag::default()).expect("saved");
        // The cache has a file where the next job has its working directory.
        second.start = second.folder.join("work/sub/b");
        fs::create_dir_all(&second.start).expect("a folder");
        assert!(
            !caches
                .restore(&spec("k", &["sub"]), &second, &CancelFlag::default())
                .expect("without")
        );
        assert!(second.start.is_dir(), "it can begin");
        assert!(!second.folder.join("work/sub/a").exists(), "and has no half of a cache");
        assert!(!caches.at(&spec("k", &[])).exists());
        drop((first, second));
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn links_within_a_cache_stay_and_modes_that_others_could_use_do_not() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = std::env::temp_dir().join(format!("fleet-links-{}", std::process::id()));
        let caches = Caches::open(&folder.join("caches"), u64::MAX).expect("a folder");
        let first = dir(&folder, "first");
        let bin = first.folder.join("work/m/.bin");
        fs::create_dir_all(&bin).expect("a folder");
        fs::write(first.folder.join("work/m/tool"), "x").expect("a file");
        let mode = fs::Permissions::from_mode(0o4755);
        fs::set_permissions(first.folder.join("work/m/tool"), mode).expect("a mode");
        std::os::unix::fs::symlink("../tool", bin.join("tool")).expect("a link");
        caches.save(&spec("k", &["m"]), &first, &CancelFlag::default()).expect("saved");
        let second = dir(&folder, "second");
        assert!(
            caches.restore(&spec("k", &["m"]), &second, &CancelFlag::default()).expect("restored")
        );
        let tool = second.folder.join("work/m/.bin/tool");
        assert_eq!(fs::read_to_string(&tool).expect("a file"), "x");
        assert_eq!(tool.metadata().expect("a file").permissions().mode() & 0o7777, 0o755);
        // More than the limit is not copied.
        let small = Caches::open(&folder.join("small"), 100).expect("a folder");
        fs::File::create(first.folder.join("work/m/big"))
            .expect("a file")
            .set_len(101)
            .expect("long");
        assert!(small.save(&spec("k", &["m"]), &first, &CancelFlag::default()).is_err());
        assert_eq!(fs::read_dir(folder.join("small")).expect("a folder").count(), 0);
        drop((first, second));
        fs::remove_dir_all(&folder).expect("removed");
    }

    /// Deeper than the longest path.
    #[test]
    fn no_cache_keeps_a_worker_from_starting_or_others_from_being_removed() {
        let folder = std::env::temp_dir().join(format!("fleet-long-{}", std::process::id()));
        let caches = Caches::open(&folder.join("caches"), 150).expect("a folder");
        let first = dir(&folder, "first");
        let work = first.folder.join("work");
        files::deep(&work.join("long"), &"x".repeat(250), 20, &[0; 100]);
        caches.save(&spec("long", &["long"]), &first, &CancelFlag::default()).expect("saved");
        let at = |key: &str| caches.at(&spec(key, &[]));
        assert_eq!(files::size(&at("long")), Size { bytes: 100, whole: true });
        let again = || Caches::open(&folder.join("caches"), 150).expect("a worker starts");
        again();
        assert!(at("long").exists(), "it is a cache like others");
        let second = dir(&folder, "second");
        assert!(
            caches
                .restore(&spec("long", &["long"]), &second, &CancelFlag::default())
                .expect("restored")
        );
        assert_eq!(files::size(&second.folder.join("work/long")).bytes, 100);
        // File times may be coarse.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(work.join("other"), [0; 100]).expect("a file");
        caches.save(&spec("other", &["other"]), &first, &CancelFlag::default()).expect("saved");
        assert!(!at("long").exists() && at("other").exists(), "the bound holds");
        // Too deep to measure: it is removed, usable caches stay.
        files::deep(&at("deep").join("0"), "d", 1_000, b"x");
        again();
        assert!(!at("deep").exists() && at("other").exists());
        drop((first, second));
        files::remove(&folder).expect("removed");
    }

    #[test]
    fn what_nobody_waits_for_is_neither_saved_nor_spoiled() {
        let folder = std::env::temp_dir().join(format!("fleet-given-up-{}", std::process::id()));
        let caches = Caches::open(&folder.join("caches"), u64::MAX).expect("a folder");
        let (first, second) = (dir(&folder, "first"), dir(&folder, "second"));
        fs::write(first.folder.join("work/x"), "x").expect("a file");
        let (running, cancelled) = (CancelFlag::default(), CancelFlag::default());
        cancelled.set();
        assert!(caches.save(&spec("k", &["x"]), &first, &cancelled).is_err());
        let kept = || fs::read_dir(folder.join("caches")).expect("a folder").count();
        assert_eq!(kept(), 0, "neither it nor half of it");
        caches.save(&spec("k", &["x"]), &first, &running).expect("saved");
        assert!(caches.restore(&spec("k", &["x"]), &second, &cancelled).is_err());
        assert_eq!(kept(), 1, "nothing is wrong with it");
        assert!(caches.restore(&spec("k", &["x"]), &second, &running).expect("restored"));
        drop((first, second));
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn paths_that_meet_are_found() {
        let meet = |specs: &[CacheSpec]| overlap(specs).is_some();
        assert!(meet(&[spec("k", &["x", "x"])]) && meet(&[spec("k", &["x", "./x/y"])]));
        assert!(
            meet(&[spec("k", &["x"]), spec("l", &["a", "x/"])]) && meet(&[spec("k", &[".", "a"])])
        );
        assert!(!meet(&[spec("k", &["x", "xy", "~/x", "a/x"]), spec("l", &["a/y"])]));
    }
}
