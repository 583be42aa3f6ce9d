//! What a job may ask for: every cap of CIP-2 §3.1 and the rules of SPEC §4 and §5.
//!
//! All of it is checked before any selection work.

use crate::base::error::Refusal;
use crate::base::primitives::B256;
use crate::rules::callback::call_limit;
use crate::rules::dispatcher::committee::VerificationMode;
use crate::rules::dispatcher::judging::judging_cycles;
use crate::rules::dispatcher::spec::{DataFormat, JobSpec, JobType, ResourceBounds};
use crate::rules::params::ChainParams;
use crate::rules::verifier::check::{Check, VerifierCheck};
use crate::rules::verifier::decide::{Mode, require_grouping, validate_checks};
use crate::rules::verifier::path::Path;

const INPUT_TOKENS_MAX: u32 = 1_000_000;
const OUTPUT_TOKENS_MAX: u32 = 1_000_000;
const WALL_TIME_SECONDS_MAX: u32 = 3_600;
const MEMORY_MB_MAX: u32 = 65_536;
const RETRIES_MAX: u32 = 10;
const RETURN_BYTES_MAX: u32 = 65_536;
/// Shorter than this, the time for commits (six tenths of it) is over before an honest runner can have
/// its commit in a block: such a job would only be ordered to score runners down.
pub const TIMEOUT_BLOCKS_MIN: u64 = 10;
/// Room for the answer that a job cannot be done, which is the same for all jobs.
pub const RETURN_BYTES_MIN: u32 = 128;
pub const HTTP_METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/// Checks of one job. Each is applied to each result.
const CHECKS_MAX: usize = 16;
/// Bytes of a schema; its cost grows with the product of its size and a result's.
const SCHEMA_BYTES_MAX: usize = 4_096;
/// Bytes of any other text in a check.
const CHECK_TEXT_BYTES_MAX: usize = 1_024;
const FIELDS_MAX: usize = 32;
/// Resolvers that a DNS check may ask for.
const RESOLVERS_MAX: u32 = 16;
/// Bytes of a name: model, server, tool, method, handler, secret, pool.
const NAME_BYTES_MAX: usize = 128;
const URL_BYTES_MAX: usize = 4_096;
const LIST_MAX: usize = 64;
const HANDLER_BYTES_MAX: usize = 64;

/// Defaults for what a submitter leaves at zero.
const DEFAULT_BOUNDS: ResourceBounds = ResourceBounds {
    max_input_tokens: 4_096,
    max_output_tokens: 1_024,
    max_wall_time_seconds: 30,
    max_memory_mb: 512,
    max_retries: 0,
};

pub fn normalise(spec: &mut JobSpec, params: &ChainParams) {
    let bounds = &mut spec.bounds;
    let fill = |field: &mut u32, default: u32| {
        if *field == 0 {
            *field = default;
        }
    };
    fill(&mut bounds.max_input_tokens, DEFAULT_BOUNDS.max_input_tokens);
    fill(&mut bounds.max_output_tokens, DEFAULT_BOUNDS.max_output_tokens);
    fill(&mut bounds.max_wall_time_seconds, DEFAULT_BOUNDS.max_wall_time_seconds);
    fill(&mut bounds.max_memory_mb, DEFAULT_BOUNDS.max_memory_mb);
    if spec.timeout_blocks == 0 {
        spec.timeout_blocks = params.default_timeout_blocks;
    }
}

/// Checks a normalised job. `pinned` says whether governance vouches for an executor.
pub fn validate(
    spec: &JobSpec,
    params: &ChainParams,
    pinned: impl Fn(&B256) -> bool,
) -> Result<(), Refusal> {
    validate_committee(spec, params)?;
    validate_bounds(spec, params)?;
    validate_verification(spec, pinned)?;
    validate_texts(spec)?;
    validate_available(spec)?;
    validate_callback(spec, params)?;
    refuse_if(spec.max_price.is_zero() && !spec.tip.is_zero(), Refusal::TipWithoutPrice)
}

fn refuse_if(condition: bool, refusal: Refusal) -> Result<(), Refusal> {
    if condition { Err(refusal) } else { Ok(()) }
}

fn validate_committee(spec: &JobSpec, params: &ChainParams) -> Result<(), Refusal> {
    let verification = &spec.verification;
    let runners = verification.runners as usize;
    let most = params.max_runners as usize;
    let least = verification.mode.minimum();
    refuse_if(!(least..=most).contains(&runners), Refusal::RunnersOutOfRange)?;
    let threshold = 1..=verification.runners;
    refuse_if(!threshold.contains(&verification.threshold), Refusal::ThresholdOutOfRange)
}

fn validate_bounds(spec: &JobSpec, params: &ChainParams) -> Result<(), Refusal> {
    let bounds = &spec.bounds;
    refuse_if(bounds.max_input_tokens > INPUT_TOKENS_MAX, Refusal::TooManyInputTokens)?;
    refuse_if(bounds.max_output_tokens > OUTPUT_TOKENS_MAX, Refusal::TooManyOutputTokens)?;
    refuse_if(bounds.max_wall_time_seconds > WALL_TIME_SECONDS_MAX, Refusal::WallTimeTooLong)?;
    refuse_if(bounds.max_memory_mb > MEMORY_MB_MAX, Refusal::TooMuchMemory)?;
    refuse_if(bounds.max_retries > RETRIES_MAX, Refusal::TooManyRetries)?;
    let size = 1..=RETURN_BYTES_MAX;
    let returned = spec.result_schema.max_return_bytes;
    refuse_if(!size.contains(&returned), Refusal::ReturnTooLarge)?;
    refuse_if(returned < RETURN_BYTES_MIN, Refusal::ReturnTooSmall)?;
    refuse_if(spec.timeout_blocks > params.max_timeout_blocks, Refusal::TimeoutTooLong)?;
    refuse_if(spec.timeout_blocks < TIMEOUT_BLOCKS_MIN, Refusal::TimeoutTooShort)?;
    // A committed result that no block has room to judge would get its runner slashed.
    let dearest = judging_cycles(spec, spec.result_schema.max_return_bytes as usize);
    refuse_if(dearest > params.lane_runner, Refusal::JudgingTooExpensive)
}

fn validate_verification(spec: &JobSpec, pinned: impl Fn(&B256) -> bool) -> Result<(), Refusal> {
    let checks = compile_checks(spec)?;
    match judged_mode(spec.verification.mode) {
        Some(mode) => {
            validate_checks(mode, &checks)
                .and_then(|()| require_grouping(mode, &checks))
                .map_err(|_| Refusal::ChecksDoNotFitMode)?;
        }
        None => refuse_if(!checks.is_empty(), Refusal::ChecksDoNotFitMode)?,
    }
    refuse_if(overlapping(&checks), Refusal::FieldsOverlap)?;
    validate_resolvers(&spec.verification.checks)?;
    let calls_actor = checks.iter().any(|check| matches!(check, Check::Custom { .. }));
    refuse_if(calls_actor, Refusal::CheckNeedsActor)?;
    validate_mode(spec, pinned)?;
    validate_format(spec, &checks)
}

/// Reads the checks of a job, within their limits.
pub fn compile_checks(spec: &JobSpec) -> Result<Vec<Check>, Refusal> {
    let checks = &spec.verification.checks;
    refuse_if(checks.len() > CHECKS_MAX, Refusal::TooManyChecks)?;
    refuse_if(!checks.iter().all(check_fits), Refusal::CheckTooLarge)?;
    let empty = |check: &VerifierCheck| matches!(check, VerifierCheck::NumericRange { min, max, .. } if min > max);
    refuse_if(checks.iter().any(empty), Refusal::BadCheck)?;
    checks.iter().map(|check| Check::compile(check).map_err(|_| Refusal::BadCheck)).collect()
}

/// Whether a field that results are grouped by is part of another: then what is agreed on would
/// hold the same bytes many times.
fn overlapping(checks: &[Check]) -> bool {
    let fields: Vec<&Path> = checks.iter().flat_map(|check| check.grouped_fields()).collect();
    Path::overlap(&fields)
}

fn check_fits(check: &VerifierCheck) -> bool {
    let short = |text: &String| text.len() <= CHECK_TEXT_BYTES_MAX;
    match check {
        VerifierCheck::JsonSchemaValid { schema } => schema.len() <= SCHEMA_BYTES_MAX,
        VerifierCheck::StructuredMatch { fields } => {
            fields.len() <= FIELDS_MAX && fields.iter().all(short)
        }
        VerifierCheck::MajorityVote { field }
        | VerifierCheck::NumericTolerance { field, .. }
        | VerifierCheck::NumericRange { field, .. } => short(field),
        VerifierCheck::Custom { method, .. } => short(method),
        VerifierCheck::DnsTxtRecordMatch { fqdn, expected_value, .. } => {
            short(fqdn) && short(expected_value)
        }
        VerifierCheck::DnsCnameMatch { fqdn, expected_target, .. } => {
            short(fqdn) && short(expected_target)
        }
    }
}

/// The modes that compare results.
pub fn judged_mode(mode: VerificationMode) -> Option<Mode> {
    match mode {
        VerificationMode::MajorityVote => Some(Mode::MajorityVote),
        VerificationMode::StructuredMatch => Some(Mode::StructuredMatch),
        VerificationMode::Deterministic => Some(Mode::Deterministic),
        _ => None,
    }
}

fn validate_resolvers(checks: &[VerifierCheck]) -> Result<(), Refusal> {
    let fits = checks.iter().all(|check| match check {
        VerifierCheck::DnsTxtRecordMatch { min_resolvers, .. }
        | VerifierCheck::DnsCnameMatch { min_resolvers, .. } => {
            (1..=RESOLVERS_MAX).contains(min_resolvers)
        }
        _ => true,
    });
    refuse_if(!fits, Refusal::TooManyResolvers)
}

fn validate_mode(spec: &JobSpec, pinned: impl Fn(&B256) -> bool) -> Result<(), Refusal> {
    let mode = spec.verification.mode;
    refuse_if(mode == VerificationMode::SemanticSimilarity, Refusal::ModeUnavailable)?;
    let vouched = match &spec.job_type {
        JobType::Custom { executor_hash, .. } => pinned(executor_hash),
        _ => false,
    };
    refuse_if(mode == VerificationMode::Deterministic && !vouched, Refusal::NotDeterministic)?;
    // A web page or a model may say something else to the judges, and an honest runner would lose
    // its stake. A pinned program has no network, and gives everybody the same.
    refuse_if(mode == VerificationMode::EconomicBond && !vouched, Refusal::NotBondable)?;
    let sends = matches!(spec.job_type, JobType::EthSend { .. });
    refuse_if(sends && mode != VerificationMode::None, Refusal::SingleRunnerOnly)
}

/// Results that are no JSON have no fields: only the whole of them can be compared.
fn validate_format(spec: &JobSpec, checks: &[Check]) -> Result<(), Refusal> {
    if spec.result_schema.data_format == DataFormat::Json {
        return Ok(());
    }
    let whole = checks
        .iter()
        .all(|check| check.groups() && check.grouped_fields().iter().all(|field| field.is_whole()));
    refuse_if(!whole, Refusal::FormatNeedsWholeResult)
}

fn validate_texts(spec: &JobSpec) -> Result<(), Refusal> {
    let name = |text: &str| !text.is_empty() && text.len() <= NAME_BYTES_MAX;
    let job = match &spec.job_type {
        JobType::Llm { model, messages, .. } => {
            name(model)
                && (1..=LIST_MAX).contains(&messages.len())
                && messages.iter().all(|message| name(&message.role))
        }
        JobType::Http { method, url, headers, extract, .. } => {
            name(method)
                && (1..=URL_BYTES_MAX).contains(&url.len())
                && headers.len() <= LIST_MAX
                && headers.iter().all(|(header, _)| name(header))
                && extract.len() <= CHECK_TEXT_BYTES_MAX
        }
        JobType::Mcp { server, tool, .. } => name(server) && name(tool),
        JobType::EthSend { raw_transaction, .. } => !raw_transaction.is_empty(),
        JobType::Custom { .. } => true,
    };
    let secrets = spec.secrets.len() <= LIST_MAX && spec.secrets.iter().all(|secret| name(secret));
    let pool = spec
        .required_runner_pool
        .as_ref()
        .is_none_or(|pool| (1..=NAME_BYTES_MAX).contains(&pool.len()));
    refuse_if(!(job && secrets && pool), Refusal::SpecFieldTooLong)?;
    validate_web(spec)
}

/// Refuses work that no runner can do yet.
fn validate_available(spec: &JobSpec) -> Result<(), Refusal> {
    refuse_if(!spec.secrets.is_empty(), Refusal::SecretsUnavailable)?;
    refuse_if(spec.tee_required, Refusal::TeeUnavailable)
}

/// Refuses requests that every runner would turn down. Whether the server exists, only a runner finds out.
fn validate_web(spec: &JobSpec) -> Result<(), Refusal> {
    let JobType::Http { method, url, .. } = &spec.job_type else { return Ok(()) };
    let web = ["http://", "https://"].iter().any(|scheme| {
        let head = url.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme)) && url.len() > scheme.len()
    });
    refuse_if(!web || !HTTP_METHODS.contains(&method.as_str()), Refusal::BadWebRequest)
}

fn validate_callback(spec: &JobSpec, params: &ChainParams) -> Result<(), Refusal> {
    let fits = spec.callback.as_ref().is_none_or(|callback| {
        (1..=HANDLER_BYTES_MAX).contains(&callback.handler.len())
            && callback.cycles_limit <= call_limit(params)
    });
    refuse_if(!fits, Refusal::BadCallback)
}
