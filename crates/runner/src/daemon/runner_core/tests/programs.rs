//! Programs that governance vouches for.

use super::*;
use remuda_protocol::dispatcher::spec::JobType;

const PROGRAM: B256 = B256::repeat_byte(0xab);

/// A folder with the module of one program, which is on no list.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("remuda-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let hash = PROGRAM.to_string();
    std::fs::write(folder.join(format!("{}.wasm", hash.trim_start_matches("0x"))), b"").unwrap();
    folder
}

fn run(name: &str, more: &str, pinned: bool) -> (AckStatus, Vec<Action>) {
    let folder = folder(name);
    let sections = format!("[http]\n[wasm]\nfolder = '{}'\n{more}", folder.display());
    let mut scene = Scene::able(&sections, vec![]);
    std::fs::remove_dir_all(&folder).unwrap();
    let mut spec = spec();
    spec.job_type = JobType::Custom { executor_hash: PROGRAM, params: b"".as_slice().into() };
    let assignment = JobAssignment {
        job_id: id(1),
        attempt: 0,
        job_spec: spec.to_bytes(),
        block_height: 100,
        deadline_block: 136,
        validator_signed: [0; 64],
    };
    let heard = scene.feed(Event::Session(A, LinkEvent::Assigned(Box::new(assignment)), RTT));
    let status = heard.iter().find_map(|action| match action {
        Action::Ack(_, _, status, _) => Some(*status),
        _ => None,
    });
    let job = Some(drawn(SeatState::Waiting));
    let reading = JobSnapshot { height: 100, job, spec: Some(spec), pinned };
    (status.unwrap(), scene.feed(Event::Job(id(1), Some(Box::new(reading)))))
}

#[test]
fn a_pinned_program_whose_module_is_here_runs_without_being_listed() {
    let (status, actions) = run("pinned", "", true);
    assert_eq!(status, AckStatus::Accepted);
    assert!(
        has(&actions, |a| matches!(a, Action::StartWork(task) if task.job.pinned)),
        "{actions:?}"
    );
}

#[test]
fn a_module_alone_is_no_reason_to_run_it() {
    let (_, actions) = run("unpinned", "", false);
    assert!(!has(&actions, |a| matches!(a, Action::StartWork(_))), "{actions:?}");
}

#[test]
fn an_operator_may_want_listed_programs_only() {
    let (status, actions) = run("unwanted", "allow_pinned = false", true);
    assert_eq!(status, AckStatus::Reject(RejectReason::Capability));
    assert!(!has(&actions, |a| matches!(a, Action::StartWork(_))), "{actions:?}");
}

#[test]
fn what_governance_vouches_for_belongs_to_the_offer() {
    let folder = folder("offered");
    let sections = format!("[http]\n[wasm]\nfolder = '{}'", folder.display());
    let settings = settings(&sections);
    assert_eq!(settings.pinnable(), [PROGRAM]);
    assert!(settings.offer().unwrap().executors.is_empty());
    let offer = settings.offer_with(&[PROGRAM]).unwrap();
    assert_eq!(offer.executors, [PROGRAM]);
    let mut scene = Scene::able(&sections, vec![]);
    std::fs::remove_dir_all(&folder).unwrap();
    let view = remuda_client::types::RunnerView {
        offer: OfferView::from(&offer),
        ..runner_view(RunnerStatusName::Active, true, 1)
    };
    let asked = scene.feed(Event::Registration(Some(Box::new(view))));
    assert!(asked.contains(&Action::GetPinnedPrograms(vec![PROGRAM])), "{asked:?}");
    scene.feed(Event::PinnedPrograms(vec![PROGRAM]));
    assert_eq!(scene.core.status().problems, [""; 0], "the offer on chain is as it should be");
}
