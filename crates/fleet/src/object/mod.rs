//! Objects: files that jobs leave behind. Written once, under paths that have attempt and fence in
//! them, by whoever holds the lease at that moment.

mod disk;
mod grant;

pub use disk::{Disk, Incoming, ObjectError, Sent};
pub use grant::Grants;

/// Whether a path is one of an object: parts that are no way out of the folder.
pub fn is_path(path: &str) -> bool {
    let fine = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+@=".contains(&b))
    };
    path.len() <= 1_024 && path.split('/').all(fine)
}

#[cfg(test)]
mod tests {
    use super::is_path;

    #[test]
    fn no_path_leads_out_of_the_folder() {
        assert!(is_path("runs/run_1/jobs/job_1-0/1-2/test.trx"));
        for bad in ["", "/etc/passwd", "a//b", "a/../b", "..", "a/./b", "a\\b", "a/b\0", "a b"] {
            assert!(!is_path(bad), "{bad:?}");
        }
    }
}
