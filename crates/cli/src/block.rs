//! `remuda block`: finalised blocks.

use crate::failure::Failure;
use crate::format::{cby, count, utc};
use crate::session::{NodeArgs, Session, run};
use crate::style::{Card, Cell, Style, Table, Tone};
use futures::StreamExt;
use remuda_client::types::{BlockView, EventView, HexHash, ReceiptView, Uint};
use remuda_client::{BlockId, EventFilter};
use remuda_protocol::primitives::{Amount, Height};
use std::process::ExitCode;

/// Show a block, or follow the chain block by block.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda block
  $ remuda block 17
  $ remuda block --follow
  $ remuda block 1 --follow --json | jq -c '.events[]'

With --follow, each block comes once and none is left out, whatever happens to the connection.")]
pub struct Args {
    #[command(flatten)]
    node: NodeArgs,
    /// `latest`, a height, or a hash.
    #[arg(default_value = "latest", value_parser = parse_id)]
    id: BlockId,
    /// Go on with the blocks that follow.
    #[arg(long)]
    follow: bool,
    /// End after so many blocks.
    #[arg(long, value_name = "N", requires = "follow")]
    blocks: Option<u64>,
}

fn parse_id(text: &str) -> Result<BlockId, &'static str> {
    if text == "latest" {
        return Ok(BlockId::Latest);
    }
    let hash = text.parse().map(|HexHash(hash)| BlockId::Hash(hash));
    let id = hash.or_else(|_| text.parse().map(|Uint(height)| BlockId::Height(Height(height))));
    id.map_err(|_| "write a block's number like 17, its hash (0x and 64 hex digits), or latest")
}

pub fn main(args: &Args) -> ExitCode {
    run(&args.node, async |session| {
        if args.follow {
            return follow(session, args.id, args.blocks.unwrap_or(u64::MAX)).await;
        }
        let block = session.client.full_block(args.id).await?;
        session.out.show(&block, render)
    })
}

async fn follow(session: &Session, id: BlockId, mut left: u64) -> Result<(), Failure> {
    let first = session.client.block(id).await?.height.0;
    let last = Height(first).minus(1);
    let mut events = session.client.events(&EventFilter::default(), Some(last));
    while left > 0 {
        let Some(block) = events.next().await.transpose()? else { break };
        left -= 1;
        session.out.show(&block, line)?;
    }
    Ok(())
}

fn line(block: &EventView, style: Style) -> String {
    let transactions = count(block.transactions as usize, "transaction");
    let events = count(block.events.len(), "event");
    let (hash, time) = (style.hex(block.block.0), utc(block.timestamp_ms.0));
    if !style.terminal {
        let (height, view) = (block.height, block.view);
        let (transactions, events) = (block.transactions, block.events.len());
        return format!("{height}\t{hash}\t{view}\t{time}\t{transactions}\t{events}\n");
    }
    let height = style.paint(Tone::Title, &format!("{:>8}", block.height.0));
    format!("{height}  {hash}  view {:<8}  {time}  {transactions}, {events}\n", block.view.0)
}

fn render(block: &BlockView, style: Style) -> String {
    let mut card = Card::default();
    card.add("height", block.height);
    card.add("hash", block.hash);
    card.add("parent", block.parent);
    card.add("time", utc(block.timestamp_ms.0));
    card.add("view", format!("{} of epoch {}", block.view, block.epoch));
    card.add("proposer", block.proposer);
    card.add("state root", block.state.root);
    card.add("receipts root", block.receipts_root);
    card.add("seeds", block.seeds.len());
    let presence = match &block.presence {
        Some(certificate) => format!(
            "certificate of height {}, {}",
            certificate.height,
            count(certificate.attestations.len(), "attestation")
        ),
        None => "no certificate".to_owned(),
    };
    card.add("presence", presence);
    card.add("transactions", block.transactions.len());
    let mut text = card.render(style);
    if !block.transactions.is_empty() {
        text.push('\n');
        text += &transactions(block, style);
    }
    text
}

fn transactions(block: &BlockView, style: Style) -> String {
    let (bodies, receipts) = (block.bodies.as_deref(), block.receipts.as_deref());
    let body = |hash: &HexHash| bodies?.iter().find(|body| body.hash == *hash);
    let receipt = |hash: &HexHash| receipts?.iter().find(|it| it.transaction == Some(*hash));
    Table::of(&block.transactions)
        .left("transaction", |hash| hash)
        .left("from", |hash| Cell::optional(body(hash).and_then(|body| body.from)))
        .left("what", |hash| Cell::optional(body(hash).map(|body| body.instruction.name())))
        .left("ended", |hash| ended(receipt(hash)))
        .right("fee", |hash| Cell::optional(receipt(hash).map(|it| cby(Amount(it.fee.0)))))
        .render(style)
}

fn ended(receipt: Option<&ReceiptView>) -> Cell {
    match receipt {
        None => "".into(),
        Some(receipt) if receipt.ok => Cell::new(Tone::Good, "ok"),
        Some(receipt) => {
            let name = receipt.refusal.as_ref().map_or("refused", |refusal| &refusal.name);
            Cell::new(Tone::Bad, name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_three_kinds_of_names() {
        assert_eq!(parse_id("latest"), Ok(BlockId::Latest));
        assert_eq!(parse_id("17"), Ok(BlockId::Height(Height(17))));
        assert!(matches!(parse_id(&format!("0x{}", "ab".repeat(32))), Ok(BlockId::Hash(_))));
        for wrong in ["", "newest", "-1", "0x12", "1.5"] {
            assert!(parse_id(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_followed_block_is_one_line() {
        let block = EventView {
            height: Uint(17),
            block: HexHash::default(),
            parent: HexHash::default(),
            view: Uint(20),
            timestamp_ms: Uint(0),
            transactions: 1,
            events: Vec::new(),
        };
        let text = line(&block, Style { terminal: true, colours: false });
        assert!(text.starts_with("      17  0x00000000…  view 20 "), "{text}");
        assert!(text.ends_with("1 transaction, 0 events\n"), "{text}");
        assert_eq!(line(&block, Style { terminal: false, colours: false }).lines().count(), 1);
    }
}
