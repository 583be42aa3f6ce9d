//! Tokens: those of the settings, replaced by those of a file whenever it changes.

use crate::auth::Access;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Largest token file: thousands of tokens.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The current tokens.
#[derive(Debug)]
pub(super) struct TokenFile {
    /// No tokens: every request is allowed. Decided at the start: an operator who removes the last token
    /// wants to lock everybody out.
    open: bool,
    file: Option<PathBuf>,
    known: Mutex<(Option<SystemTime>, Arc<Access>)>,
}

impl TokenFile {
    pub(super) fn new(access: Access, file: Option<PathBuf>) -> Self {
        let open = access.open() && file.is_none();
        Self { open, file, known: Mutex::new((None, Arc::new(access))) }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    pub(super) fn access(&self) -> Arc<Access> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Reloads the file if it changed. An unreadable file changes nothing: it may be half written.
    pub(super) fn look(&self) {
        let Some(path) = &self.file else { return };
        let changed = std::fs::metadata(path).and_then(|it| it.modified()).ok();
        let seen = self.known.lock().unwrap_or_else(PoisonError::into_inner).0;
        if changed.is_none() || changed == seen {
            return;
        }
        match read(path) {
            Ok(access) => {
                let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                *known = (changed, Arc::new(access));
            }
            Err(error) => tracing::warn!(error, path = %path.display(), "token file not reloaded"),
        }
    }
}

fn read(path: &Path) -> Result<Access, String> {
    let bytes = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(format!("it has more than {FILE_BYTES_MAX} bytes"));
    }
    let text = std::fs::read(path).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{Scope, Token, TokenHash};

    #[test]
    fn tokens_come_and_go_and_the_last_one_locks_the_door_behind_it() {
        let folder = std::env::temp_dir().join(format!("fleet-door-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("tokens.json");
        let token = Token::new("a", Scope::Viewer, TokenHash::of("a"));
        let write = |access: &Access| {
            let text = serde_json::to_vec(access).expect("json");
            std::fs::write(&path, text).expect("written");
        };
        let door = TokenFile::new(Access(vec![token.clone()]), Some(path.clone()));
        door.look();
        assert!(door.access().find("a").is_some(), "no file is no change");
        write(&Access(vec![token]));
        door.look();
        assert!(door.access().find("a").is_some());
        std::fs::write(&path, "half").expect("written");
        door.known.lock().expect("whole").0 = None;
        door.look();
        assert!(door.access().find("a").is_some(), "half a file is no change");
        write(&Access::default());
        door.known.lock().expect("whole").0 = None;
        door.look();
        assert!(door.access().find("a").is_none() && !door.is_open());
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
