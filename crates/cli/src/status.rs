//! `remuda status`: where a node and its chain stand.

use crate::failure::Failure;
use crate::format::{cby, count, grouped, span};
use crate::session::{NodeArgs, Session, run};
use crate::style::{Card, Cell, Style, Tone};
use futures::StreamExt;
use remuda_client::EventFilter;
use remuda_client::types::{EventView, HexHash, StatusView};
use remuda_protocol::primitives::{Amount, Height};
use std::io::{Write as _, stderr};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::timeout;

/// How long a chain may be silent before that is said.
const QUIET: Duration = Duration::from_secs(5);

/// Show where a node and its chain stand.
///
/// With --watch, stay and follow the chain: on a terminal one line that is redrawn with each block,
/// elsewhere one line for each block. Ctrl-C ends it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda status
  $ remuda status --watch
  $ remuda status --json | jq .height")]
pub struct Args {
    #[command(flatten)]
    node: NodeArgs,
    #[arg(long)]
    watch: bool,
    /// End after so many blocks.
    #[arg(long, value_name = "N", requires = "watch")]
    blocks: Option<u64>,
}

pub fn main(args: &Args) -> ExitCode {
    run(&args.node, async |session| {
        let status = session.client.status().await?;
        if args.watch {
            return watch(session, &status, args.blocks).await;
        }
        session.out.show(&status, |status, style| render(status, now_ms(), style))
    })
}

/// Prints the status after each block.
async fn watch(session: &Session, status: &StatusView, blocks: Option<u64>) -> Result<(), Failure> {
    // What happened in the blocks is not shown; a job that nobody has keeps the messages short.
    let filter = EventFilter { job: Some(HexHash::default().0), ..EventFilter::default() };
    let mut events = session.client.events(&filter, Some(Height(status.height.0)));
    let (mut last_ms, mut left) = (status.timestamp_ms.0, blocks.unwrap_or(u64::MAX));
    let live = session.out.style.terminal && !session.out.json;
    while left > 0 {
        let quiet = Duration::from_millis(status.block_time_ms.0.saturating_mul(10)).max(QUIET);
        let block = loop {
            if let Ok(next) = timeout(quiet, events.next()).await {
                break next.transpose()?;
            }
            let age = span(now_ms().saturating_sub(last_ms));
            // Not among the blocks, and nobody has to read it.
            let _ = writeln!(stderr(), "no block for {age}; are enough validators running?");
        };
        let Some(block) = block else { break };
        let status = session.client.status().await?;
        let took_ms = block.timestamp_ms.0.saturating_sub(last_ms);
        (last_ms, left) = (block.timestamp_ms.0, left - 1);
        if live {
            let line = line(&block, &status, took_ms, session.out.style);
            // Back to the start of the line, and clear the rest of it.
            session.out.text(&format!("\r{line}\x1b[K"))?;
        } else {
            session
                .out
                .show(&status, |status, style| line(&block, status, took_ms, style) + "\n")?;
        }
    }
    if live { session.out.text("\n") } else { Ok(()) }
}

fn line(block: &EventView, status: &StatusView, took_ms: u64, style: Style) -> String {
    let ready = if status.ready {
        style.paint(Tone::Good, "ready")
    } else {
        style.paint(Tone::Bad, "catching up")
    };
    let height = style.paint(Tone::Title, &grouped(block.height.0));
    format!(
        "height {height}  view {}  {}  after {}  mempool {}  {}  {ready}",
        grouped(block.view.0),
        count(block.transactions as usize, "transaction"),
        span(took_ms),
        grouped(status.mempool.0),
        count(status.peers as usize, "peer"),
    )
}

/// Milliseconds since 1970, as block times are.
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

fn render(status: &StatusView, now_ms: u64, style: Style) -> String {
    let mut card = Card::default();
    let money = |amount| cby(Amount(amount));
    card.add("chain", format!("{}, genesis {}", status.chain_id, status.genesis_hash));
    card.add(
        "height",
        format!(
            "{}, {} ago",
            grouped(status.height.0),
            span(now_ms.saturating_sub(status.timestamp_ms.0))
        ),
    );
    card.add("block", status.block);
    card.add("view", grouped(status.view.0));
    card.add("block time", span(status.block_time_ms.0));
    card.add("policy", &status.policy);
    card.add("committees", format!("up to {}", count(status.m_adaptive.0 as usize, "runner")));
    card.add(
        "basefees",
        format!("{} per cycle, {} per cell", status.basefees.cycle, status.basefees.cell),
    );
    card.add("supply", format!("{}, {} burned", money(status.supply.0), money(status.burned.0)));
    card.add("mempool", count(status.mempool.0 as usize, "transaction"));
    card.add("peers", status.peers);
    card.add("ready", Cell::yes(status.ready));
    let uptime = span(status.uptime_seconds.0.saturating_mul(1_000));
    card.add("node", format!("version {}, up for {uptime}", status.version));
    for validator in &status.validators {
        let text = format!("{}, tips to {}", validator.key, validator.fee_recipient);
        card.add(&format!("validator {}", validator.index), text);
    }
    card.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_client::types::{BasefeesView, BigUint, HexAddress, Uint, ValidatorView};

    fn status() -> StatusView {
        StatusView {
            version: "0.1.0".to_owned(),
            chain_id: Uint(7),
            genesis_hash: HexHash::default(),
            height: Uint(1_234),
            block: HexHash::default(),
            timestamp_ms: Uint(10_000),
            view: Uint(1_240),
            block_time_ms: Uint(250),
            validators: vec![ValidatorView {
                index: 0,
                key: HexHash::default(),
                fee_recipient: HexAddress::default(),
            }],
            policy: "prefer".to_owned(),
            basefees: BasefeesView { cycle: BigUint(1), cell: BigUint(2) },
            state_deposit_per_kib: BigUint(3),
            supply: BigUint(3_000_000_000),
            burned: BigUint(0),
            m_adaptive: Uint(9),
            peers: 3,
            mempool: Uint(1),
            ready: false,
            uptime_seconds: Uint(61),
        }
    }

    #[test]
    fn a_status_has_a_line_for_each_fact() {
        let text = render(&status(), 10_420, Style { terminal: false, colours: false });
        for line in [
            "height\t1,234, 0.42 s ago",
            "policy\tprefer",
            "mempool\t1 transaction",
            "ready\tno",
            "supply\t3 CBY, 0 CBY burned",
            "node\tversion 0.1.0, up for 1 min 1 s",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
        }
        assert!(text.contains("validator 0\t0x0000"));
    }
}
