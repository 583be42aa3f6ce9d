//! The network of steps. Each test runs in namespaces of its own: a host with a worker and a public address,
//! and behind a veth pair an internet host, a neighbour, a private address and a cloud's metadata address.
//! Nothing leaves the namespaces, so the public addresses belong to nobody here.

use crate::parts::netns::{alone_in, ip, passed};
use crate::parts::runc::Bench;
use crate::parts::server::{Server, folder};
use crate::parts::support::part;
use remuda_fleet::worker::{self, Config, Internet, Network, Sandbox, WorkerError};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The host's own address, and others in its subnets.
const OWN: &str = "11.0.0.1";
const NEIGHBOUR: &str = "11.0.0.3";
const PRIVATE: &str = "10.88.0.2";
const METADATA: &str = "169.254.169.254";
/// An internet host.
const FAR: &str = "12.0.0.1";
const PORT: u16 = 8_080;

fn internet() -> Internet {
    let part = part("internet").join("bin");
    Internet { slirp: part.join("slirp4netns"), nft: part.join("nft") }
}

/// The peers at the other end of the veth pair. They accept every connection.
struct Others(Child);

impl Others {
    fn start() -> Self {
        let program = part("netns").join("bin/ip");
        let (ip_there, id) = (program.display(), std::process::id());
        let answers = "import socket, sys, threading
def serve(at):
    s = socket.socket(socket.AF_INET6 if ':' in at else socket.AF_INET)
    s.bind((at, 8080)); s.listen()
    while True:
        c, _ = s.accept(); c.sendall(b'hello'); c.close()
all = [threading.Thread(target=serve, args=(at,)) for at in sys.argv[1:]]
[t.start() for t in all]
print('ready', flush=True)";
        let script = format!(
            "set -e
            {ip_there} link set lo up
            {ip_there} link add inside type veth peer name outside netns {id}
            for at in {NEIGHBOUR}/24 {PRIVATE}/24 {METADATA}/16 {FAR}/32; do {ip_there} addr add $at dev inside; done
            {ip_there} -6 addr add 2a00:db9::3/64 dev inside nodad
            {ip_there} link set inside up
            {ip_there} route add 11.0.0.0/24 dev inside 2>/dev/null || true
            exec python3 -c \"$0\" {NEIGHBOUR} {PRIVATE} {METADATA} {FAR} 2a00:db9::3"
        );
        let mut others = Command::new("unshare")
            .args(["--net", "--", "sh", "-c", &script, answers])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare");
        let mut ready = [0; 6];
        others.stdout.as_mut().expect("its output").read_exact(&mut ready).expect("ready");
        for words in [
            &format!("addr add {OWN}/24 dev outside"),
            "addr add 10.88.0.1/24 dev outside",
            "addr add 169.254.0.1/16 dev outside",
            "-6 addr add 2a00:db9::1/64 dev outside nodad",
            "link set outside up",
            &format!("route add default via {NEIGHBOUR} dev outside"),
        ] {
            ip(words);
        }
        Self(others)
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The host's own services, on all its addresses.
fn services() {
    for at in ["0.0.0.0", "::1"] {
        let listener = TcpListener::bind(SocketAddr::new(at.parse().expect("an address"), PORT));
        let listener = listener.expect("a socket");
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let _ = (&connection).write_all(b"hello");
            }
        });
    }
}

/// The host's resolver, on loopback as with systemd-resolved. It knows one address. Returns the file that
/// stands for `/etc/resolv.conf`; nothing can be mounted over it once it is removed.
fn resolver() -> PathBuf {
    let at = "127.0.0.53";
    let socket = UdpSocket::bind((at, 53)).expect("a socket");
    std::thread::spawn(move || {
        let mut asked = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut asked) {
            let question = &asked[12..length];
            let name = question.iter().position(|byte| *byte == 0).expect("a name");
            let ipv4 = question[name + 1..name + 3] == [0, 1];
            let head = [0x81, 0x80, 0, 1, 0, u8::from(ipv4), 0, 0, 0, 0];
            let mut answer = [&asked[..2], &head, &question[..name + 5]].concat();
            if ipv4 {
                answer.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 12, 0, 0, 1]);
            }
            let _ = socket.send_to(&answer, from);
        }
    });
    let file = std::env::temp_dir().join(format!("fleet-resolver-{}", std::process::id()));
    std::fs::write(&file, format!("nameserver {at}\n")).expect("a file");
    // In a mount namespace of this test's own.
    let mounted =
        Command::new("mount").arg("--bind").args([&*file, Path::new("/etc/resolv.conf")]).status();
    assert!(mounted.expect("mount").success());
    file
}

/// Tries each address, also with `SO_BINDTODEVICE` and as an IPv4-mapped IPv6 address.
const TRY: &str = r#"
import socket
def tried(family, at, device):
    try:
        s = socket.socket(family); s.settimeout(5)
        if device: s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device)
        s.connect((at, 8080))
        return s.recv(5) == b'hello'
    except OSError:
        return False
devices = [None] + [name.encode() for _, name in socket.if_nameindex() if name != 'lo']
for at in ('127.0.0.1', '11.0.0.1', '11.0.0.3', '10.88.0.1', '10.88.0.2', '169.254.169.254', '10.0.2.2', '12.0.0.1'):
    for family, name in ((socket.AF_INET, at), (socket.AF_INET6, '::ffff:' + at)):
        if any(tried(family, name, device) for device in devices): print(name)
for at in ('::1', '2a00:db9::1', '2a00:db9::3'):
    if any(tried(socket.AF_INET6, at, device) for device in devices): print(at)
print('tried')
"#;

/// Runs one job and returns it with its log.
async fn job(network: Network, steps: &[&str]) -> (Value, String) {
    let server = Server::open().await;
    let folder = folder();
    let sandbox = Sandbox::with(part("bwrap").join("bin/bwrap"), &network).expect("a sandbox");
    let mut config = Config::new(&server.url, folder.clone(), sandbox);
    (config.network, config.one_shot) = (network, true);
    let order = json!({ "name": "a", "max_runtime_seconds": 300,
        "job_spec": { "name": "a", "steps": steps, "env": { "TRY": TRY } } });
    let run = server.ok("/runs", json!({ "jobs": [order] })).await;
    let run = run["run_id"].as_str().expect("an id").to_owned();
    worker::run(config, std::future::pending()).await.expect("worked");
    let job = server.get(&format!("/runs/{run}")).await.1["jobs"][0].clone();
    let log = format!("{}/api/v1/jobs/{}/log", server.url, job["job_id"].as_str().expect("an id"));
    let log = server.http.get(log).send().await.expect("sent").text().await.expect("text");
    std::fs::remove_dir_all(folder).expect("removed");
    assert_eq!(job["state"], "SUCCEEDED", "{job} {log}");
    (job, log)
}

/// What a step on the internet reaches.
const REACHED: &str = "12.0.0.1\n::ffff:12.0.0.1\ntried\n";

#[test]
fn internet_steps_reach_neither_the_host_nor_private_or_local_addresses() {
    alone_in(
        "internet",
        "internet_steps_reach_neither_the_host_nor_private_or_local_addresses",
        async {
            let _others = Others::start();
            services();
            let file = resolver();
            let name = "python3 -c 'import socket; print(socket.gethostbyname(\"far.example\"))'";
            let steps = ["python3 -c \"$TRY\"", "cat /etc/resolv.conf", name];
            let (_, log) = job(Network::Internet(internet()), &steps).await;
            std::fs::remove_file(file).expect("removed");
            // The host's resolver is on its loopback.
            assert_eq!(log, format!("{REACHED}nameserver 10.0.2.3\n{FAR}\n"));
        },
    );
}

/// Without root the worker creates a user namespace first; its jobs keep the worker's ids.
#[test]
fn internet_steps_of_an_unprivileged_worker_do_not_reach_the_host() {
    not_root("internet_steps_of_an_unprivileged_worker_do_not_reach_the_host", async {
        let steps = ["python3 -c \"$TRY\"", "id -u; id -g"];
        let (_, log) = job(Network::Internet(internet()), &steps).await;
        assert_eq!(log, format!("{REACHED}1000\n1000\n"));
    });
}

/// Runs a test's body as an unprivileged user.
fn not_root(test: &str, body: impl Future<Output = ()>) {
    const INSIDE: &str = "REMUDA_TEST_NOT_ROOT";
    if std::env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        return runtime.expect("a runtime").block_on(body);
    }
    alone_in("internet", test, async {
        let _others = Others::start();
        services();
        let status = Command::new("unshare")
            .args(["--user", "--map-user=1000", "--map-group=1000", "--"])
            .arg(std::env::current_exe().expect("this program"))
            .args(["--exact", &format!("parts::internet::{test}"), "--nocapture"])
            .env(INSIDE, "1")
            .output()
            .expect("unshare");
        passed(&status, "as another user");
    });
}

/// The same for a container.
async fn container() {
    let bench = Bench::new().await;
    let mut config = bench.config();
    config.network = Network::Internet(internet());
    let all = ["127.0.0.1", OWN, NEIGHBOUR, PRIVATE, METADATA, FAR].join(" ");
    let step = format!(
        "for at in {all}; do
            if busybox nc -w 5 $at {PORT} </dev/null 2>/dev/null | grep -q hello; then echo $at; fi
        done
        cat /etc/resolv.conf"
    );
    let run = bench.submit("oci:busybox", &[&step], json!({})).await;
    worker::run(config, std::future::pending()).await.expect("worked");
    let (job, log) = bench.seen(&run).await;
    assert_eq!(log, "12.0.0.1\nnameserver 10.0.2.3\n", "{job}");
}

#[test]
fn internet_containers_do_not_reach_the_host() {
    alone_in("internet", "internet_containers_do_not_reach_the_host", async {
        let _others = Others::start();
        services();
        container().await;
    });
}

#[test]
fn internet_containers_of_an_unprivileged_worker_do_not_reach_the_host() {
    not_root("internet_containers_of_an_unprivileged_worker_do_not_reach_the_host", container());
}

#[test]
fn steps_without_network_reach_nothing() {
    alone_in("internet", "steps_without_network_reach_nothing", async {
        let _others = Others::start();
        services();
        let (_, log) = job(Network::None, &["python3 -c \"$TRY\""]).await;
        assert_eq!(log, "tried\n");
    });
}

/// Also proves that the other tests try addresses that answer.
#[test]
fn steps_on_the_hosts_network_reach_what_the_host_does() {
    alone_in("internet", "steps_on_the_hosts_network_reach_what_the_host_does", async {
        let _others = Others::start();
        services();
        let (_, log) = job(Network::Host, &["python3 -c \"$TRY\""]).await;
        for at in ["127.0.0.1", OWN, NEIGHBOUR, PRIVATE, METADATA, FAR, "::1", "2a00:db9::3"] {
            assert!(log.lines().any(|line| line == at), "{at}: {log}");
        }
    });
}

#[test]
fn steps_cannot_change_their_network() {
    alone_in("internet", "steps_cannot_change_their_network", async {
        let _others = Others::start();
        services();
        let tools = format!(
            "PATH={}:{}:$PATH",
            part("internet").join("bin").display(),
            part("netns").join("bin").display()
        );
        let steps = [
            format!(
                "{tools}; ! nft flush ruleset 2>/dev/null; ! ip link set tap0 down 2>/dev/null"
            ),
            format!("{tools}; ! unshare --user --map-root-user nft flush ruleset 2>/dev/null"),
            "python3 -c \"$TRY\"".to_owned(),
        ];
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let (_, log) = job(Network::Internet(internet()), &steps).await;
        assert_eq!(log, REACHED);
    });
}

#[test]
fn a_worker_that_cannot_enforce_its_network_refuses_to_start() {
    alone_in("internet", "a_worker_that_cannot_enforce_its_network_refuses_to_start", async {
        for (slirp, nft, named) in
            [("/bin/true", "/bin/false", "nft"), ("/bin/false", "/bin/true", "slirp4netns")]
        {
            let folder = folder();
            let sandbox = Sandbox::with(part("bwrap").join("bin/bwrap"), &Network::Host);
            let mut config =
                Config::new("http://127.0.0.1:9", folder.clone(), sandbox.expect("a sandbox"));
            config.network = Network::Internet(Internet { slirp: slirp.into(), nft: nft.into() });
            let error = worker::run(config, std::future::pending()).await.expect_err("refused");
            assert!(matches!(error, WorkerError::Network(_)), "{error}");
            assert!(error.to_string().contains(named), "{error}");
            std::fs::remove_dir_all(folder).expect("removed");
        }
    });
}
