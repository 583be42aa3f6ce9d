//! DNS reports.

use crate::executors::job::{get, job, text, work};
use crate::executors::llm::hello;
use crate::executors::resolver::{Manner, Resolver, Zone, cname, txt};
use crate::executors::server::{Server, json};
use remuda_protocol::dispatcher::spec::{DataFormat, JobSpec, JobType};
use remuda_protocol::verifier::check::VerifierCheck;
use remuda_protocol::verifier::dns::passes;
use remuda_protocol::verifier::excuse::Excuse;
use remuda_protocol::verifier::json::parse;
use remuda_runner::executor::Executors;
use remuda_runner::executor::dns::{DNS_VERIFIER_EXECUTOR_HASH, Dns, DnsConfig};
use remuda_runner::executor::{ExecuteError, ExecutorSettings, excuse};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

fn txt_check(fqdn: &str, expected: &str, min_resolvers: u32) -> VerifierCheck {
    let (fqdn, expected_value) = (fqdn.into(), expected.into());
    VerifierCheck::DnsTxtRecordMatch { fqdn, expected_value, min_resolvers }
}

fn cname_check(fqdn: &str, expected: &str, min_resolvers: u32) -> VerifierCheck {
    let (fqdn, expected_target) = (fqdn.into(), expected.into());
    VerifierCheck::DnsCnameMatch { fqdn, expected_target, min_resolvers }
}

/// A job of the built-in program.
fn verify(checks: Vec<VerifierCheck>) -> JobSpec {
    let job_type =
        JobType::Custom { executor_hash: DNS_VERIFIER_EXECUTOR_HASH, params: Vec::new().into() };
    let mut spec = job(job_type, DataFormat::Json);
    spec.verification.checks = checks;
    spec
}

/// Resolvers of some manners with one zone, on addresses of their own, and who asks them.
async fn start(manners: &[Manner], zone: Zone) -> (Vec<Resolver>, Dns) {
    let mut resolvers = vec![];
    for (index, manner) in manners.iter().enumerate() {
        let ip = Ipv4Addr::new(127, 0, 5, index as u8 + 1);
        resolvers.push(Resolver::start(ip, *manner, zone.clone()).await);
    }
    let addresses = resolvers.iter().map(|resolver| resolver.address.to_string()).collect();
    let dns = Dns::new(&DnsConfig { resolvers: addresses, answer_ms: 600 }).unwrap();
    (resolvers, dns)
}

/// Whether one honest resolver confirms a check.
async fn confirms(zone: Zone, check: VerifierCheck) -> bool {
    let (_resolvers, dns) = start(&[Manner::Honest], zone).await;
    let result = text(dns.execute(&work(&verify(vec![check]))).await);
    let passed = result.ends_with(r#""passed":true}"#);
    assert_eq!(result.contains(r#""confirmed":true"#), passed, "{result}");
    passed
}

#[tokio::test]
async fn a_txt_record_matches_as_a_whole_and_by_bytes() {
    let zone = || {
        vec![
            txt("a.example", &[b"first"]),
            txt("a.example", &[b"exp", b"ect", b"ed"]),
            txt("a.example", &[b"  padded "]),
            txt("b.example", &[b"exp"]),
            txt("b.example", &[b"ected"]),
            txt("c.example", &[b"\xff\xfe"]),
            txt("e.example", &[b""]),
            cname("d.example", "a.example"),
        ]
    };
    let cases = [
        ("a.example", "expected", true),
        ("A.eXample.", "expected", true),
        ("a.example", "first", true),
        ("a.example", "Expected", false),
        ("a.example", "expect", false),
        ("a.example", "expectedx", false),
        ("a.example", "padded", false),
        ("a.example", "  padded ", true),
        ("a.example", "", false),
        ("b.example", "expected", false),
        ("c.example", "\u{fffd}\u{fffd}", false),
        ("d.example", "expected", true),
        ("e.example", "", true),
        ("none.example", "expected", false),
    ];
    for (fqdn, expected, holds) in cases {
        let found = confirms(zone(), txt_check(fqdn, expected, 1)).await;
        assert_eq!(found, holds, "{fqdn} {expected:?}");
    }
}

#[tokio::test]
async fn a_long_answer_comes_over_tcp() {
    let long = vec![b'x'; 255];
    let strings: Vec<&[u8]> = vec![&long; 20];
    let zone = vec![txt("a.example", &strings), txt("a.example", &[b"expected"])];
    assert!(confirms(zone.clone(), txt_check("a.example", &"x".repeat(5_100), 1)).await);
    assert!(confirms(zone, txt_check("a.example", "expected", 1)).await);
}

/// A chain of so many records that ends at `target.example`.
fn chain(links: usize) -> Zone {
    let name = |index: usize| match index {
        _ if index == links => "target.example".to_owned(),
        _ => format!("n{index}.example"),
    };
    (0..links).map(|index| cname(&name(index), &name(index + 1))).collect()
}

#[tokio::test]
async fn a_cname_chain_is_followed_to_its_end() {
    let check = |target| cname_check("n0.example", target, 1);
    for links in [1, 2, 8] {
        assert!(confirms(chain(links), check("Target.Example.")).await, "{links}");
    }
    assert!(!confirms(chain(9), check("target.example")).await);
    assert!(!confirms(chain(3), check("n2.example")).await, "on the way is not the end");
    assert!(!confirms(chain(3), check("other.example")).await);
    assert!(!confirms(vec![], check("n0.example")).await, "no record is no chain");
    assert!(!confirms(vec![txt("n0.example", &[b"x"])], check("n0.example")).await);
    let mut exists = chain(2);
    exists.push(txt("target.example", &[b"x"]));
    assert!(confirms(exists, check("target.example")).await);
}

#[tokio::test]
async fn a_cname_loop_confirms_nothing() {
    for (zone, target) in [
        (vec![cname("n0.example", "n0.example")], "n0.example"),
        (vec![cname("n0.example", "N1.example"), cname("n1.example", "N0.example")], "n1.example"),
    ] {
        assert!(!confirms(zone, cname_check("n0.example", target, 1)).await);
    }
    let torn = vec![cname("n0.example", "target.example"), cname("n0.example", "other.example")];
    assert!(!confirms(torn, cname_check("n0.example", "target.example", 1)).await);
}

#[tokio::test]
async fn a_report_is_what_the_chain_reads() {
    let zone = vec![txt("a.example", &[b"yes"]), cname("b.example", "c.example")];
    let (resolvers, dns) = start(&[Manner::Honest, Manner::OverTcp], zone).await;
    let spec = verify(vec![
        txt_check("a.example", "yes", 2),
        VerifierCheck::MajorityVote { field: "passed".into() },
        cname_check("b.example", "d.example", 1),
    ]);
    let result = text(dns.execute(&work(&spec)).await);
    let [one, two] = [resolvers[0].address, resolvers[1].address];
    let entry = |confirmed: bool| {
        format!(
            r#"[{{"confirmed":{confirmed},"resolver":"{one}"}},{{"confirmed":{confirmed},"resolver":"{two}"}}]"#
        )
    };
    assert_eq!(result, format!(r#"{{"dns":[{},{}],"passed":false}}"#, entry(true), entry(false)));
    let document = parse(result.as_bytes()).unwrap();
    assert!(passes(&document, 0, 2));
    assert!(!passes(&document, 1, 1));
}

#[tokio::test]
async fn a_resolver_without_an_answer_neither_confirms_nor_denies() {
    for manner in [Manner::Silent, Manner::Failing, Manner::Garbled] {
        let zone = vec![txt("a.example", &[b"yes"])];
        let (_resolvers, dns) = start(&[Manner::Honest, manner, Manner::Honest], zone).await;
        let began = Instant::now();
        let result =
            text(dns.execute(&work(&verify(vec![txt_check("a.example", "yes", 2)]))).await);
        assert_eq!(result.matches("confirmed").count(), 2, "{manner:?} {result}");
        assert!(result.ends_with(r#""passed":true}"#));
        assert!(began.elapsed() < Duration::from_secs(5));
        let result = dns.execute(&work(&verify(vec![txt_check("a.example", "yes", 3)]))).await;
        assert!(matches!(result, Err(ExecuteError::Unreachable(_))), "{manner:?} {result:?}");
    }
}

#[tokio::test]
async fn nobody_but_the_resolver_is_believed() {
    let (_resolvers, dns) = start(&[Manner::AmongForgers], vec![]).await;
    let checks =
        vec![txt_check("a.example", "expected", 1), cname_check("b.example", "target.example", 1)];
    let result = text(dns.execute(&work(&verify(checks))).await);
    assert!(!result.contains("true"), "{result}");
}

#[tokio::test]
async fn a_resolver_that_drops_letter_case_is_asked_over_tcp() {
    let zone = vec![txt("a-long-name-with-many-letters.example", &[b"yes"])];
    let (_resolvers, dns) = start(&[Manner::Lowercase], zone).await;
    let check = txt_check("a-long-name-with-many-letters.example", "yes", 1);
    let result = text(dns.execute(&work(&verify(vec![check]))).await);
    assert!(result.ends_with(r#""passed":true}"#), "{result}");
}

#[tokio::test]
async fn a_resolver_that_stalls_takes_no_others_answer_with_it() {
    let zone = vec![txt("a.example", &[b"yes"])];
    let (resolvers, _) = start(&[Manner::Honest, Manner::Silent], zone).await;
    let addresses = resolvers.iter().map(|resolver| resolver.address.to_string()).collect();
    let patient = Dns::new(&DnsConfig { resolvers: addresses, answer_ms: 60_000 }).unwrap();
    let spec = verify(vec![txt_check("a.example", "yes", 1)]);
    let mut work = work(&spec);
    work.time_limit = Duration::from_secs(1);
    let result = text(patient.execute(&work).await);
    assert!(result.ends_with(r#""passed":true}"#), "{result}");
}

#[tokio::test]
async fn more_resolvers_than_there_are_is_declined() {
    let (_resolvers, dns) = start(&[Manner::Honest], vec![]).await;
    let result = dns.execute(&work(&verify(vec![txt_check("a.example", "x", 2)]))).await;
    assert!(matches!(result, Err(ExecuteError::NotAllowed(_))), "{result:?}");
}

#[tokio::test]
async fn a_report_joins_the_result_of_other_work() {
    let (resolvers, dns) = start(&[Manner::Honest], vec![txt("a.example", &[b"yes"])]).await;
    let mut spec = get("http://example.com/");
    let before = br#"{"status":200,"value":1}"#.to_vec();
    assert_eq!(dns.amend(&work(&spec), before.clone()).await, Ok(before.clone()), "no DNS check");
    spec.verification.checks = vec![txt_check("a.example", "yes", 1)];
    let address = resolvers[0].address;
    assert_eq!(
        text(dns.amend(&work(&spec), before).await),
        format!(
            r#"{{"dns":[[{{"confirmed":true,"resolver":"{address}"}}]],"status":200,"value":1}}"#
        )
    );
    for useless in [&b"[1]"[..], b"x", br#"{"dns":1}"#] {
        let result = dns.amend(&work(&spec), useless.to_vec()).await;
        assert!(matches!(result, Err(ExecuteError::BadAnswer(_))), "{result:?}");
    }
    spec.result_schema.max_return_bytes = 50;
    let result = dns.amend(&work(&spec), b"{}".to_vec()).await;
    assert_eq!(result, Err(ExecuteError::TooLarge { limit: 50 }));
}

/// A name that no resolver answers for is the job's: silence after the work would send runners to jail.
#[tokio::test]
async fn a_dead_name_beside_other_work_is_excused() {
    let model = Server::start(|_| {
        json(r#"{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}"#)
    })
    .await;
    let zone = vec![txt("a.example", &[b"yes"])];
    let (resolvers, _) = start(&[Manner::Silent], zone).await;
    let settings = format!(
        "[llm.models.small]\nbase_url = '{}'\n[dns]\nresolvers = ['{}']\nanswer_ms = 600",
        model.url(""),
        resolvers[0].address
    );
    let settings: ExecutorSettings = toml::from_str(&settings).unwrap();
    let mut spec = hello(DataFormat::Json);
    spec.verification.checks = vec![txt_check("a.example", "yes", 1)];
    let executors = Executors::new(&settings).unwrap();
    let error = executors.execute(&work(&spec), false).await.unwrap_err();
    assert_eq!(excuse::of(&spec, &error), Some(Excuse::Refused), "{error:?}");
}

#[tokio::test]
async fn a_job_that_is_not_the_verifiers_is_refused() {
    let (_resolvers, dns) = start(&[Manner::Honest], vec![]).await;
    let check = || vec![txt_check("a.example", "x", 1)];
    let mut other = verify(check());
    other.job_type =
        JobType::Custom { executor_hash: Default::default(), params: Vec::new().into() };
    let mut params = verify(check());
    params.job_type =
        JobType::Custom { executor_hash: DNS_VERIFIER_EXECUTOR_HASH, params: b"x".to_vec().into() };
    let mut plain = verify(check());
    plain.result_schema.data_format = DataFormat::Text;
    let jobs =
        [other, params, plain, verify(vec![]), verify(vec![txt_check("a..example", "x", 1)])];
    for spec in jobs {
        let result = dns.execute(&work(&spec)).await;
        assert!(matches!(result, Err(ExecuteError::BadJob(_))), "{result:?}");
    }
}

#[test]
fn an_operator_writes_resolvers_only() {
    let config: DnsConfig = toml::from_str(r#"resolvers = ["9.9.9.9"]"#).unwrap();
    assert_eq!(config.answer_ms, 2_000);
    assert!(toml::from_str::<DnsConfig>("resolver = []").is_err());
}
