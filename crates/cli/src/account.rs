//! `remuda account`: money.

use crate::failure::Failure;
use crate::format::cby;
use crate::send::{PATIENCE, SendArgs, WaitArgs, await_receipt, report, send};
use crate::session::{NodeArgs, Session, run};
use crate::style::{Card, Style};
use clap::Subcommand;
use remuda_client::amount::parse_with_unit;
use remuda_client::types::{AccountView, FaucetResponse, HexAddress};
use remuda_client::wallet;
use remuda_node::api::Limits;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::transaction::Instruction;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show an account, send money, or ask the faucet for some.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ remuda account faucet --key my.key
  $ remuda account show --key my.key
  $ remuda account send 0x52908400098527886e0f7030069857d2e4169ee7 1.5cby --key my.key")]
pub struct Args {
    #[command(flatten)]
    node: NodeArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Show what the chain keeps of an account.
    #[command(after_help = "Examples:
  $ remuda account show 0x52908400098527886e0f7030069857d2e4169ee7
  $ remuda account show --key my.key --json")]
    Show(AccountArg),
    /// Send money, and wait until it is there.
    #[command(after_help = "Examples:
  $ remuda account send 0x52908400098527886e0f7030069857d2e4169ee7 1.5cby --key my.key
  $ remuda account send 0x52908400098527886e0f7030069857d2e4169ee7 250units --key my.key --no-wait

Amounts have a unit: 1.5cby, or base units, of which a CBY has 1000000000, like 250units.")]
    Send {
        /// The account that gets it.
        to: HexAddress,
        /// How much: 1.5cby, or 1500000000units.
        #[arg(value_parser = parse_with_unit)]
        amount: Amount,
        #[command(flatten)]
        send: SendArgs,
    },
    /// Ask for money on a development chain, and wait until it is there.
    #[command(after_help = faucet_help())]
    Faucet {
        #[command(flatten)]
        whose: AccountArg,
        #[command(flatten)]
        wait: WaitArgs,
    },
}

/// An account: by address, or as that of a key.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = true)]
pub(crate) struct AccountArg {
    /// Address of the account.
    address: Option<HexAddress>,
    /// The file of a key, instead of its address.
    #[arg(long, value_name = "FILE", env = "REMUDA_KEY", hide_env_values = true)]
    key: Option<PathBuf>,
}

impl AccountArg {
    /// An address that is given counts more than a key, which may come from the environment.
    pub(crate) fn address(&self) -> Result<Address, Failure> {
        match (self.address, &self.key) {
            (Some(HexAddress(address)), _) => Ok(address),
            (None, Some(key)) => Ok(wallet::read(key)?.address()),
            (None, None) => Err(Failure::Usage("give an address, or --key FILE")),
        }
    }
}

pub fn main(args: &Args) -> ExitCode {
    run(&args.node, async |session| match &args.command {
        Command::Show(whose) => {
            let account = session.client.account(whose.address()?).await?;
            session.out.show(&account, render)
        }
        Command::Send { to, amount, send: args } => {
            let (to, amount) = (to.0, *amount);
            send(session, args, Instruction::Transfer { to, amount }).await
        }
        Command::Faucet { whose, wait } => faucet(session, whose.address()?, *wait).await,
    })
}

/// The limits are the node's own; a node that was built otherwise has others.
fn faucet_help() -> String {
    let Limits { faucet_cby, faucet_burst, faucet_every, .. } = Limits::default();
    let (gift, every) = (cby(Amount::cby(faucet_cby)), faucet_every.as_secs());
    format!(
        "Examples:
  $ remuda account faucet --key my.key
  $ remuda account faucet 0x52908400098527886e0f7030069857d2e4169ee7

A gift is {gift}. A node gives {faucet_burst} at once, and one more every {every} s, to each account and to each
client (by its network address, whatever the account)."
    )
}

async fn faucet(session: &Session, address: Address, wait: WaitArgs) -> Result<(), Failure> {
    let gift = session.client.faucet(address).await?;
    if wait.no_wait {
        return session.out.show(&gift, render_gift);
    }
    report(session, await_receipt(session, gift.transaction.0, PATIENCE).await?)
}

fn render_gift(gift: &FaucetResponse, _: Style) -> String {
    let (amount, hash) = (cby(Amount(gift.amount.0)), gift.transaction);
    format!("{amount} are on their way in {hash}\nwait for it: remuda tx wait {hash}\n")
}

fn render(account: &AccountView, style: Style) -> String {
    let mut card = Card::default();
    card.add("address", account.address);
    card.add("balance", cby(Amount(account.balance.0)));
    let waiting = account.next_nonce.0 - account.nonce.0.min(account.next_nonce.0);
    let note = if waiting == 0 { String::new() } else { format!(", {waiting} more wait") };
    card.add("transactions", format!("{}{note}", account.nonce));
    card.add("runner", if account.is_runner { "yes" } else { "no" });
    card.add("failed callbacks", account.failed_callbacks);
    card.add("at height", account.height);
    card.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_client::types::{BigUint, Uint};

    #[test]
    fn an_account_says_what_still_waits() {
        let account = AccountView {
            address: HexAddress::default(),
            balance: BigUint(1_500_000_000),
            nonce: Uint(3),
            next_nonce: Uint(5),
            failed_callbacks: Uint(0),
            is_runner: false,
            height: Uint(9),
        };
        let text = render(&account, Style { terminal: false, colours: false });
        assert!(text.contains("balance\t1.5 CBY\n"));
        assert!(text.contains("transactions\t3, 2 more wait\n"));
    }
}
