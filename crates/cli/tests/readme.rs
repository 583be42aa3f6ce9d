//! Every `console` example in the README runs and prints what it says.

use std::path::Path;
use std::process::Command;

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

#[test]
fn every_example_prints_what_the_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let examples = examples(&text);
    assert!(examples.len() >= 3, "the README has lost its examples");
    let binary = Path::new(env!("CARGO_BIN_EXE_remuda"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    for Example { command, output } in examples {
        let run = Command::new("sh").arg("-c").arg(&command).env("PATH", &path).output().unwrap();
        assert!(run.status.success(), "{command} failed");
        assert_eq!(String::from_utf8_lossy(&run.stdout), output, "{command}");
    }
}

#[test]
fn files_that_the_documents_point_to_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for document in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(root.join(link).exists(), "{document} points to {link}, which is not there");
        }
    }
}

#[test]
fn the_excerpt_of_the_story_is_what_the_demonstration_tells() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let start = text.find("Act two").expect("the README shows the second act");
    let excerpt = text[start..].split("```").next().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_remuda")).arg("demo").output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    for line in excerpt.lines().filter(|line| line.trim() != "…") {
        assert!(told.lines().any(|other| other == line), "the story does not say: {line}");
    }
}

#[test]
fn no_placeholder_is_left_in_the_documents() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for document in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let shouts = |line: &&str| {
            line.contains('_') && line.chars().all(|c| c == '_' || c.is_ascii_uppercase())
        };
        assert_eq!(text.lines().find(shouts), None, "{document} has a placeholder");
    }
}
