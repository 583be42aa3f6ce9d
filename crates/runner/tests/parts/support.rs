//! Where parts are, and how they are started and ended.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// How long a part may take to come up, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a part may take to answer one question while it comes up.
const ANSWER: Duration = Duration::from_secs(5);
/// Lines of a part's output that are shown when it does not come up.
const LINES_SHOWN: usize = 30;

/// Runs a program, and ends all of its group when the program ends or our end of its input is
/// closed, which the system does for us if the test is killed. Its own input is empty.
const GUARD: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
{ read -r _ <&3; kill -KILL 0; } &
wait "$program"
echo "ended with status $?"
kill -KILL 0
"#;

/// The folder of a part.
#[track_caller]
pub(crate) fn part(name: &str) -> PathBuf {
    let all = match std::env::var_os("REMUDA_PARTS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(&std::env::var_os("HOME").expect("$HOME")).join(".cache/remuda/parts"),
    };
    let folder = all.join(name);
    assert!(
        folder.is_dir(),
        "the part {name} is not in {}: install it with scripts/parts/{name}.sh",
        all.display()
    );
    folder
}

/// A folder for one test, that goes when this does.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// An empty folder; tests run side by side, so each names its own.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("remuda-{}-{name}", std::process::id()));
        // A test that was killed left its own, and process numbers come again.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Puts a file into it.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A program that runs until this is dropped, with all that it starts.
pub(crate) struct Running {
    guard: Child,
    name: String,
    log: PathBuf,
}

impl Running {
    /// Starts a program. What it prints goes into a file of that name in a folder.
    pub(crate) fn start(folder: &Folder, name: &str, command: &Command) -> Self {
        let log = folder.path().join(format!("{name}.log"));
        let output = File::create(&log).unwrap();
        let guard = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .process_group(0)
            .spawn()
            .unwrap();
        Self { guard, name: name.to_owned(), log }
    }

    /// Waits until the part answers as it should: `ready` asks it, over its own interface. The log
    /// says nothing that can be relied on: lines of several threads come interleaved. It is shown if
    /// the part ends early or takes too long; then this panics.
    #[track_caller]
    pub(crate) fn until<T>(&mut self, mut ready: impl FnMut() -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            let ended = self.guard.try_wait().unwrap().is_some();
            if let Some(value) = ready().filter(|_| !ended) {
                return value;
            }
            let late = began.elapsed() > PATIENCE;
            if ended || late {
                let output = self.output();
                let lines: Vec<_> = output.lines().collect();
                let last = lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n");
                let what = if late { "does not come up" } else { "ended" };
                panic!("{} {what}; it said last:\n{last}", self.name);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the program has ended by itself, or was killed, and its parent knows.
    #[track_caller]
    pub(crate) fn until_ended(mut self) {
        let began = Instant::now();
        while self.guard.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < PATIENCE, "{} does not end", self.name);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Everything that it has printed, for messages of failed tests.
    fn output(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap()).into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// An address of this machine that no other test uses: a port that is free there stays free.
pub(crate) fn own_address() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [_, _, high, low] = std::process::id().to_be_bytes();
    // Not 127.0, where everybody is.
    let [high, low] = [100 + high % 100, low];
    Ipv4Addr::new(127, high, low, NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A port that is free at every address of this machine, for programs that cannot be told an address.
/// It is below the ephemeral range, and each test process searches a range of its own.
#[track_caller]
pub(crate) fn own_port() -> u16 {
    let start = 5_000 + (std::process::id() % 450) as u16 * 10;
    let free = |port: &u16| TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok();
    (start..start + 10).find(free).unwrap_or_else(|| panic!("no free port from {start} on"))
}

/// Asks a server on this machine, and gives the status and the body of its answer.
fn exchange(
    address: &str,
    head: &str,
    body: &str,
    patience: Duration,
) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(patience))?;
    let length = body.len();
    let request = format!(
        "{head} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.ok_or(io::ErrorKind::InvalidData)?, body.to_owned()))
}

/// The status with which a server answers a GET; none while it does not.
pub(crate) fn status(address: &str, path: &str) -> Option<u16> {
    exchange(address, &format!("GET {path}"), "", ANSWER).ok().map(|(status, _)| status)
}

/// What a server answers to a document; none while it does not, or if it refuses.
pub(crate) fn try_post(address: &str, path: &str, document: &str) -> Option<String> {
    let answer = exchange(address, &format!("POST {path}"), document, ANSWER).ok()?;
    (answer.0 == 200).then_some(answer.1)
}

/// Posts a document to a server on this machine, and gives what it answers.
pub(crate) fn post(address: &str, path: &str, document: &str) -> String {
    let answer = exchange(address, &format!("POST {path}"), document, PATIENCE);
    let (status, body) = answer.unwrap();
    assert_eq!(status, 200, "{body}");
    body
}

/// Whether a process lives.
fn lives(id: &str) -> bool {
    // A process that has ended and that nobody has asked about is in state Z.
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// The numbers of a program that starts another, and of that other, once it has written both into a
/// file that appears as a whole.
fn members(folder: &Folder) -> Option<[String; 2]> {
    let numbers = std::fs::read_to_string(folder.path().join("family")).ok()?;
    let (parent, child) = numbers.trim().split_once(' ')?;
    Some([parent.to_owned(), child.to_owned()])
}

#[test]
fn nothing_that_was_started_outlives_its_test() {
    let folder = Folder::new("family");
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 & echo $$ $! >draft; mv draft family; wait"]);
    let mut running = Running::start(&folder, "family", &command);
    let members = running.until(|| members(&folder));
    assert!(members.iter().all(|id| lives(id)), "{members:?}");
    drop(running);
    // Killed it is, but the system may take its time to clear it away.
    let began = Instant::now();
    while members.iter().any(|id| lives(id)) {
        assert!(began.elapsed() < PATIENCE, "{members:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_program_that_ends_is_waited_for() {
    let folder = Folder::new("ends");
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 0.1; echo x >done"]);
    Running::start(&folder, "ends", &command).until_ended();
    assert!(folder.path().join("done").exists());
}

#[test]
#[should_panic(expected = "broken ended; it said last:\nno such zone\nended with status 3")]
fn a_program_that_ends_early_is_told_with_its_last_words() {
    let folder = Folder::new("broken");
    let mut command = Command::new("sh");
    command.args(["-c", "echo no such zone >&2; exit 3"]);
    Running::start(&folder, "broken", &command).until(|| None::<()>);
}

/// The log of a server says "listening" long before it listens, and garbled.
#[test]
fn readiness_is_what_a_server_answers_and_not_what_it_logs() {
    let folder = Folder::new("garbled");
    let address = format!("{}:8080", own_address());
    let mut command = Command::new("sh");
    command.args(["-c", "printf 'listening at0.00.645 I srv'; sleep 1000"]);
    let mut running = Running::start(&folder, "garbled", &command);
    let at = address.clone();
    let server = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        let listener = TcpListener::bind(at).unwrap();
        for status in [503, 503, 200] {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1_024]).unwrap();
            write!(stream, "HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n").unwrap();
        }
    });
    let mut asked = Vec::new();
    running.until(|| {
        let answer = status(&address, "/health");
        asked.extend(answer);
        (answer == Some(200)).then_some(())
    });
    assert_eq!(asked, [503, 503, 200]);
    server.join().unwrap();
}

#[test]
#[should_panic(expected = "install it with scripts/parts/nonsense.sh")]
fn a_part_that_is_missing_is_told_how_to_be_installed() {
    part("nonsense");
}
