//! Topic `verify`.

use super::input::{Node, hex_text};
use super::{Code, Failure};
use remuda_protocol::primitives::Address;
use remuda_protocol::verifier::check::{Check, VerifierCheck};
use remuda_protocol::verifier::decide::{Mode, ResultFormat, Submission, decide};
use remuda_protocol::verifier::json::Decimal;
use serde_json::{Value, json};

/// `MAX_RUNNERS requested` (SPEC §17).
const M_MAX: u32 = 64;

const CHECKS: [&str; 8] = [
    "MajorityVote",
    "StructuredMatch",
    "NumericRange",
    "NumericTolerance",
    "JsonSchemaValid",
    "Custom",
    "DnsTxtRecordMatch",
    "DnsCnameMatch",
];

/// A check as far as the results alone can judge it.
enum Readable {
    Judged(Check),
    /// Needs an actor or a runner's DNS reports.
    Unsupported,
}

pub(super) fn verify(input: &Node<'_>) -> Result<Value, Failure> {
    let mode = mode(&input.get("mode")?)?;
    let m = input.get("m")?.uint_in(1, M_MAX)?;
    let n_threshold = input.get("n_threshold")?.uint_in(1, m)?;
    let checks = checks(mode, &input.get("checks")?)?;
    let list = input.get("results")?;
    let results: Vec<(Address, &str)> =
        list.each(|node| Ok((node.get("runner")?.address()?, node.get("result")?.text()?)))?;
    if results.len() > m as usize {
        return Err(list.invalid(format_args!("{} results, but m is {m}", results.len())));
    }
    list.distinct(results.iter().map(|(runner, _)| *runner), "runner")?;
    // Last, so that whatever is malformed is reported before what is only unsupported.
    let checks = judged(checks)?;

    let submissions: Vec<Submission<'_>> = results
        .iter()
        .map(|(runner, text)| Submission { runner: *runner, result: text.as_bytes() })
        .collect();
    let decision =
        decide(mode, m as usize, n_threshold as usize, &checks, ResultFormat::Json, &submissions);
    let winners: Option<Vec<String>> =
        decision.map(|decision| decision.winners.iter().map(hex_text).collect());
    Ok(json!({ "winners": winners }))
}

fn mode(node: &Node<'_>) -> Result<Mode, Failure> {
    let modes = [
        ("majority_vote", Mode::MajorityVote),
        ("structured_match", Mode::StructuredMatch),
        ("deterministic", Mode::Deterministic),
    ];
    node.one_of("mode", &modes)
}

/// Reads all checks, and whether the mode takes them.
fn checks(mode: Mode, list: &Node<'_>) -> Result<Vec<Readable>, Failure> {
    let checks = list.each(check)?;
    let fits = match mode {
        Mode::MajorityVote => {
            matches!(checks.as_slice(), [Readable::Judged(Check::MajorityVote { .. })])
        }
        Mode::StructuredMatch => true,
        Mode::Deterministic => checks.is_empty(),
    };
    if !fits {
        return Err(list.invalid(
            "majority_vote takes exactly one MajorityVote, deterministic takes no check",
        ));
    }
    Ok(checks)
}

fn judged(checks: Vec<Readable>) -> Result<Vec<Check>, Failure> {
    let judged = |check| match check {
        Readable::Judged(check) => Ok(check),
        Readable::Unsupported => {
            let reason = "a Custom or DNS check cannot be judged from the results alone";
            Err(Failure::new(Code::UnsupportedCheck, reason))
        }
    };
    checks.into_iter().map(judged).collect()
}

/// `{"<name>": {…}}`, exactly one name.
fn check(node: &Node<'_>) -> Result<Readable, Failure> {
    let members = node.members()?;
    let [(name, body)] = members.as_slice() else {
        return Err(node.invalid("must have exactly one member, the name of the check"));
    };
    let field = || Ok(body.get("field")?.text()?.to_owned());
    let check = match *name {
        "MajorityVote" => VerifierCheck::MajorityVote { field: field()? },
        "JsonSchemaValid" => {
            VerifierCheck::JsonSchemaValid { schema: body.get("schema")?.text()?.to_owned() }
        }
        "StructuredMatch" => {
            let fields = body.get("fields")?.each(|field| field.text().map(str::to_owned))?;
            VerifierCheck::StructuredMatch { fields }
        }
        "NumericTolerance" => VerifierCheck::NumericTolerance {
            field: field()?,
            tolerance: decimal(&body.get("tolerance")?)?,
        },
        "NumericRange" => {
            let (min, max) = (decimal(&body.get("min")?)?, decimal(&body.get("max")?)?);
            VerifierCheck::NumericRange { field: field()?, min, max }
        }
        // What these two kinds are made of is not this tool's business.
        "Custom" | "DnsTxtRecordMatch" | "DnsCnameMatch" => {
            return body.members().map(|_| Readable::Unsupported);
        }
        _ => return Err(node.no_such("check", name, &CHECKS)),
    };
    Check::compile(&check).map(Readable::Judged).map_err(|error| body.invalid(error))
}

fn decimal(node: &Node<'_>) -> Result<Decimal, Failure> {
    Decimal::parse_plain(node.text()?).map_err(|error| node.invalid(error))
}
