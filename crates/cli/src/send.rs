//! From an instruction to its receipt: the same for everything that is signed.

use crate::event_text;
use crate::failure::Failure;
use crate::format::cby;
use crate::session::{KeyArgs, Session};
use crate::style::{Style, Tone};
use rand::Rng as _;
use remuda_client::ClientError;
use remuda_client::amount::parse_limit;
use remuda_client::sign::Signed;
use remuda_client::types::{EventBody, ReceiptView, Submitted};
use remuda_protocol::primitives::{Amount, TxHash};
use remuda_protocol::transaction::Instruction;
use std::time::Duration;

/// How long a gift of the faucet may take into a block.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How often a transaction is signed again because another one took its nonce.
const TRIES: u32 = 8;

/// Spare cycles that make transactions of two commands differ.
const NONCE_JITTER_CYCLES: u32 = 4_096;

/// Who signs, and whether to wait.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    /// Highest deposit to pay for what the transaction stores in the state. A record's owner gets it back when the
    /// record is freed [default: what the instruction needs, and 4 KiB for what code writes].
    #[arg(long, value_name = "AMOUNT", value_parser = parse_limit)]
    pub(crate) max_deposit: Option<Amount>,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
}

#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct WaitArgs {
    /// Do not wait until it is in a block.
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// What a program may use beyond the price list. What it does not use is not paid.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    pub(crate) cycles: u64,
    pub(crate) cells: u64,
}

/// Signs an instruction, hands it in and prints what became of it.
pub(crate) async fn send(
    session: &Session,
    args: &SendArgs,
    instruction: Instruction,
) -> Result<(), Failure> {
    send_within(session, args, instruction, Room::default()).await
}

/// The same, with room for a program.
pub(crate) async fn send_within(
    session: &Session,
    args: &SendArgs,
    instruction: Instruction,
    room: Room,
) -> Result<(), Failure> {
    let key = args.key.read()?;
    let mut tries = 0;
    loop {
        let mut body = session.client.quote(key.address()).await?.transaction(instruction.clone());
        // Commands that order the same thing at the same moment are two orders: the same bytes would be
        // one transaction. What is not used of the limit costs nothing.
        body.max_deposit = args.max_deposit.unwrap_or(body.max_deposit);
        body.cells_limit = body.cells_limit.saturating_add(room.cells);
        body.cycles_limit = body.cycles_limit.saturating_add(room.cycles);
        body.cycles_limit += u64::from(crate::rng::from_os().next_u32() % NONCE_JITTER_CYCLES);
        let signed = Signed::new(&body.sign(&key));
        match hand_in(session, &signed, args.wait).await {
            // Another command of the same key took the nonce. Safe to re-sign: the refused nonce can
            // no longer be included.
            Err(Failure::Client(error)) if tries < TRIES && was_overtaken(&error) => tries += 1,
            other => return other,
        }
    }
}

fn was_overtaken(error: &ClientError) -> bool {
    matches!(error.code(), Some("replacement_underpriced" | "nonce_too_low"))
}

/// Hands a signed transaction in and prints what became of it.
pub(crate) async fn hand_in(
    session: &Session,
    signed: &Signed,
    wait: WaitArgs,
) -> Result<(), Failure> {
    if wait.no_wait {
        let submitted = session.client.submit(signed).await?;
        return session.out.show(&submitted, render_submitted);
    }
    let receipt = session.client.submit_and_wait(signed).await?;
    report(session, receipt)
}

/// Prints a receipt; fails if it says that the rules turned the transaction down.
pub(crate) fn report(session: &Session, receipt: ReceiptView) -> Result<(), Failure> {
    if receipt.ok || session.out.json {
        session.out.show_events(&receipt, render_receipt)?;
    }
    if receipt.ok { Ok(()) } else { Err(Failure::TurnedDown(Box::new(receipt))) }
}

/// Waits until a transaction that somebody handed in is in a block.
pub(crate) async fn await_receipt(
    session: &Session,
    hash: TxHash,
    patience: Duration,
) -> Result<ReceiptView, Failure> {
    session.client.await_receipt(hash, patience).await.map_err(|error| match error {
        ClientError::NotIncluded(hash) => Failure::StillWaiting(hash),
        other => other.into(),
    })
}

pub(crate) fn render_submitted(submitted: &Submitted, _: Style) -> String {
    let hash = submitted.hash;
    format!("handed in as {hash}\nwait for it: remuda tx wait {hash}\n")
}

/// Where it is, what it cost, and what it did.
pub(crate) fn render_receipt(receipt: &ReceiptView, style: Style) -> String {
    let (tone, verdict) =
        if receipt.ok { (Tone::Good, "done") } else { (Tone::Bad, "turned down") };
    let fee = cby(Amount(receipt.fee.0));
    let mut text = format!("{} in block {}, fee {fee}", style.paint(tone, verdict), receipt.height);
    if let Some(hash) = receipt.transaction {
        text += &format!(", transaction {hash}");
    }
    text.push('\n');
    for moment in receipt.events.iter().flat_map(event_text::of) {
        text += &format!("  {}\n", moment.sentence(style));
    }
    for event in &receipt.events {
        // Other commands take the timer's id, so the output names it.
        if let EventBody::TimerScheduled { timer, .. } = event {
            text += &format!("timer {timer}\n");
        }
    }
    text
}
