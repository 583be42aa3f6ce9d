//! The runner's own fleet.

use crate::town::{folder, settings};
use crate::web::Web;
use remuda_protocol::dispatcher::committee::VerificationMode;
use remuda_protocol::dispatcher::spec::{
    DataFormat, JobSpec, JobType, ResourceBounds, ResultSchema, Verification,
};
use remuda_protocol::primitives::{Amount, B256};
use remuda_runner::daemon::Settings;
use remuda_runner::daemon::dispatch::Executors;
use remuda_runner::executor::{ExecuteError, Unheard, Work};
use remuda_runner::fleet::{Errand, Fleet, FleetError, Order};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn spec(url: &str) -> JobSpec {
    JobSpec {
        job_type: JobType::Http {
            method: "GET".to_owned(),
            url: url.to_owned(),
            headers: vec![],
            body: b"".as_slice().into(),
            extract: String::new(),
        },
        bounds: ResourceBounds {
            max_wall_time_seconds: 30,
            max_memory_mb: 512,
            ..ResourceBounds::default()
        },
        verification: Verification {
            mode: VerificationMode::None,
            runners: 1,
            threshold: 1,
            checks: vec![],
        },
        result_schema: ResultSchema {
            max_return_bytes: 4_096,
            expected_execution_ms: 100,
            data_format: DataFormat::Json,
        },
        max_price: Amount(1),
        tip: Amount(0),
        timeout_blocks: 60,
        callback: None,
        tee_required: false,
        secrets: vec![],
        required_runner_pool: None,
    }
}

fn errand(url: &str, within: u64, patience: u64) -> Errand {
    let order = Order {
        job_id: B256::repeat_byte(1),
        within: Duration::from_secs(within),
        pinned: false,
        spec: spec(url),
    };
    Errand { order, patience: Duration::from_secs(patience), once: false }
}

fn one_place(name: &str) -> Settings {
    let sections = "[http.addresses]\nallow = ['127.0.0.0/8']";
    Settings { slots: 1, ..settings(&folder(name), &["http://127.0.0.1:9".to_owned()], sections) }
}

#[tokio::test]
async fn what_the_work_finds_comes_back_and_so_does_why_there_is_nothing() {
    let web = Web::start().await;
    let fleet = Fleet::start(&one_place("within")).await.unwrap();
    let found = fleet.execute(&errand(&web.url, 5, 10), &Unheard).await.unwrap();
    assert!(String::from_utf8(found.unwrap()).unwrap().contains("42"));
    let nobody = fleet.execute(&errand("http://127.0.0.1:9/", 5, 10), &Unheard).await.unwrap();
    assert!(matches!(nobody, Err(ExecuteError::Unreachable(_))), "{nobody:?}");
    web.slow(Duration::from_secs(60));
    let slow = fleet.execute(&errand(&web.url, 1, 10), &Unheard).await.unwrap();
    assert!(matches!(slow, Err(ExecuteError::TimedOut(_))), "{slow:?}");
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_gives_its_place_back() {
    let web = Web::start().await;
    let fleet = Fleet::start(&one_place("unwanted")).await.unwrap();
    web.slow(Duration::from_secs(60));
    let unwanted = errand(&web.url, 30, 30);
    tokio::select! {
        done = fleet.execute(&unwanted, &Unheard) => panic!("{done:?}"),
        () = async {
            while web.asked() == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        } => {}
    }
    web.slow(Duration::ZERO);
    // There is one place, and the first one would have it for half a minute.
    let found = fleet.execute(&errand(&web.url, 5, 15), &Unheard).await;
    assert!(found.unwrap().is_ok());
}

#[tokio::test]
async fn what_waits_for_a_place_too_long_is_given_up() {
    let web = Web::start().await;
    let fleet = Fleet::start(&one_place("waiting")).await.unwrap();
    web.slow(Duration::from_secs(60));
    let (long, short) = (errand(&web.url, 20, 20), errand(&web.url, 1, 1));
    let late = tokio::select! {
        done = fleet.execute(&long, &Unheard) => panic!("{done:?}"),
        late = async {
            while web.asked() == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            fleet.execute(&short, &Unheard).await
        } => late,
    };
    assert_eq!(late, Err(FleetError::Late));
    assert_eq!(web.asked(), 1, "it was not begun");
}

/// Executions in a second, through the fleet and without it; at a time as many as there are places.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn figures() {
    const ALL: usize = 2_000;
    const PLACES: usize = 16;
    let web = Web::start().await;
    let slots = PLACES as u32;
    let settings = Settings { slots, ..one_place("figures") };
    let executors = Arc::new(Executors::new(&settings.executors()).unwrap());
    let fleet = Fleet::start(&settings).await.unwrap();
    let errand = Arc::new(errand(&web.url, 10, 10));
    for round in 0..3 {
        let began = Instant::now();
        let direct = (0..PLACES).map(|_| {
            let (executors, errand) = (executors.clone(), errand.clone());
            tokio::spawn(async move {
                let Order { job_id, within, ref spec, .. } = errand.order;
                for _ in 0..ALL / PLACES {
                    let work = Work { job_id, spec, within, progress: &Unheard };
                    executors.execute(&work, false).await.unwrap();
                }
            })
        });
        futures::future::join_all(direct).await;
        let direct = began.elapsed();
        let began = Instant::now();
        let through = (0..PLACES).map(|_| {
            let (fleet, errand) = (fleet.clone(), errand.clone());
            tokio::spawn(async move {
                for _ in 0..ALL / PLACES {
                    fleet.execute(&errand, &Unheard).await.unwrap().unwrap();
                }
            })
        });
        futures::future::join_all(through).await;
        let through = began.elapsed();
        let rate = |time: Duration| ALL as f64 / time.as_secs_f64();
        let cost = through.saturating_sub(direct) / ALL as u32;
        println!(
            "round {round}: {:.0}/s direct, {:.0}/s through the fleet, {cost:?} more each",
            rate(direct),
            rate(through)
        );
    }
}
