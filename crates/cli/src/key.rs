//! `remuda key`: keys in files.

use crate::failure::Failure;
use crate::session::{Output, PrintArgs};
use clap::Subcommand;
use remuda_client::types::HexAddress;
use remuda_client::wallet;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make a key, or show the address of one.
///
/// A key is a file with 64 hex digits that only its owner may read. The key controls the account.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda key new my.key
  $ remuda key address my.key")]
pub struct Args {
    #[command(flatten)]
    print: PrintArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make a new key, and print its address.
    ///
    /// The file gets mode 0600. A file that is there already is never overwritten.
    #[command(after_help = "Example:\n  $ remuda key new my.key")]
    New {
        /// File to create.
        file: PathBuf,
    },
    /// Print the address of a key.
    #[command(visible_alias = "show", after_help = "Example:\n  $ remuda key address my.key")]
    Address {
        /// Key file.
        file: PathBuf,
    },
}

pub fn main(args: &Args) -> ExitCode {
    let out = Output::new(args.print);
    let result = match &args.command {
        Command::New { file } => print(out, file, wallet::create(file)),
        Command::Address { file } => print(out, file, wallet::read(file)),
    };
    out.end(result, &[])
}

fn print(
    out: Output,
    file: &Path,
    key: Result<remuda_protocol::crypto::SecretKey, wallet::WalletError>,
) -> Result<(), Failure> {
    let address = HexAddress(key?.address());
    out.show(&json!({ "address": address, "file": file }), |_, _| format!("{address}\n"))
}
