//! `remuda timer`: calls for later.

use crate::event_text;
use crate::failure::Failure;
use crate::format::grouped;
use crate::send::{SendArgs, send};
use crate::session::{NodeArgs, Session, run};
use crate::style::{Card, Style};
use clap::Subcommand;
use futures::StreamExt as _;
use remuda_client::EventFilter;
use remuda_client::types::{
    EventBody, HexAddress, HexBytes, HexHash, TimerConfigView, TimerView, TimersView,
};
use remuda_protocol::primitives::Height;
use remuda_protocol::timers::config::TimerConfig;
use remuda_protocol::timers::host::ScheduleTimer;
use remuda_protocol::transaction::Instruction;
use serde_json::json;
use std::process::ExitCode;

/// Schedule, follow and cancel timers; show the timer lane.
///
/// A timer is a call at a later height. It pays when it fires: the cycle basefee, the lane's own basefee and
/// a tip, by which timers that are due at the same time are ordered. Its payer must then have what it may
/// cost at most, all of --gas-limit and --max-cells, and gets back what the call did not use; without that
/// the timer ends. Actors set timers for themselves; an account may, too, and its timer calls nobody but
/// shows when it would have.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda timer lane
  $ remuda timer schedule --after 10 --text hello --key my.key
  $ remuda timer watch 0x…
  $ remuda timer cancel 0x… --key my.key")]
pub struct Args {
    #[command(flatten)]
    node: NodeArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// What the lane asks, how many wait, and the limits on timers.
    #[command(after_help = "Example:\n  $ remuda timer lane --json")]
    Lane,
    /// Set a timer of this account.
    #[command(after_help = "Examples:
  $ remuda timer schedule --after 10 --key my.key
  $ remuda timer schedule --at 5000 --text 'wake up' --tip 3 --key my.key

What is not given is as the chain sees fit: 100,000 cycles, 16,384 cells, twice the lane's basefee at most, the usual
tip, the longest life. `remuda timer lane` shows the limits.")]
    Schedule {
        #[command(flatten)]
        terms: Box<Terms>,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Show a timer that has not ended.
    #[command(after_help = "Example:\n  $ remuda timer show 0x…")]
    Show {
        /// Timer id.
        id: HexHash,
    },
    /// Follow a timer that has not ended; fail if it ends without firing.
    #[command(after_help = "Example:\n  $ remuda timer watch 0x…")]
    Watch {
        /// Timer id.
        id: HexHash,
    },
    /// Cancel a timer.
    #[command(after_help = "Example:\n  $ remuda timer cancel 0x… --key my.key")]
    Cancel {
        /// Timer id.
        id: HexHash,
        /// As a system deployer: anybody's timer.
        #[arg(long)]
        system: bool,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Let a timer wait for longer. When it is due stays as it is.
    #[command(after_help = "Example:
  $ remuda timer schedule --after 10 --expires-at 1000 --key my.key
  $ remuda timer extend 0x… --until 5000 --key my.key

A timer that was given no --expires-at has the longest life already.")]
    Extend {
        /// Timer id.
        id: HexHash,
        /// The last block in which it may fire.
        #[arg(long, value_name = "HEIGHT")]
        until: u64,
        /// As a system deployer: anybody's timer.
        #[arg(long)]
        system: bool,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Change the limits on timers, as a system deployer.
    #[command(after_help = "Example:
  $ remuda timer limits --gas-limit-max 200000 --key faucet.key

What is not given stays as it is. On a development chain the faucet's key may.")]
    Limits {
        #[command(flatten)]
        limits: NewLimits,
        #[command(flatten)]
        send: SendArgs,
    },
}

#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
struct When {
    /// The height at which it is due.
    #[arg(long, value_name = "HEIGHT")]
    at: Option<u64>,
    /// So many blocks after the next one, which takes the transaction if nothing holds it up.
    #[arg(long, value_name = "BLOCKS", value_parser = clap::value_parser!(u64).range(1..))]
    after: Option<u64>,
}

#[derive(clap::Args, Debug)]
struct Terms {
    #[command(flatten)]
    when: When,
    /// What it carries, as text.
    #[arg(long, value_name = "TEXT", conflicts_with = "payload")]
    text: Option<String>,
    /// What it carries, in hex.
    #[arg(long, value_name = "HEX")]
    payload: Option<HexBytes>,
    /// The last block in which it may fire.
    #[arg(long, value_name = "HEIGHT")]
    expires_at: Option<u64>,
    /// Most cycles of the call.
    #[arg(long, value_name = "CYCLES")]
    gas_limit: Option<u64>,
    /// Most cells of the call.
    #[arg(long, value_name = "CELLS")]
    max_cells: Option<u64>,
    /// The most it pays per cycle in the lane, in base units.
    #[arg(long, value_name = "UNITS")]
    max_fee: Option<u128>,
    /// The most of it that is tip, in base units.
    #[arg(long, value_name = "UNITS")]
    tip: Option<u128>,
    /// An actor of yours that names its fees when it is due (its method `getGasBid`).
    #[arg(long, value_name = "ADDRESS")]
    agent: Option<HexAddress>,
}

#[derive(clap::Args, Debug)]
#[group(required = true, multiple = true)]
struct NewLimits {
    /// Longest life of a timer.
    #[arg(long, value_name = "BLOCKS")]
    ttl_blocks_max: Option<u64>,
    /// Timers that an actor may have at a time.
    #[arg(long, value_name = "TIMERS")]
    live_per_actor_max: Option<u32>,
    /// Most bytes of a payload.
    #[arg(long, value_name = "BYTES")]
    payload_bytes_max: Option<u32>,
    /// Cycles that a timer may ask for; those that ask for more wait.
    #[arg(long, value_name = "CYCLES")]
    gas_limit_max: Option<u64>,
    /// Cells that a timer may ask for.
    #[arg(long, value_name = "CELLS")]
    cells_max: Option<u64>,
    /// Cycles of the cleaning lane.
    #[arg(long, value_name = "CYCLES")]
    gc_cycles_per_block: Option<u64>,
}

pub fn main(args: &Args) -> ExitCode {
    run(&args.node, async |session| match &args.command {
        Command::Lane => session.out.show(&session.client.timers().await?, render_lane),
        Command::Schedule { terms, send: args } => {
            let instruction = Instruction::ScheduleTimer { timer: terms.call(session).await? };
            send(session, args, instruction).await
        }
        Command::Show { id } => session.out.show(&session.client.timer(id.0).await?, render),
        Command::Watch { id } => watch(session, *id).await,
        Command::Cancel { id: HexHash(timer), system, send: args } => {
            let timer = *timer;
            let instruction = match system {
                true => Instruction::SystemCancelTimer { timer },
                false => Instruction::CancelTimer { timer },
            };
            send(session, args, instruction).await
        }
        Command::Extend { id: HexHash(timer), until, system, send: args } => {
            let (timer, expires_at) = (*timer, Height(*until));
            let instruction = match system {
                true => Instruction::SystemExtendTimer { timer, expires_at },
                false => Instruction::ExtendTimer { timer, expires_at },
            };
            send(session, args, instruction).await
        }
        Command::Limits { limits, send: args } => {
            let now = session.client.timers().await?.limits;
            send(session, args, Instruction::UpdateTimerConfig { config: limits.over(now) }).await
        }
    })
}

impl Terms {
    async fn call(&self, session: &Session) -> Result<ScheduleTimer, Failure> {
        let height = match self.when {
            When { at: Some(at), .. } => at,
            When { after, .. } => {
                let next = session.client.timers().await?.height.0.saturating_add(1);
                next.saturating_add(after.unwrap_or(1))
            }
        };
        let payload = match (&self.text, &self.payload) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(HexBytes(bytes))) => bytes.clone(),
            (None, None) => Vec::new(),
        };
        Ok(ScheduleTimer {
            height: Height(height),
            payload: payload.into(),
            gas_limit: self.gas_limit,
            max_cells: self.max_cells,
            expires_at: self.expires_at.map(Height),
            max_fee_per_cycle: self.max_fee,
            max_priority_fee_per_cycle: self.tip,
            agent: self.agent.map(|HexAddress(agent)| agent),
            ..ScheduleTimer::default()
        })
    }
}

impl NewLimits {
    fn over(&self, now: TimerConfigView) -> TimerConfig {
        TimerConfig {
            ttl_blocks_max: self.ttl_blocks_max.unwrap_or(now.ttl_blocks_max.0),
            live_per_actor_max: self.live_per_actor_max.unwrap_or(now.live_per_actor_max),
            payload_bytes_max: self.payload_bytes_max.unwrap_or(now.payload_bytes_max),
            gas_limit_max: self.gas_limit_max.unwrap_or(now.gas_limit_max.0),
            cells_max: self.cells_max.unwrap_or(now.cells_max.0),
            gc_cycles_per_block: self.gc_cycles_per_block.unwrap_or(now.gc_cycles_per_block.0),
        }
    }
}

const BROKE: &str = "its payer did not have what the call may cost at most (its gas limit and cells at their prices)";

/// What happens to it, until it ends. One that has ended already is unknown to the node.
async fn watch(session: &Session, id: HexHash) -> Result<(), Failure> {
    let timer = session.client.timer(id.0).await?;
    if !session.out.json {
        session.out.text(&render(&timer, session.out.style))?;
    }
    let mut events = session.client.events(&EventFilter::default(), Some(Height(timer.height.0)));
    while let Some(block) = events.next().await.transpose()? {
        for happened in block.events.iter().filter(|event| about(&event.event) == Some(id)) {
            let said = json!({ "height": block.height, "event": happened.event });
            session.out.show(&said, |_, style| {
                let sentences = event_text::of(&happened.event).into_iter();
                sentences
                    .map(|one| format!("block {}: {}\n", block.height, one.sentence(style)))
                    .collect()
            })?;
            match &happened.event {
                EventBody::TimerFired { .. } => return Ok(()),
                EventBody::TimerExpired { .. } => return Err(Failure::TimerOver("it expired")),
                EventBody::TimerCancelled { .. } => {
                    return Err(Failure::TimerOver("it was cancelled"));
                }
                EventBody::TimerCancelledInsufficientFunds { .. } => {
                    return Err(Failure::TimerOver(BROKE));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The timer that an event is about.
fn about(event: &EventBody) -> Option<HexHash> {
    use EventBody as E;
    match event {
        E::TimerScheduled { timer, .. }
        | E::TimerPriorityClampedAtSchedule { timer, .. }
        | E::TimerFired { timer, .. }
        | E::TimerExpired { timer, .. }
        | E::TimerCancelled { timer, .. }
        | E::TimerCancelledInsufficientFunds { timer, .. }
        | E::TimerExtended { timer, .. }
        | E::GasBidFailed { timer, .. } => Some(*timer),
        _ => None,
    }
}

fn render_lane(lane: &TimersView, style: Style) -> String {
    let mut card = Card::default();
    card.add("basefee", format!("{} per cycle, besides the cycle basefee", lane.basefee));
    card.add("usual tip", lane.median_tip);
    card.add("due and waiting", grouped(lane.waiting.0));
    card.add("expired, not cleaned away", grouped(lane.uncollected.0));
    card.add("longest life", format!("{} blocks", grouped(lane.limits.ttl_blocks_max.0)));
    card.add("timers of one actor", format!("at most {}", grouped(lane.limits.live_per_actor_max)));
    card.add("payload", format!("at most {} bytes", grouped(lane.limits.payload_bytes_max)));
    card.add("cycles of a timer", format!("at most {}", grouped(lane.limits.gas_limit_max.0)));
    card.add("cells of a timer", format!("at most {}", grouped(lane.limits.cells_max.0)));
    card.add("cleaning", format!("{} cycles a block", grouped(lane.limits.gc_cycles_per_block.0)));
    let deployers: Vec<_> = lane.system_deployers.iter().map(ToString::to_string).collect();
    card.add(
        "system deployers",
        if deployers.is_empty() { "nobody".into() } else { deployers.join(", ") },
    );
    card.add("after block", lane.height);
    card.render(style)
}

fn render(timer: &TimerView, style: Style) -> String {
    let mut card = Card::default();
    card.add("timer", timer.id);
    card.add("of", timer.actor);
    let wait = match timer.due.0.checked_sub(timer.height.0) {
        Some(0) | None => "due".to_owned(),
        Some(1) => "in the next block".to_owned(),
        Some(blocks) => format!("in {} blocks", grouped(blocks)),
    };
    card.add("due", format!("{} ({wait})", timer.due));
    card.add("may fire until", timer.expires_at);
    card.add("paid by", timer.fee_payer);
    card.add(
        "cycles, cells",
        format!("at most {}, {}", grouped(timer.gas_limit.0), grouped(timer.max_cells.0)),
    );
    let (most, tip) = (timer.max_fee_per_cycle, timer.max_priority_fee_per_cycle);
    card.add(
        "pays per cycle",
        format!("at most {most} besides the cycle basefee, of that a tip of at most {tip}"),
    );
    if let Some(agent) = timer.agent {
        card.add("fees named by", agent);
    }
    card.add("payload", format!("{} bytes", grouped(timer.payload.0.len() as u64)));
    card.render(style)
}
