//! `remuda tx`: transactions.

use crate::failure::Failure;
use crate::send::{WaitArgs, await_receipt, hand_in, render_receipt, report};
use crate::session::{NodeArgs, Session, read_input, run};
use crate::style::{Card, Style, clip};
use clap::Subcommand;
use remuda_client::sign::Signed;
use remuda_client::types::{HexBytes, HexHash, ReceiptView, TransactionView};
use remuda_protocol::transaction::tx_hash;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Show a transaction, wait for one, or hand in one that is signed already.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda tx show 0x…
  $ remuda tx wait 0x… --timeout 60
  $ remuda tx submit 0x…")]
pub struct Args {
    #[command(flatten)]
    node: NodeArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Show a transaction that is in a block, and how it ended.
    #[command(after_help = "Example:\n  $ remuda tx show 0x… --json | jq .receipt.ok")]
    Show {
        /// Hash of its signed bytes.
        hash: HexHash,
    },
    /// Wait until a transaction is in a block; fail if the chain turned it down.
    #[command(after_help = "Example:\n  $ remuda tx wait 0x… --timeout 60")]
    Wait {
        /// Hash of its signed bytes.
        hash: HexHash,
        /// Seconds after which to give up.
        #[arg(long, value_name = "SECONDS", default_value_t = 30)]
        timeout: u64,
    },
    /// Hand in signed bytes, and wait until they are in a block.
    ///
    /// The same bytes are the same transaction: handing them in twice does no harm.
    #[command(after_help = "Examples:
  $ remuda tx submit 0x…
  $ cat signed.hex | remuda tx submit -")]
    Submit {
        /// The bytes in hex, or `-` for standard input.
        hex: String,
        #[command(flatten)]
        wait: WaitArgs,
    },
}

/// A transaction and how it ended.
#[derive(Serialize)]
struct Shown {
    transaction: TransactionView,
    receipt: ReceiptView,
}

pub fn main(args: &Args) -> ExitCode {
    run(&args.node, async |session| match &args.command {
        Command::Show { hash } => show(session, *hash).await,
        Command::Wait { hash, timeout } => {
            let patience = Duration::from_secs(*timeout);
            report(session, await_receipt(session, hash.0, patience).await?)
        }
        Command::Submit { hex, wait } => {
            let bytes = read_hex(hex)?;
            let signed = Signed { hash: tx_hash(&bytes), bytes };
            hand_in(session, &signed, *wait).await
        }
    })
}

async fn show(session: &Session, HexHash(hash): HexHash) -> Result<(), Failure> {
    let transaction = session.client.transaction(hash).await?;
    let receipt = session.client.receipt(hash).await?;
    session.out.show_events(&Shown { transaction, receipt }, render)
}

/// Bytes in hex, with or without 0x in front.
fn read_hex(text: &str) -> Result<Vec<u8>, Failure> {
    let stdin;
    let text = if text == "-" {
        let bytes = read_input(Path::new("-"))?;
        stdin = String::from_utf8_lossy(&bytes).into_owned();
        stdin.trim()
    } else {
        text
    };
    let text = text.strip_prefix("0x").unwrap_or(text);
    let HexBytes(bytes) = format!("0x{text}").parse()?;
    Ok(bytes)
}

fn render(shown: &Shown, style: Style) -> String {
    let Shown { transaction, receipt } = shown;
    let mut card = Card::default();
    card.add("transaction", transaction.hash);
    let from = transaction.from.map_or("nobody".to_owned(), |from| from.to_string());
    card.add("from", from);
    card.add("nonce", transaction.nonce);
    card.add("block", format!("{}, place {}", transaction.height, transaction.index));
    card.add("bytes", transaction.bytes);
    card.add("cycles", format!("{} of at most {}", receipt.used.cycles, transaction.cycles_limit));
    card.add("cells", format!("{} of at most {}", receipt.used.cells, transaction.cells_limit));
    card.add("instruction", instruction(transaction));
    if let Some(refusal) = &receipt.refusal {
        card.add("refused", format!("{} ({})", refusal.message, refusal.name));
    }
    format!("{}\n{}", card.render(style), render_receipt(receipt, style))
}

/// Characters of an instruction that are shown; `--json` has all of them.
const INSTRUCTION_CHARS_MAX: usize = 400;

fn instruction(transaction: &TransactionView) -> String {
    // What came as JSON can be written as JSON.
    let json = serde_json::to_string(&transaction.instruction).unwrap_or_default();
    clip(&json, INSTRUCTION_CHARS_MAX, "… (--json shows all)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_comes_with_or_without_a_prefix() {
        assert_eq!(read_hex("0x00ff").unwrap(), [0, 255]);
        assert_eq!(read_hex("00FF").unwrap(), [0, 255]);
        for wrong in ["0", "0x0", "0x0x00", "zz", "0x 00"] {
            assert!(matches!(read_hex(wrong), Err(Failure::Hex(_))), "{wrong}");
        }
    }
}
