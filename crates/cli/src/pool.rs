//! `remuda pool`: pools of runners, and who is in them.

use crate::failure::Failure;
use crate::format::grouped;
use crate::send::{Room, SendArgs, send, send_within};
use crate::session::{NodeArgs, Session, run};
use crate::style::{Card, Style, clean};
use clap::Subcommand;
use remuda_client::types::{EntitlementView, HexAddress, HexHash, PoolName, PoolView};
use remuda_protocol::codec::Bytes;
use remuda_protocol::entitlements::constraints::Constraints;
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::primitives::Height;
use remuda_protocol::transaction::Instruction;
use std::process::ExitCode;

/// Clearing away lapsed rights of the runner. What is not used is not paid.
const CLEARING: Room = Room { cycles: 50_000, cells: 0 };

/// Make a pool of runners, let runners in and put them out.
///
/// Only members of a pool run jobs that name it in `required_runner_pool`. The account or actor that
/// creates a pool owns it. Its name is any text, or 0x and hex digits.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda pool create trusted --key my.key
  $ remuda pool grant trusted 0x… --until 50000 --key my.key
  $ remuda pool accept trusted --key runner.key
  $ remuda pool show trusted
  $ remuda pool revoke trusted 0x… --key my.key")]
pub struct Args {
    #[command(flatten)]
    node: NodeArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make a pool, and own it.
    #[command(after_help = "Example:\n  $ remuda pool create trusted --key my.key")]
    Create {
        /// Name of the pool.
        pool: PoolName,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Invite a runner; it joins once it accepts.
    #[command(after_help = "Examples:
  $ remuda pool grant trusted 0x… --key my.key
  $ remuda pool grant trusted 0x… --until 50000 --key my.key")]
    Grant {
        /// Name of the pool.
        pool: PoolName,
        /// The runner's account.
        runner: HexAddress,
        /// The first block in which it counts.
        #[arg(long, value_name = "HEIGHT")]
        from: Option<u64>,
        /// The last block in which it counts.
        #[arg(long, value_name = "HEIGHT")]
        until: Option<u64>,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Accept a membership, with the runner's own key.
    #[command(after_help = "Example:\n  $ remuda pool accept trusted --key runner.key")]
    Accept {
        /// Name of the pool.
        pool: PoolName,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Put a runner out; a runner may leave by itself, with its own key.
    #[command(after_help = "Example:\n  $ remuda pool revoke trusted 0x… --key my.key")]
    Revoke {
        /// Name of the pool.
        pool: PoolName,
        /// The runner's account.
        runner: HexAddress,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Show a pool and its members.
    #[command(after_help = "Example:\n  $ remuda pool show trusted --json")]
    Show {
        /// Name of the pool.
        pool: PoolName,
    },
}

pub fn main(args: &Args) -> ExitCode {
    run(&args.node, async |session| match &args.command {
        Command::Create { pool, send: args } => {
            let scope = Scope::RunnerPool { id: id(pool) };
            send(session, args, Instruction::EntitlementCreateScope { scope }).await
        }
        Command::Grant { pool, runner, from, until, send: args } => {
            let instruction = Instruction::EntitlementGrant {
                grantee: runner.0,
                scope: Scope::RunnerPool { id: id(pool) },
                action: Action::join(&id(pool)),
                constraints: Constraints {
                    valid_from: from.map(Height),
                    valid_until: until.map(Height),
                    ..Constraints::default()
                },
            };
            send_within(session, args, instruction, CLEARING).await
        }
        Command::Accept { pool, send: args } => accept(session, pool, args).await,
        Command::Revoke { pool, runner, send: args } => revoke(session, pool, *runner, args).await,
        Command::Show { pool } => session.out.show(&whole(session, pool).await?, render),
    })
}

fn id(pool: &PoolName) -> Bytes {
    Bytes(pool.0.clone())
}

/// Accepts every membership that waits for the sender.
async fn accept(session: &Session, pool: &PoolName, args: &SendArgs) -> Result<(), Failure> {
    let runner = HexAddress(args.key.read()?.address());
    let held = session.client.entitlements(runner.0).await?.entitlements;
    let action = Action::join(&id(pool));
    let waits = |held: &EntitlementView| held.action.0 == action && !held.accepted;
    let mut memberships = held.into_iter().filter(waits).peekable();
    if memberships.peek().is_none() {
        session.client.pool(&pool.0, 0).await?;
        return Err(Failure::NotInvited { runner, pool: pool.clone() });
    }
    for EntitlementView { id: HexHash(entitlement), .. } in memberships {
        send(session, args, Instruction::EntitlementAccept { entitlement }).await?;
    }
    Ok(())
}

/// Ends every membership of a runner.
async fn revoke(
    session: &Session,
    pool: &PoolName,
    runner: HexAddress,
    args: &SendArgs,
) -> Result<(), Failure> {
    let held = session.client.entitlements(runner.0).await?.entitlements;
    let action = Action::join(&id(pool));
    let mut memberships = held.into_iter().filter(|held| held.action.0 == action).peekable();
    if memberships.peek().is_none() {
        // Also where there is no such pool, which is the better thing to say.
        session.client.pool(&pool.0, 0).await?;
        return Err(Failure::NotAMember { runner, pool: pool.clone() });
    }
    for EntitlementView { id: HexHash(entitlement), .. } in memberships {
        send(session, args, Instruction::EntitlementRevoke { entitlement }).await?;
    }
    Ok(())
}

/// A pool with all of its members.
async fn whole(session: &Session, pool: &PoolName) -> Result<PoolView, Failure> {
    let mut all = session.client.pool(&pool.0, 0).await?;
    while let Some(after) = all.next {
        let page = session.client.pool(&pool.0, after).await?;
        all.memberships.extend(page.memberships);
        all.next = page.next;
    }
    Ok(all)
}

fn render(pool: &PoolView, style: Style) -> String {
    let mut card = Card::default();
    card.add("pool", clean(&pool.name.to_string()));
    card.add("in a job", format!("\"required_runner_pool\": \"{}\"", pool.id));
    card.add("owner", pool.owner);
    card.add("members", grouped(pool.members));
    for membership in &pool.memberships {
        card.add("", format!("{}{}", membership.grantee, time(membership)));
    }
    card.add("after block", pool.height);
    card.render(style)
}

/// When a membership counts, where it does not always.
fn time(membership: &EntitlementView) -> String {
    let constraints = &membership.constraints;
    let from = constraints.valid_from.map(|from| format!(" from {from}")).unwrap_or_default();
    let until = constraints.valid_until.map(|until| format!(" until {until}")).unwrap_or_default();
    let lapsed = if membership.live { "" } else { " (not now)" };
    format!("{from}{until}{lapsed}")
}
