//! The network of a job's steps.
//!
//! `Internet` gives each job a network namespace. The only way out is slirp4netns, a user-mode TCP/IP stack
//! that runs as the worker's user. It would also connect to the host and its neighbours, so nftables rules
//! in the namespace's output hook reject those addresses. Routes are not enough: the kernel ignores an
//! unreachable route for a socket that is bound to a device (`SO_BINDTODEVICE`). The namespace belongs to a
//! user namespace that no step runs in, so a step has no capability to change the rules. IPv6 is rejected.

use super::descriptors::{hand, sealed};
use crate::auth::random_hex;
use nix::ifaddrs::getifaddrs;
use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, PipeWriter};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Time for each helper program to become ready.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a helper's error output that an error quotes.
const COMPLAINT_BYTES: u64 = 2_048;
/// slirp4netns forwards DNS queries to this address to the host's resolver.
const RESOLVER: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 3);
/// File in the worker's folder that steps see as `/etc/resolv.conf`.
const NAMES: &str = "resolv.conf";
/// Prefixes that are not public (IANA's special-purpose registry), with multicast and reserved addresses.
/// The last but one is where Azure's machines reach their host's services, keys among them.
const REFUSED: [&str; 13] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "168.63.129.16/32",
    "224.0.0.0/3",
];
/// A shorter prefix of an interface does not describe a local network.
const PREFIX_MIN: u32 = 8;
/// Loads the rules, then keeps the namespace alive until the worker closes the pipe or dies.
const HOLD: &str = r#""$1" -f /proc/self/fd/3 >&2 && echo && exec 3<&- && read -r _"#;

/// The network of steps in a sandbox or a container. Plain steps always use the host's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// A loopback of their own.
    None,
    /// Public IPv4 addresses.
    Internet(Internet),
    /// The host's network, its loopback included.
    Host,
}

/// Why `Internet` cannot be enforced on this machine.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// Helper programs are not installed; these packages contain them.
    #[error(
        "network = \"internet\" requires programs that are not installed; install the Debian packages {0}, or set \
         network to \"none\" or \"host\""
    )]
    Missing(String),
    #[error(
        "network = \"internet\" is not supported here: {program} failed: {why}. The network requires \
         /dev/net/tun and user and network namespaces. Otherwise set network to \"none\" or \"host\""
    )]
    Fails { program: &'static str, why: String },
    #[error("the job network cannot be created: {0}")]
    Machine(#[from] io::Error),
}

/// The programs that [`Network::Internet`] requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Internet {
    pub slirp: PathBuf,
    pub nft: PathBuf,
}

/// A job's network namespace. Ends when this is dropped or the worker dies.
#[derive(Debug)]
pub(super) struct Joined {
    holder: Child,
    _slirp: Child,
    _life: PipeWriter,
    /// The file that steps see as `/etc/resolv.conf`.
    pub(super) names: PathBuf,
    /// Whether a user namespace owns it in which the worker is user 0. A worker that is not root needs one.
    pub(super) as_zero: bool,
}

/// Finds a program on the search path or in the system administration directories.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let folders = std::env::split_paths(&path).chain(more);
    folders.map(|folder| folder.join(name)).find(|at| at.is_file())
}

/// A command that runs a program in this network.
pub(super) fn enter(joined: Option<&Joined>, program: &Path) -> Command {
    let Some(joined) = joined else { return Command::new(program) };
    let mut command = Command::new("nsenter");
    let of = |kind: &str| format!("/proc/{}/ns/{kind}", joined.holder.id().unwrap_or_default());
    if joined.as_zero {
        command.arg(format!("--user={}", of("user"))).arg("--preserve-credentials");
    }
    command.arg(format!("--net={}", of("net"))).arg("--").arg(program);
    command
}

impl Internet {
    pub fn find() -> Result<Self, NetworkError> {
        match (program("slirp4netns"), program("nft")) {
            (Some(slirp), Some(nft)) => Ok(Self { slirp, nft }),
            (slirp, nft) => {
                let missing = [(slirp, "slirp4netns"), (nft, "nftables")].into_iter();
                let missing = missing.filter(|(found, _)| found.is_none()).map(|(_, name)| name);
                Err(NetworkError::Missing(missing.collect::<Vec<_>>().join(" and ")))
            }
        }
    }

    /// Creates and drops a network, to find out whether this machine supports it.
    pub async fn try_out(&self) -> Result<(), NetworkError> {
        let folder = std::env::temp_dir().join(format!("remuda-network-{}", random_hex::<8>()));
        fs::create_dir(&folder)?;
        let tried = self.start(&folder).await.map(drop);
        fs::remove_dir_all(&folder)?;
        tried
    }

    /// Creates a network. Reads the host's addresses now, because they change.
    pub(super) async fn start(&self, folder: &Path) -> Result<Joined, NetworkError> {
        let names = folder.join(NAMES);
        fs::write(&names, format!("nameserver {RESOLVER}\n"))?;
        let as_zero = !geteuid().is_root();
        let holder = self.hold(as_zero).await?;
        let (slirp, life) = self.connect(&holder).await?;
        Ok(Joined { holder, _slirp: slirp, _life: life, names, as_zero })
    }

    /// Creates the namespace and loads its rules.
    async fn hold(&self, as_zero: bool) -> Result<Child, NetworkError> {
        let mut command = Command::new("unshare");
        if as_zero {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--net", "--", "/bin/sh", "-c", HOLD, "sh"]).arg(&self.nft);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        hand(&mut command, vec![sealed(filter(&near()?).as_bytes())?])?;
        let (mut holder, complaint) = spawn(&mut command)?;
        let said = holder.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        match ready(said).await {
            true => Ok(holder),
            false => Err(fails("nft", holder, complaint).await),
        }
    }

    /// Connects the namespace to the internet.
    async fn connect(&self, holder: &Child) -> Result<(Child, PipeWriter), NetworkError> {
        let (said, saying) = io::pipe()?;
        let (ends, life) = io::pipe()?;
        let said = pipe::Receiver::from_owned_fd(said.into())?;
        let mut command = Command::new(&self.slirp);
        // It parses what jobs send, so it runs in a sandbox of its own.
        command.args(["--configure", "--mtu=65520", "--disable-host-loopback"]);
        command.args(["--enable-sandbox", "--enable-seccomp", "--ready-fd=3", "--exit-fd=4"]);
        command.arg(holder.id().unwrap_or_default().to_string()).arg("tap0");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        hand(&mut command, vec![saying.into(), ends.into()])?;
        let (slirp, complaint) = spawn(&mut command)?;
        // Closes our copies of its ends: otherwise its death would go unnoticed.
        drop(command);
        match ready(said).await {
            true => Ok((slirp, life)),
            false => Err(fails("slirp4netns", slirp, complaint).await),
        }
    }
}

/// Starts a helper with nothing of the worker's environment but the search path, away from its terminal.
fn spawn(command: &mut Command) -> io::Result<(Child, JoinHandle<String>)> {
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.current_dir("/").process_group(0).kill_on_drop(true).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stderr = child.stderr.take();
    let complaint = tokio::spawn(async move {
        let Some(mut stderr) = stderr else { return String::new() };
        let mut first = Vec::new();
        let _ = (&mut stderr).take(COMPLAINT_BYTES).read_to_end(&mut first).await;
        // Keep reading, or it would block on a full pipe.
        let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
        String::from_utf8_lossy(&first).trim().replace('\n', "; ")
    });
    Ok((child, complaint))
}

async fn ready(mut said: impl AsyncRead + Unpin) -> bool {
    matches!(timeout(PATIENCE, said.read_u8()).await, Ok(Ok(_)))
}

async fn fails(
    program: &'static str,
    mut child: Child,
    complaint: JoinHandle<String>,
) -> NetworkError {
    let _ = child.kill().await;
    let why = timeout(PATIENCE, complaint).await.ok().and_then(Result::ok).unwrap_or_default();
    let why = if why.is_empty() { "not ready in time".to_owned() } else { why };
    NetworkError::Fails { program, why }
}

/// The host's addresses and the subnets of its interfaces.
fn near() -> io::Result<BTreeSet<String>> {
    let ip = |address: Option<nix::sys::socket::SockaddrStorage>| {
        address.and_then(|address| address.as_sockaddr_in().map(|it| it.ip()))
    };
    let mut near = BTreeSet::new();
    for interface in getifaddrs().map_err(io::Error::from)? {
        let Some(address) = ip(interface.address) else { continue };
        near.insert(format!("{address}/32"));
        near.extend(ip(interface.destination).map(|other| format!("{other}/32")));
        let mask = ip(interface.netmask).map_or(u32::MAX, u32::from);
        if mask.leading_ones() >= PREFIX_MIN {
            let network = Ipv4Addr::from(u32::from(address) & mask);
            near.insert(format!("{network}/{}", mask.leading_ones()));
        }
    }
    Ok(near)
}

/// The nftables rules of a job's network.
fn filter(near: &BTreeSet<String>) -> String {
    let refused: Vec<&str> = REFUSED.into_iter().chain(near.iter().map(String::as_str)).collect();
    format!(
        "table inet remuda {{
            set refused {{ type ipv4_addr; flags interval; auto-merge; elements = {{ {} }} }}
            chain output {{
                type filter hook output priority 0; policy drop;
                oifname \"lo\" accept
                ip daddr {RESOLVER} meta l4proto {{ tcp, udp }} th dport 53 accept
                ip daddr @refused reject with icmpx type admin-prohibited
                meta nfproto ipv4 accept
                reject with icmpx type admin-prohibited
            }}
        }}\n",
        refused.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_reject_private_ranges_and_the_hosts_own_addresses() {
        let near = near().expect("interfaces");
        assert!(near.contains("127.0.0.1/32") || near.is_empty(), "{near:?}");
        let rules = filter(&BTreeSet::from(["93.184.215.14/32".to_owned()]));
        for refused in ["127.0.0.0/8", "169.254.0.0/16", "93.184.215.14/32"] {
            assert!(rules.contains(refused), "{rules}");
        }
    }
}
