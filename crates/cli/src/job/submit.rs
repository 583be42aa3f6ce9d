//! `remuda job submit`.

use super::{shortage, show, watch};
use crate::failure::Failure;
use crate::send::SendArgs;
use crate::session::{Session, read_input};
use crate::style::Style;
use remuda_client::types::{EventBody, HexHash, JobSpecView, ReceiptView};
use remuda_protocol::dispatcher::spec::JobSpec;
use remuda_protocol::dispatcher::submit::job_id;
use remuda_protocol::dispatcher::validate::{compile_checks, normalise, validate};
use remuda_protocol::params::ChainParams;
use remuda_protocol::primitives::Height;
use remuda_protocol::transaction::Instruction;
use serde::Serialize;
use std::path::PathBuf;

/// Shown by `--help`; a test reads it.
pub(super) const EXAMPLE: &str = r#"Example:
  $ cat job.json
  {
    "job_type": {"Http": {"method": "GET", "url": "https://example.org/price"}},
    "verification": {"mode": "majority_vote", "runners": 3, "threshold": 2,
                     "checks": [{"MajorityVote": {"field": "body.price"}}]},
    "result_schema": {"max_return_bytes": 1024, "expected_execution_ms": 500, "data_format": "json"},
    "max_price": "100cby",
    "timeout_blocks": 60
  }
  $ remuda job submit job.json --key my.key --wait

A web answer as JSON is {"status": …, "content_type": …, "body": …}; with "extract": "price" beside the URL it is
{"status": …, "value": …} instead, the value being that field of the body. Fields are named like body.items[0].name,
and results without the field agree with nobody. max_price and tip are like 1.5cby, or in base
units, of which a CBY has 1000000000. Other kinds of work (language models,
tools, Ethereum, programs, DNS), modes and their checks: remuda job example --help. `remuda job show ID
--json` shows all fields of a job."#;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The job in JSON; `-` for standard input.
    file: PathBuf,
    #[command(flatten)]
    send: SendArgs,
    /// Wait until the job is over, and print its result.
    #[arg(long, conflicts_with = "no_wait")]
    wait: bool,
}

/// An order and where it is.
#[derive(Serialize)]
struct Ordered {
    job: HexHash,
    transaction: HexHash,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ReceiptView>,
}

pub(super) async fn submit(session: &Session, args: &Args) -> Result<(), Failure> {
    let spec = read_spec(&read_input(&args.file)?)?;
    let key = args.send.key.read()?;
    check(&spec, &shortage::params(&session.client.params().await?))?;
    let quote = session.client.quote(key.address()).await?;
    let signed = quote.sign(&key, Instruction::SubmitJob { spec });
    let (transaction, job) =
        (HexHash(signed.hash), HexHash(job_id(quote.chain_id, signed.hash, 0)));
    if args.send.wait.no_wait {
        session.client.submit(&signed).await?;
        return session.out.show(&Ordered { job, transaction, receipt: None }, render);
    }
    let receipt = session.client.submit_and_wait(&signed).await?;
    if !receipt.ok {
        return crate::send::report(session, receipt);
    }
    if job_of(&receipt) != Some(job) {
        return Err(Failure::Nonsense("the receipt of the order is about another job"));
    }
    if !args.wait {
        let failed = failed(&receipt);
        let receipt = Some(receipt);
        session.out.show(&Ordered { job, transaction, receipt }, render)?;
        return match failed {
            true => watch::verdict(session, &watch::ended(&session.client, job.0).await?).await,
            false => Ok(()),
        };
    }
    if session.out.style.terminal && !session.out.json {
        session.out.text(&format!("ordered as {job} in block {}\n", receipt.height))?;
    }
    // The order's own block may end it already.
    let before = Height(receipt.height.0).minus(1);
    watch::follow(session, job.0, before, |_| Ok(())).await?;
    let job = watch::ended(&session.client, job.0).await?;
    show::present(session, &job).await?;
    watch::verdict(session, &job).await
}

/// Reads a job, and refuses what the chain would refuse for its own sake alone.
fn read_spec(json: &[u8]) -> Result<JobSpec, Failure> {
    let spec = JobSpec::try_from(&JobSpecView::from_json(json)?)?;
    compile_checks(&spec)?;
    Ok(spec)
}

/// Refuses what the chain would refuse: that would cost a fee. Whether governance vouches for a program,
/// only the chain knows.
fn check(spec: &JobSpec, params: &ChainParams) -> Result<(), Failure> {
    let mut spec = spec.clone();
    normalise(&mut spec, params);
    Ok(validate(&spec, params, |_| true)?)
}

fn job_of(receipt: &ReceiptView) -> Option<HexHash> {
    receipt.events.iter().find_map(|event| match event {
        EventBody::JobSubmitted { job, .. } => Some(*job),
        _ => None,
    })
}

/// Whether a job's own order ended it: nobody was there to be drawn.
fn failed(receipt: &ReceiptView) -> bool {
    receipt.events.iter().any(|event| matches!(event, EventBody::JobFailed { .. }))
}

fn render(ordered: &Ordered, style: Style) -> String {
    let Ordered { job, transaction, receipt } = ordered;
    if !style.terminal {
        return format!("{job}\n");
    }
    let place = match receipt {
        Some(receipt) => format!("in block {}", receipt.height),
        None => format!("with transaction {transaction}"),
    };
    let next = match receipt.as_ref().is_some_and(failed) {
        true => format!("see what happened: remuda job history {job}"),
        false => format!("follow it: remuda job watch {job}"),
    };
    format!("ordered as {job} {place}\n{next}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use remuda_protocol::error::Refusal;
    use remuda_protocol::primitives::Amount;

    fn example() -> &'static str {
        let start = EXAMPLE.find('{').unwrap();
        &EXAMPLE[start..EXAMPLE.find("  $ remuda").unwrap()]
    }

    #[test]
    fn the_example_in_the_help_is_a_job() {
        let spec = read_spec(example().as_bytes()).unwrap();
        assert_eq!(spec.max_price, Amount::cby(100));
    }

    #[test]
    fn a_mistake_is_named_before_anything_is_sent() {
        let misspelt = example().replace("threshold", "treshold");
        let words = read_spec(misspelt.as_bytes()).unwrap_err().to_string();
        assert!(words.contains("verification.treshold"), "{words}");
        let malformed = example().replace("\"body.price\"}", "\"a..b\"}");
        assert!(matches!(read_spec(malformed.as_bytes()), Err(Failure::Rules(Refusal::BadCheck))));
        let hasty = example().replace("60\n", "1\n");
        let refused = check(&read_spec(hasty.as_bytes()).unwrap(), &ChainParams::one_second());
        assert!(matches!(refused, Err(Failure::Rules(Refusal::TimeoutTooShort))), "{hasty}");
    }
}
