//! The bundle of a container (OCI runtime specification, `config.json`).
//!
//! The root is the image, read-only; the job's directory is at `/job`. The user namespace maps one user, the
//! worker, so the container has no rights outside, as long as nobody else reaches the job's directory, where
//! it can create files owned by the worker. No capabilities, no way to gain any, and no system calls that
//! need them.

use super::super::config::Runc;
use super::super::job_dir::{JobDir, OPEN_MAX};
use super::super::network::{self, Joined, Network};
use super::Image;
use rustix::process::{Resource, getegid, geteuid, getrlimit};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tokio::process::Command;

/// Mount point of the job's directory.
pub(in super::super) const JOB: &str = "job";
const NAMES: &str = "/etc/resolv.conf";
const CONFIG: &str = "config.json";
/// Size of a container's `/tmp`. Not attributed to processes, so it comes on top of a job's memory limit.
const TEMPORARY_BYTES: u64 = 256 << 20;
/// Size of tmpfs mounts that only hide a directory.
const EMPTY_BYTES: u64 = 1 << 20;
/// Most processes and threads of a container.
const PIDS_MAX: u32 = 4_096;
/// Inodes of each tmpfs: their kernel memory is not part of its size.
const TEMPORARY_FILES: u32 = 65_536;
/// Process 1: runs a step, passes on no descriptors, and survives signals meant for the step. As process 1
/// the step itself would ignore SIGTERM.
const FIRST: &str = r#"
trap : TERM
/bin/sh -e /proc/self/fd/3 &
exec 3<&-
while :; do
    wait "$!"
    status=$?
    kill -0 "$!" 2>/dev/null || exit "$status"
done
"#;

/// Forbidden system calls: they change mounts and namespaces, load kernel code, reach other processes' memory
/// or keys, or were used for escapes.
const FORBIDDEN: &[&str] = &[
    "acct",
    "add_key",
    "bpf",
    "clock_adjtime",
    "clock_settime",
    "delete_module",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "mount",
    "mount_setattr",
    "move_mount",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "pivot_root",
    "process_vm_readv",
    "process_vm_writev",
    "quotactl",
    "reboot",
    "request_key",
    "setns",
    "swapoff",
    "swapon",
    "umount2",
    "unshare",
    "userfaultfd",
];
/// `CLONE_NEWUSER`: in a nested user namespace a job would have all capabilities.
const NEW_USER: u64 = 0x1000_0000;
const AF_VSOCK: u64 = 40;
/// "No such call": libraries fall back from `clone3` to `clone`.
const ENOSYS: u32 = 38;

pub(in super::super) struct Container<'a> {
    pub(in super::super) image: &'a Image,
    pub(in super::super) runc: &'a Runc,
    pub(in super::super) dir: &'a JobDir,
    pub(in super::super) memory_bytes_max: Option<u64>,
    pub(in super::super) network: &'a Network,
    pub(in super::super) joined: Option<&'a Joined>,
    /// Variables of the job, with secrets.
    pub(in super::super) env: BTreeMap<String, String>,
    /// Unique name of the container.
    pub(in super::super) mark: &'a str,
}

/// Directory of the runtime's state.
fn state(worker: &Path) -> PathBuf {
    worker.join("runc")
}

fn bundle(worker: &Path) -> PathBuf {
    worker.join("bundle")
}

/// Removes the bundle's configuration, which contains the job's secrets.
pub(in super::super) fn forget(worker: &Path) {
    match fs::remove_file(bundle(worker).join(CONFIG)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, kind = "bundle with secrets", "cleanup failed");
        }
        _ => {}
    }
}

impl Container<'_> {
    /// Writes the bundle beside the job's directory and returns the command that runs it. The caller passes
    /// the step's script as descriptor 3.
    pub(in super::super) fn command(&self, worker: &Path) -> io::Result<Command> {
        let bundle = bundle(worker);
        forget(worker);
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700);
        private.create(&bundle)?;
        private.create(state(worker))?;
        fs::set_permissions(&bundle, fs::Permissions::from_mode(0o700))?;
        // Contains secrets: a new file, private from its first byte.
        let mut file = File::options();
        let file = file.write(true).create_new(true).mode(0o600).open(bundle.join(CONFIG))?;
        serde_json::to_writer(file, &self.config())?;
        let program = &self.runc.program;
        let mut command = match self.joined {
            // As user 0 of a user namespace, runc requires a mount namespace that belongs to it.
            Some(joined) if joined.as_zero => {
                let mut command = network::enter(self.joined, Path::new("unshare"));
                command.args(["--mount", "--"]).arg(program);
                command
            }
            _ => network::enter(self.joined, program),
        };
        command.arg("--root").arg(state(worker)).args(["run", "--preserve-fds", "1", "--bundle"]);
        command.arg(&bundle).arg(self.mark);
        // Secrets are in the bundle, not in the runtime's environment.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        Ok(command)
    }

    fn config(&self) -> Value {
        let mut env = BTreeMap::from([(
            "PATH".to_owned(),
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned(),
        )]);
        env.extend(self.image.env.iter().cloned());
        env.insert("HOME".to_owned(), format!("/{JOB}/home"));
        env.insert("TMPDIR".to_owned(), format!("/{JOB}/tmp"));
        env.extend(self.env.clone());
        let env: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // The worker's ids in the user namespace that the runtime starts in.
        let (user, group) = match self.joined {
            Some(joined) if joined.as_zero => (0, 0),
            _ => (geteuid().as_raw(), getegid().as_raw()),
        };
        let open = getrlimit(Resource::Nofile).maximum.map_or(OPEN_MAX, |most| most.min(OPEN_MAX));
        let mut config = json!({
            "ociVersion": "1.0.2",
            "process": {
                "terminal": false,
                "user": { "uid": 0, "gid": 0 },
                "args": ["/bin/sh", "-c", FIRST],
                "env": env,
                // The step itself changes to its folder. An earlier step may have put a link there, which
                // the runtime would follow while it still holds descriptors of the host (CVE-2024-21626).
                "cwd": "/",
                "capabilities": {},
                "noNewPrivileges": true,
                "rlimits": [{ "type": "RLIMIT_NOFILE", "hard": open, "soft": open }],
                // The OOM killer should take the job, not the worker.
                "oomScoreAdj": 1000,
            },
            "root": { "path": self.image.rootfs, "readonly": true },
            "hostname": "job",
            "mounts": self.mounts(),
            "linux": {
                "namespaces": self.namespaces(),
                "uidMappings": [{ "containerID": 0, "hostID": user, "size": 1 }],
                "gidMappings": [{ "containerID": 0, "hostID": group, "size": 1 }],
                "maskedPaths": [
                    "/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
                    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
                    "/sys/firmware",
                ],
                "readonlyPaths": [
                    "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
                ],
                "seccomp": seccomp(),
            },
        });
        if geteuid().is_root() {
            // Other users have no cgroups to limit. The worker checks memory in any case.
            let unified = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
            let above = if unified { "/remuda/" } else { "remuda-" };
            let linux = &mut config["linux"];
            linux["cgroupsPath"] = json!(format!("{above}{}", self.mark));
            linux["resources"] = json!({ "pids": { "limit": PIDS_MAX } });
            if let Some(bytes) = self.memory_bytes_max {
                linux["resources"]["memory"] = json!({ "limit": bytes, "swap": bytes });
            }
        }
        config
    }

    fn namespaces(&self) -> Value {
        let kinds = ["pid", "ipc", "uts", "mount", "user", "cgroup", "network"];
        let alone = *self.network == Network::None;
        let own = kinds.iter().filter(|kind| **kind != "network" || alone);
        own.map(|kind| json!({ "type": kind })).collect()
    }

    fn mounts(&self) -> Vec<Value> {
        let files = &format!("nr_inodes={TEMPORARY_FILES}");
        let tmpfs = |at: &str, options: &[&str]| {
            let all = [&["nosuid", "nodev", files], options].concat();
            json!({ "destination": at, "type": "tmpfs", "source": "tmpfs", "options": all })
        };
        let mut mounts = vec![
            json!({ "destination": "/proc", "type": "proc", "source": "proc" }),
            json!({ "destination": "/dev", "type": "tmpfs", "source": "tmpfs",
                "options": ["nosuid", "strictatime", "mode=755", "size=65536k", files] }),
            json!({ "destination": "/dev/pts", "type": "devpts", "source": "devpts",
                "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"] }),
            tmpfs("/dev/shm", &["noexec", "mode=1777", "size=65536k"]),
            tmpfs("/tmp", &["mode=1777", &format!("size={TEMPORARY_BYTES}")]),
            tmpfs("/run", &["mode=755", &format!("size={EMPTY_BYTES}")]),
            json!({ "destination": format!("/{JOB}"), "type": "bind", "source": self.dir.folder,
                "options": ["rbind", "rw", "nosuid", "nodev"] }),
        ];
        let mut file = |at: &str, source: &Path| {
            mounts.push(json!({ "destination": at, "type": "bind", "source": source,
                "options": ["bind", "ro", "nosuid", "nodev", "noexec"] }));
        };
        if let Some(joined) = self.joined {
            file(NAMES, &joined.names);
        } else if *self.network == Network::Host {
            // Name resolution as on the host.
            for at in [NAMES, "/etc/hosts"] {
                if let Ok(source) = Path::new(at).canonicalize() {
                    file(at, &source);
                }
            }
        }
        mounts
    }
}

fn seccomp() -> Value {
    let machines = match std::env::consts::ARCH {
        "x86_64" => json!(["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"]),
        "aarch64" => json!(["SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"]),
        _ => json!([]),
    };
    json!({
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": machines,
        "syscalls": [
            { "names": FORBIDDEN, "action": "SCMP_ACT_ERRNO" },
            // Sockets to the hypervisor, which network namespaces do not isolate.
            { "names": ["socket"], "action": "SCMP_ACT_ERRNO",
                "args": [{ "index": 0, "value": AF_VSOCK, "op": "SCMP_CMP_EQ" }] },
            { "names": ["clone"], "action": "SCMP_ACT_ERRNO",
                "args": [{ "index": 0, "value": NEW_USER, "valueTwo": NEW_USER, "op": "SCMP_CMP_MASKED_EQ" }] },
            // Its flags are in memory, where seccomp cannot see them.
            { "names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS },
        ],
    })
}

/// Deletes a container, or, without a name, all containers of a killed worker.
pub(in super::super) async fn scrap(runc: &Runc, worker: &Path, mark: Option<&str>) {
    let left: Vec<String> = match mark {
        Some(mark) => vec![mark.to_owned()],
        None => fs::read_dir(state(worker))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect(),
    };
    forget(worker);
    for name in left {
        let mut command = Command::new(&runc.program);
        command.arg("--root").arg(state(worker)).args(["delete", "--force", &name]);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let output = command.kill_on_drop(true).output().await;
        if let Err(error) = output {
            tracing::warn!(%error, container = name, kind = "container", "cleanup failed");
        }
    }
}
