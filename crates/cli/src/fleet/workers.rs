//! `remuda fleet workers` and `remuda fleet expel`: which machines are believed.

use super::{FleetArgs, FleetFailure, Session};
use crate::failure::Failure;
use crate::style::{Cell, Style, Table, Tone};
use remuda_fleet::id::{KeyId, RunnerId};
use remuda_fleet::view::{MachineList, MachineView, WorkerList, WorkerView};
use serde::Serialize;
use serde_json::json;
use std::process::ExitCode;

#[derive(clap::Args, Debug)]
pub(super) struct Expel {
    #[command(flatten)]
    fleet: FleetArgs,
    /// A key, as `remuda fleet workers` shows it, or a worker of that machine (runner_…).
    machine: String,
}

#[derive(Serialize)]
struct Machines {
    machines: MachineList,
    workers: WorkerList,
}

/// Enrolled machines and their workers seen recently.
pub(super) async fn list(session: &Session) -> Result<(), Failure> {
    let machines = session.client.machines().await.map_err(|error| session.explain(error))?;
    let workers = session.client.workers().await.map_err(|error| session.explain(error))?;
    session.out.show(&Machines { machines, workers }, render)
}

fn render(Machines { machines, workers }: &Machines, style: Style) -> String {
    if machines.machines.is_empty() {
        let text = "no machine was enrolled yet: remuda worker init DIR --token-file FILE\n";
        return text.to_owned();
    }
    let of = |machine: &MachineView| -> Vec<&WorkerView> {
        workers.workers.iter().filter(|it| it.runner_id.belongs_to(&machine.key_id)).collect()
    };
    let busy = |machine: &MachineView| of(machine).iter().filter(|it| it.job.is_some()).count();
    let standing = |machine: &MachineView| match &machine.expelled_at {
        Some(at) => Cell::new(Tone::Bad, format!("expelled {at}")),
        None => "".into(),
    };
    let table = Table::of(&machines.machines)
        .left("key", |it| it.key_id.as_str())
        .left("enrolled by", |it| &it.enrolled_by)
        .left("enrolled", |it| it.enrolled_at)
        .right("heard of", |it| of(it).len())
        .right("with a job", busy)
        .left("", standing);
    let more = if machines.more { "… and more\n" } else { "" };
    format!("{}{more}", table.render(style))
}

/// The key of a machine, or of the machine that a worker is on.
fn key(text: &str) -> Option<KeyId> {
    let rest = text.strip_prefix(RunnerId::PREFIX);
    let key = rest.map_or(Some(text), |rest| rest.split_once('-').map(|(key, _)| key));
    key.and_then(|key| KeyId::new(key).ok())
}

pub(super) fn expel(args: &Expel) -> ExitCode {
    super::run(&args.fleet, async |session| {
        let key =
            key(&args.machine).ok_or_else(|| FleetFailure::BadMachine(args.machine.clone()))?;
        session.client.expel(&key).await.map_err(|error| session.explain(error))?;
        session.out.show(&json!({ "expelled": key }), |_, _| {
            format!(
                "expelled {key}: nothing that it signs is believed any more. Its leases run out, and their \
                 jobs go to others.\nIf the machine is not to come back with a new key, revoke the token that \
                 it enrolled with: remuda orchestrator token revoke DIR --name NAME\n"
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_named_by_its_key_or_by_a_worker_on_it() {
        let digits = "0123456789abcdef01234567";
        let expected = KeyId::new(digits).expect("a key");
        assert_eq!(key(digits).as_ref(), Some(&expected));
        let worker = RunnerId::of(&expected, "ab12").expect("an id");
        assert_eq!(key(worker.as_str()).as_ref(), Some(&expected));
        for wrong in ["", "runner_x", "ada", "0123", "runner_0123456789abcdef01234567"] {
            assert!(key(wrong).is_none(), "{wrong}");
        }
    }
}
