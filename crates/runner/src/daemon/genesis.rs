//! Which chain a data directory is of.
//!
//! The journal's jobs, salts and nonces mean something on one chain only. Its genesis is written down
//! when a node first answers, and never changed afterwards: a node of another one is not used.

use crate::private;
use remuda_protocol::primitives::B256;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// The file in the data directory.
const FILE: &str = "genesis";

#[derive(Debug, Error)]
pub enum GenesisError {
    /// The file cannot be read or written.
    #[error("cannot access {}: {error}; the runner stores the genesis hash of its chain there", path.display())]
    Io { path: PathBuf, error: io::Error },
    /// It is not a hash.
    #[error(
        "{} holds no genesis hash; write the one that `remuda status --json` shows for the network of \
         this runner's journal, or delete it, and the next node that answers says which that is. Do not \
         start without the journal: results that were committed to would be lost with it, and stake \
         with them",
        .0.display()
    )]
    Malformed(PathBuf),
    /// A node of another chain.
    #[error(
        "node {node} is of chain {theirs}; this runner's journal is of {ours}: point `nodes` at the \
         right network. If it is the journal's name that is wrong, stop the runner and delete the file \
         `genesis` in its data directory. For another network take another data directory and keep \
         this one: without its journal, results that were committed to cannot be opened, and stake is \
         lost"
    )]
    Other {
        node: String,
        theirs: B256,
        /// The genesis that was written down.
        ours: B256,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Genesis {
    path: PathBuf,
    known: Arc<Mutex<Option<B256>>>,
}

impl Genesis {
    /// What an earlier start has written down, if one has.
    pub(crate) fn open(data: &Path) -> Result<Self, GenesisError> {
        let path = data.join(FILE);
        let known = match fs::read_to_string(&path) {
            Ok(text) => {
                let hash = text.trim().parse();
                Some(hash.map_err(|_| GenesisError::Malformed(path.clone()))?)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(GenesisError::Io { path, error }),
        };
        Ok(Self { path, known: Arc::new(Mutex::new(known)) })
    }

    /// Checks the chain of a node. The first node that answers decides it.
    pub(crate) fn check(&self, node: &str, theirs: B256) -> Result<(), GenesisError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match *known {
            Some(ours) if ours == theirs => Ok(()),
            Some(ours) => Err(GenesisError::Other { node: node.to_owned(), theirs, ours }),
            None => {
                let path = self.path.clone();
                self.write(theirs).map_err(|error| GenesisError::Io { path, error })?;
                *known = Some(theirs);
                Ok(())
            }
        }
    }

    /// Whole or not at all, and on the disk before anything is signed for this chain.
    fn write(&self, hash: B256) -> io::Result<()> {
        let draft = self.path.with_extension("new");
        let mut file = private::create(&draft)?;
        writeln!(file, "{hash}")?;
        file.sync_all()?;
        fs::rename(&draft, &self.path)?;
        match self.path.parent() {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("remuda-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn the_first_node_names_the_chain_and_no_later_one_does() {
        let folder = folder("genesis");
        let (first, second) = (B256::repeat_byte(1), B256::repeat_byte(2));
        let genesis = Genesis::open(&folder).unwrap();
        genesis.check("http://a", first).unwrap();
        for genesis in [genesis, Genesis::open(&folder).unwrap()] {
            genesis.check("http://b", first).unwrap();
            let error = genesis.check("http://b", second).unwrap_err().to_string();
            for part in
                ["http://b", &first.to_string(), &second.to_string(), "`nodes`", "`genesis`"]
            {
                assert!(error.contains(part), "{part}: {error}");
            }
            genesis.check("http://a", first).unwrap();
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_says_nothing_is_not_written_over() {
        let folder = folder("genesis-malformed");
        fs::write(folder.join(FILE), "what?").unwrap();
        assert!(matches!(Genesis::open(&folder), Err(GenesisError::Malformed(_))));
        assert_eq!(fs::read_to_string(folder.join(FILE)).unwrap(), "what?");
        fs::remove_dir_all(&folder).unwrap();
    }
}
