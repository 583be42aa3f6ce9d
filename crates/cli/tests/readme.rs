//! Every `console` example in the README runs and prints what it says, and so does its network.

use crate::support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use support::{Folder, free_port};

/// A command and what it prints.
struct Example {
    command: String,
    output: String,
}

fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => {
                    found.push(Example { command: command.to_owned(), output: String::new() });
                }
                (None, Some(example)) => {
                    example.output.push_str(line);
                    example.output.push('\n');
                }
                (None, None) => panic!("output before any command: {line}"),
            },
            (false, _) => {}
        }
    }
    found
}

/// The PATH with the program on it.
fn path() -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_remuda"));
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", binary.parent().unwrap().display())
}

#[test]
fn every_example_prints_what_the_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let examples = examples(&text);
    assert!(examples.len() >= 3, "the README has lost its examples");
    let path = path();
    for Example { command, output } in examples {
        let run = Command::new("sh").arg("-c").arg(&command).env("PATH", &path).output().unwrap();
        assert!(run.status.success(), "{command} failed");
        assert_eq!(String::from_utf8_lossy(&run.stdout), output, "{command}");
    }
}

/// A network that stops with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

/// A shell, with nothing of the tester's own environment in it.
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).env("PATH", path()).stdin(Stdio::null());
    for name in ["REMUDA_NODE", "REMUDA_KEY", "REMUDA_ORCHESTRATOR", "REMUDA_TOKEN_FILE"] {
        command.env_remove(name);
    }
    command
}

/// What a line says, up to what differs from network to network.
fn stem(line: &str) -> &str {
    let end = [line.find("0x"), line.find('/')].into_iter().flatten().min();
    &line[..end.unwrap_or(line.len())]
}

/// The blocks of a section that are commands of a terminal: those without a language.
fn blocks<'a>(text: &'a str, section: &str) -> Vec<&'a str> {
    let found = text.split("\n## ").find_map(|part| part.strip_prefix(section));
    let mut rest = found.expect("a section of that name");
    let mut blocks = Vec::new();
    while let Some((_, opened)) = rest.split_once("\n```") {
        let (language, block) = opened.split_once('\n').expect("a block");
        let (block, after) = block.split_once("```").expect("the end of a block");
        if language.is_empty() {
            blocks.push(block);
        }
        rest = after;
    }
    blocks
}

/// All paths that begin with a network. Blocks run as they are, but for the ports and the directory.
#[test]
fn the_network_of_the_readme_does_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let [network, user] = blocks(&text, "Start a network\n")[..] else { panic!("two blocks") };
    let [actor] = blocks(&text, "Actor developer\n")[..] else { panic!("one block") };
    let [runner, drain] = blocks(&text, "Runner operator\n")[..] else { panic!("two blocks") };

    let (folder, port) = (Folder::new("readme"), free_port(4));
    let api = format!("127.0.0.1:{}", port + 100);
    let (command, shown) = network.split_once('\n').expect("a command and what it prints");
    let command = command.strip_prefix("$ ").expect("a command");
    let script = format!("exec {command} --base-port {port} --dir {}", folder.file("net"));
    let running = shell(&script).stdout(Stdio::piped()).spawn().unwrap();
    let mut running = Running(running);
    let mut told = Vec::new();
    for line in BufReader::new(running.0.stdout.take().unwrap()).lines() {
        told.push(line.unwrap());
        if told.last().is_some_and(|line| line.starts_with("Ctrl-C")) {
            break;
        }
    }
    for line in shown.lines().filter(|line| line.trim() != "…") {
        assert!(told.iter().any(|other| stem(other) == stem(line)), "{line:?} is not in {told:#?}");
    }
    assert!(told.contains(&format!("export REMUDA_NODE=http://{api}")), "{told:#?}");

    let user = user.replace("127.0.0.1:4100", &api);
    assert!(user.contains(&api), "{user}");
    let run = shell(&user).current_dir(folder.file("")).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{user}\nended with {}:\n{out}{err}", run.status);

    let page = format!("127.0.0.1:{}", free_port(1));
    assert!(runner.contains("127.0.0.1:8090"), "{runner}");
    let runner = runner.replace("127.0.0.1:8090", &page);
    let script = format!("export REMUDA_NODE=http://{api}\n{runner}{drain}");
    let run = shell(&script).current_dir(folder.file("")).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{runner}: {out}{err}");
    assert!(out.contains("open") && out.contains("drained"), "{out}{err}");

    let script = format!("export REMUDA_NODE=http://{api}\n{actor}");
    let run = shell(&script).current_dir(folder.file("")).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{actor}: {out}{err}");
    assert!(out.contains("is an actor now") && out.contains("actor 0x"), "{out}{err}");
}

#[test]
fn the_production_network_of_the_readme_is_created() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let [init] = blocks(&text, "Validator operator\n")[..] else { panic!("one block") };
    let folder = Folder::new("readme-production");
    let run = shell(init).current_dir(folder.file("")).output().unwrap();
    assert!(run.status.success(), "{init}\n{}", String::from_utf8_lossy(&run.stderr));
    assert!(Path::new(&folder.file("net/validator-0/node.toml")).exists());
}

/// The output of the demonstration, then the commands of an operator, a worker's owner and a submitter.
/// They run as they are, but for the port, the directory and the sandbox.
#[test]
fn the_fleet_of_the_readme_does_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let [_, operator, worker, user] = blocks(&text, "Platform team\n")[..] else {
        panic!("four blocks")
    };

    let (folder, port) = (Folder::new("readme-fleet"), free_port(1));
    let url = format!("http://127.0.0.1:{port}");
    let start = |block: &str| {
        let (before, last) = block.trim_end().rsplit_once('\n').expect("two commands");
        let mut command = shell(&format!("{before}\nexec {last}"));
        command.current_dir(folder.file("")).env("REMUDA_ORCHESTRATOR", &url);
        Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    };
    let init = format!("orchestrator init fleet --listen 127.0.0.1:{port}");
    let mut orchestrator = start(&operator.replace("orchestrator init fleet", &init));
    let told = BufReader::new(orchestrator.0.stdout.take().unwrap()).lines();
    let ready = told.map_while(Result::ok).find(|line| line.starts_with("orchestrator http"));
    assert_eq!(ready, Some(format!("orchestrator {url}")));
    let _worker = start(&worker.replace("init ada", "init ada --sandbox plain"));
    let mut user_shell = shell(user);
    user_shell.current_dir(folder.file("")).env("REMUDA_ORCHESTRATOR", &url);
    let run = user_shell.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{user}\nended with {}:\n{out}{err}", run.status);
    assert!(out.contains("SUCCEEDED") && out.contains("all well"), "{out}{err}");
}

/// Every document for readers, by its path.
fn documents(root: &Path) -> Vec<std::path::PathBuf> {
    let mut paths: Vec<_> =
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root.join(name)).into();
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    paths.extend(docs.filter(|path| path.extension().is_some_and(|kind| kind == "md")));
    paths
}

/// The anchor that a heading gets: letters, digits, `-` and `_` in lower case, spaces as `-`.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_in_the_documents_resolve() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for document in documents(&root) {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => document.clone(),
                _ => document.parent().unwrap().join(file),
            };
            let what = format!("{} points to {link}", document.display());
            assert!(target.exists(), "{what}, which does not exist");
            if !fragment.is_empty() {
                let target = std::fs::read_to_string(&target).unwrap();
                let mut headings = target.lines().filter(|line| line.starts_with('#'));
                assert!(headings.any(|line| anchor(line) == fragment), "{what}: no such heading");
            }
        }
    }
}

#[test]
fn no_placeholder_is_left_in_the_documents() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for document in documents(&root) {
        let text = std::fs::read_to_string(&document).unwrap();
        let shouts = |line: &&str| {
            line.contains('_') && line.chars().all(|c| c == '_' || c.is_ascii_uppercase())
        };
        assert_eq!(text.lines().find(shouts), None, "{}", document.display());
    }
}
