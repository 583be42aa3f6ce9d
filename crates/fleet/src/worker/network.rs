//! What steps reach over the network.
//!
//! `Internet` gives each job a network namespace whose only way out is slirp4netns, a TCP/IP stack in a
//! process of the worker's user: it makes ordinary connections of what the job sends. It would connect to
//! this machine and its neighbours as well, so a filter in the namespace (nftables, on all that leaves)
//! refuses those addresses before it sees them. Routes would not do: a socket that is bound to a device
//! passes them by. The filter belongs to a namespace of users that holds no process of a job, so no
//! job can change it. Of IPv6 nothing leaves.

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

/// Each of the two programs must be ready within this time.
const PATIENCE: Duration = Duration::from_secs(10);
/// So much of what they complain about is told.
const COMPLAINT_BYTES: u64 = 2_048;
/// Where slirp4netns answers questions for names, by asking the machine's resolver.
const RESOLVER: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 3);
/// In the worker's folder: what is `/etc/resolv.conf` there.
const NAMES: &str = "resolv.conf";
/// Prefixes that no job reaches (IANA's special-purpose registry; multicast and above): this network, private,
/// shared by carriers, loopback, link-local, protocol assignments, 6to4 relays, benchmarks, the rest.
const REFUSED: [&str; 12] = [
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
    "224.0.0.0/3",
];
/// An interface with a shorter prefix says nothing of its neighbours.
const PREFIX_MIN: u32 = 8;
/// Loads the filter, and then holds the namespace until the worker is done with it or gone.
const HOLD: &str = r#""$1" -f /proc/self/fd/3 >&2 && echo && exec 3<&- && read -r _"#;

/// What steps in a sandbox or a container reach. Plain processes always have the machine's network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// Nothing but a loopback of their own.
    None,
    /// Public addresses.
    Internet(Internet),
    /// What this machine reaches, itself included.
    Host,
}

/// Why jobs cannot have the internet without the machine's own network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// A program.
    #[error(
        "network = \"internet\" needs {program}, which is not there (Debian: {package}); install it, or \
         choose \"none\" or \"host\""
    )]
    Missing {
        /// Its name.
        program: &'static str,
        /// What it comes with.
        package: &'static str,
    },
    /// It is there and fails.
    #[error(
        "network = \"internet\" does not work here: {program}: {why}; slirp4netns needs /dev/net/tun, and \
         both need namespaces of users and networks. Or choose \"none\" or \"host\""
    )]
    Fails {
        /// Which.
        program: &'static str,
        /// What it says.
        why: String,
    },
    /// The machine.
    #[error("a network for jobs cannot be made: {0}")]
    Machine(#[from] io::Error),
}

/// What it takes to give jobs the internet and nothing of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Internet {
    /// slirp4netns.
    pub slirp: PathBuf,
    /// nftables.
    pub nft: PathBuf,
}

/// A network that a job has. Gone when this is dropped, or the worker is.
#[derive(Debug)]
pub(super) struct Joined {
    holder: Child,
    _slirp: Child,
    _life: PipeWriter,
    /// What is `/etc/resolv.conf` there.
    pub(super) names: PathBuf,
    /// Whether it has a namespace of users above it, in which the worker is user 0: whoever is not root
    /// can make no network without one.
    pub(super) as_zero: bool,
}

/// A program on the search path, or where administrators' programs are.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let folders = std::env::split_paths(&path).chain(more);
    folders.map(|folder| folder.join(name)).find(|at| at.is_file())
}

/// Starts a program in a network.
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
    /// If its programs are there.
    pub fn find() -> Result<Self, NetworkError> {
        let found =
            |name, package| program(name).ok_or(NetworkError::Missing { program: name, package });
        Ok(Self { slirp: found("slirp4netns", "slirp4netns")?, nft: found("nft", "nftables")? })
    }

    /// Whether a job would have its network here.
    pub async fn try_out(&self) -> Result<(), NetworkError> {
        let folder = std::env::temp_dir().join(format!("remuda-network-{}", random_hex::<8>()));
        fs::create_dir(&folder)?;
        let tried = self.start(&folder).await.map(drop);
        fs::remove_dir_all(&folder)?;
        tried
    }

    /// Makes a network. What must not be reached is looked up now: addresses of a machine change.
    pub(super) async fn start(&self, folder: &Path) -> Result<Joined, NetworkError> {
        let names = folder.join(NAMES);
        fs::write(&names, format!("nameserver {RESOLVER}\n"))?;
        let as_zero = !geteuid().is_root();
        let holder = self.hold(as_zero).await?;
        let (slirp, life) = self.connect(&holder).await?;
        Ok(Joined { holder, _slirp: slirp, _life: life, names, as_zero })
    }

    /// A namespace with its filter.
    async fn hold(&self, as_zero: bool) -> Result<Child, NetworkError> {
        let mut command = Command::new("unshare");
        if as_zero {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--net", "--", "/bin/sh", "-c", HOLD, "sh"]).arg(&self.nft);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        hand(&mut command, vec![sealed(filter(&near()?).as_bytes())?])?;
        let (mut holder, complaint) = spawn(&mut command)?;
        let said = holder.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
        match ready(said).await {
            true => Ok(holder),
            false => Err(fails("nft", holder, complaint).await),
        }
    }

    /// Its way out.
    async fn connect(&self, holder: &Child) -> Result<(Child, PipeWriter), NetworkError> {
        let (said, saying) = io::pipe()?;
        let (ends, life) = io::pipe()?;
        let said = pipe::Receiver::from_owned_fd(said.into())?;
        let mut command = Command::new(&self.slirp);
        // Locked up in turn: it reads what jobs send.
        command.args(["--configure", "--mtu=65520", "--disable-host-loopback"]);
        command.args(["--enable-sandbox", "--enable-seccomp", "--ready-fd=3", "--exit-fd=4"]);
        command.arg(holder.id().unwrap_or_default().to_string()).arg("tap0");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        hand(&mut command, vec![saying.into(), ends.into()])?;
        let (slirp, complaint) = spawn(&mut command)?;
        // Our ends of what it has: or it could not be heard to end.
        drop(command);
        match ready(said).await {
            true => Ok((slirp, life)),
            false => Err(fails("slirp4netns", slirp, complaint).await),
        }
    }
}

/// Starts one of the two, which have nothing of the worker's but the search path, and no terminal.
fn spawn(command: &mut Command) -> io::Result<(Child, JoinHandle<String>)> {
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.current_dir("/").process_group(0).kill_on_drop(true).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stderr = child.stderr.take();
    let complaint = tokio::spawn(async move {
        let Some(mut stderr) = stderr else { return String::new() };
        let mut first = Vec::new();
        let _ = (&mut stderr).take(COMPLAINT_BYTES).read_to_end(&mut first).await;
        // It may say more, and is not to wait for a reader.
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
    let why = if why.is_empty() { "it is not ready in time".to_owned() } else { why };
    NetworkError::Fails { program, why }
}

/// This machine's own addresses, with those of its networks.
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

/// What leaves a job's network, as nftables reads it.
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
    fn this_machines_addresses_are_refused_though_they_are_public() {
        let near = near().expect("interfaces");
        // Where there is nothing else there is this.
        assert!(near.contains("127.0.0.1/32") || near.is_empty(), "{near:?}");
        let rules = filter(&BTreeSet::from(["93.184.215.14/32".to_owned()]));
        for refused in ["127.0.0.0/8", "169.254.0.0/16", "93.184.215.14/32"] {
            assert!(rules.contains(refused), "{rules}");
        }
    }
}
