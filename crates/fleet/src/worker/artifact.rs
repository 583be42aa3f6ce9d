//! Finds the files of a job's artifacts.

use super::blocking::CancelFlag;
use super::files::{DEPTH_MAX, ENTRIES_MAX, RelativePath};
use super::job_dir::JobDir;
use super::pattern::{PathPattern, Reached};
use crate::auth::sha256_hex;
use crate::message::ArtifactSpec;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Most files of one job: the limit of lists in `Complete`, with the log.
const FILES_MAX: usize = 255;
/// Time limit of the search.
const LOOK_PATIENCE: Duration = Duration::from_secs(60);

/// A file that matches a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) kind: String,
    pub(super) at: PathBuf,
    /// Name of the object.
    pub(super) name: String,
}

/// The files that match, each once, under the first matching pattern. Links never match. Blocks on the disk,
/// up to a time limit. Errors are the machine's: whatever a job did to its directory only means that it has
/// no files.
pub(super) fn find(
    dir: &JobDir,
    specs: &[ArtifactSpec],
    cancel: &CancelFlag,
) -> io::Result<Vec<Found>> {
    if specs.is_empty() {
        return Ok(vec![]);
    }
    // The job may have replaced its working directory by a link.
    let below = dir.start.strip_prefix(&dir.folder).unwrap_or(Path::new("work"));
    if !(RelativePath { root: &dir.folder, path: below }).is_folder()? {
        return Ok(vec![]);
    }
    let patterns = specs.iter().map(|spec| PathPattern::new(&spec.path_glob)).collect::<Vec<_>>();
    let begin = patterns.iter().map(|pattern| pattern.as_ref().map(PathPattern::begin)).collect();
    let mut search = Search {
        patterns: &patterns,
        found: BTreeSet::new(),
        left: ENTRIES_MAX,
        until: Instant::now() + LOOK_PATIENCE,
        cancel,
    };
    let all = search.folder(&dir.start, &begin, 0);
    cancel.check()?;
    if !all {
        tracing::warn!("artifact search cut short, some files not kept");
    }
    let mut names = Names::default();
    let found = search.found.into_iter().map(|(index, at)| {
        let kind = &specs[index].kind;
        let name = names.take(kind, at.strip_prefix(&dir.start).unwrap_or(&at));
        Found { kind: kind.clone(), at, name }
    });
    Ok(found.collect())
}

/// Object names in use, and their directories. A name that collides after cleaning gets another, and no name
/// is a directory of another name.
#[derive(Default)]
struct Names {
    objects: BTreeSet<String>,
    folders: BTreeSet<String>,
}

impl Names {
    /// An unused name for a file.
    fn take(&mut self, kind: &str, path: &Path) -> String {
        let name = object_name(kind, path);
        // By its original path, with a counter: a job may have given another file this very name.
        let hashed = (0_u32..).map(|n| {
            let text = format!("{n}\n{kind}\n{}", path.display());
            format!("{}/{}", &sha256_hex(text.as_bytes())[..16], end_of(&name))
        });
        let mut all = [name.clone(), format!("{name}_")].into_iter().chain(hashed);
        let free = all.find(|name| self.is_free(name)).unwrap_or_default();
        self.folders.extend(folders(&free).map(str::to_owned));
        self.objects.insert(free.clone());
        free
    }

    fn is_free(&self, name: &str) -> bool {
        !self.objects.contains(name)
            && !self.folders.contains(name)
            && !folders(name).any(|folder| self.objects.contains(folder))
    }
}

/// Directories of a name.
fn folders(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(end, _)| &name[..end])
}

struct Search<'a> {
    /// None: invalid, matches nothing.
    patterns: &'a [Option<PathPattern>],
    /// The first files, by index of their pattern and path.
    found: BTreeSet<(usize, PathBuf)>,
    left: u64,
    until: Instant,
    cancel: &'a CancelFlag,
}

impl Search<'_> {
    /// Searches a directory. False: out of time, too many entries, or cancelled.
    fn folder(&mut self, folder: &Path, above: &Vec<Option<Reached>>, depth: usize) -> bool {
        // Unreadable directories are skipped.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if self.left == 0 || Instant::now() > self.until || self.cancel.is_set() {
                return false;
            }
            self.left -= 1;
            // Without following links.
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let all = || self.patterns.iter().zip(above);
            let step = |(pattern, above): (&Option<PathPattern>, &Option<Reached>)| {
                Some(pattern.as_ref()?.step(above.as_ref()?, &name))
            };
            let reached: Vec<Option<Reached>> = all().map(step).collect();
            let is = |what: fn(&PathPattern, &Reached) -> bool| {
                let both = self.patterns.iter().zip(&reached);
                both.map(|(pattern, reached)| Some(what(pattern.as_ref()?, reached.as_ref()?)))
                    .position(|is| is == Some(true))
            };
            if kind.is_file()
                && let Some(index) = is(PathPattern::fits)
            {
                self.found.insert((index, entry.path()));
                if self.found.len() > FILES_MAX {
                    self.found.pop_last();
                }
            } else if kind.is_dir()
                && depth < DEPTH_MAX
                && is(PathPattern::goes_on).is_some()
                && !self.folder(&entry.path(), &reached, depth + 1)
            {
                return false;
            }
        }
        true
    }
}

/// A valid object name: other characters become `_`.
fn object_name(kind: &str, path: &Path) -> String {
    let clean = |text: &str| -> String {
        let fine = |c: char| c.is_ascii_alphanumeric() || "-_.+@=".contains(c);
        text.chars().map(|c| if fine(c) { c } else { '_' }).collect()
    };
    let parts = path.iter().map(|part| clean(&part.to_string_lossy()));
    let name = std::iter::once(clean(kind)).chain(parts).collect::<Vec<_>>().join("/");
    // A long name becomes its hash and its end.
    match name.len() {
        0..=200 => name,
        _ => format!("{}/{}", &sha256_hex(name.as_bytes())[..16], end_of(&name)),
    }
}

/// The end of an ASCII name: what people recognise.
fn end_of(name: &str) -> &str {
    name.rsplit('/').next().map_or("", |end| &end[end.len().saturating_sub(150)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(kind: &str, path_glob: &str) -> ArtifactSpec {
        ArtifactSpec { kind: kind.to_owned(), path_glob: path_glob.to_owned() }
    }

    fn dir(name: &str) -> JobDir {
        let folder = format!("fleet-glob-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let (start, home) = (folder.join("work/wo[r]k"), folder.join("home"));
        std::fs::create_dir_all(&start).expect("folders");
        let temporary = folder.join("temporary");
        JobDir { folder, start, home, temporary }
    }

    #[test]
    fn patterns_find_files_of_the_job_and_no_others() {
        let dir = dir("find");
        let work = &dir.start;
        std::fs::create_dir_all(work.join("a/TestResults")).expect("folders");
        for file in ["a/TestResults/x y.trx", "b.txt"] {
            std::fs::write(work.join(file), "x").expect("a file");
        }
        std::fs::write(dir.folder.join("secret.trx"), "x").expect("a file");
        std::os::unix::fs::symlink(dir.folder.join("secret.trx"), work.join("link.trx"))
            .expect("a link");
        std::os::unix::fs::symlink("/etc", work.join("etc")).expect("a link");
        let specs = [
            spec("junit", "**/TestResults/*.trx"),
            spec("all", "./**/*"),
            spec("no", "../*"),
            spec("no", "etc/*"),
        ];
        let found = find(&dir, &specs, &CancelFlag::default()).expect("looked at");
        let names: Vec<_> = found.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["junit/a/TestResults/x_y.trx", "all/b.txt"]);
        assert!(found.iter().all(|found| crate::message::is_object_path(&found.name)));
    }

    #[test]
    fn a_job_that_puts_a_link_in_place_of_its_folder_has_no_files() {
        let dir = dir("swapped");
        std::fs::remove_dir(&dir.start).expect("removed");
        std::os::unix::fs::symlink("/etc", &dir.start).expect("a link");
        assert_eq!(find(&dir, &[spec("all", "*")], &CancelFlag::default()).expect("looked at"), []);
        // The machine's error, not a job without files.
        let elsewhere = dir.folder.join("elsewhere");
        let lost = JobDir {
            start: elsewhere.join("work"),
            home: elsewhere.join("home"),
            temporary: elsewhere.join("temporary"),
            folder: elsewhere,
        };
        assert!(find(&lost, &[spec("all", "*")], &CancelFlag::default()).is_err());
    }

    /// Following links would give exponentially many paths.
    #[test]
    fn links_in_circles_are_not_walked() {
        let dir = dir("circle");
        for index in 0..20 {
            std::os::unix::fs::symlink(".", dir.start.join(format!("l{index}"))).expect("a link");
        }
        std::fs::write(dir.start.join("x.trx"), "x").expect("a file");
        let specs = [spec("junit", "**/*.trx"), spec("deep", "*/*/*/*/*/*/*/*")];
        let found = find(&dir, &specs, &CancelFlag::default()).expect("looked at");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn the_first_files_are_kept_and_no_more() {
        let dir = dir("many");
        for index in 0..FILES_MAX + 10 {
            std::fs::write(dir.start.join(format!("f{index:04}")), "").expect("a file");
        }
        let found = find(&dir, &[spec("all", "f*")], &CancelFlag::default()).expect("looked at");
        assert_eq!(found.len(), FILES_MAX);
        assert_eq!(found.last().map(|found| found.name.as_str()), Some("all/f0254"));
    }

    /// Fault 10: an object whose name is a directory of another's cannot be stored.
    #[test]
    fn names_that_meet_after_cleaning_stay_apart() {
        let dir = dir("meet");
        for folder in ["a_b", "x y", "x_y"] {
            std::fs::create_dir(dir.start.join(folder)).expect("a folder");
        }
        let files = ["a b", "a_b/c", "x y/z", "x_y/z", "x\ty", "x_y_", "q q", "q_q", "q\nq"];
        for file in files {
            std::fs::write(dir.start.join(file), "x").expect("a file");
        }
        let found = find(&dir, &[spec("all", "**/*")], &CancelFlag::default()).expect("looked at");
        let names: BTreeSet<&str> = found.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names.len(), files.len(), "{names:?}");
        for name in &names {
            assert!(folders(name).all(|folder| !names.contains(folder)), "{names:?}");
            assert!(crate::message::is_object_path(name), "{name}");
        }
        // Any number of collisions.
        let mut names = Names::default();
        let one =
            |n: u32| format!("{}{}", "y".repeat(180), char::from_u32(0x4e00 + n).expect("a sign"));
        let names: BTreeSet<String> =
            (0..300).map(|n| names.take("k", Path::new(&one(n)))).collect();
        assert!(names.len() == 300 && names.iter().all(|name| name.len() <= 256));
    }

    #[test]
    fn long_names_become_names_that_can_be() {
        let name = object_name("kind", Path::new(&"x".repeat(250)));
        assert!(name.len() <= 200 && crate::message::is_object_path(&name), "{name}");
    }
}
