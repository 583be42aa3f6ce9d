//! `remuda run example`: a run to begin with.

use crate::failure::Failure;
use crate::session::Output;

const TOML: &str = include_str!("examples/run.toml");
const JSON: &str = include_str!("examples/run.json");

pub(super) fn example(out: Output) -> Result<(), Failure> {
    out.text(if out.json { JSON } else { TOML })
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    #[test]
    fn both_examples_are_runs_and_the_same() {
        let toml = parse(TOML.as_bytes()).unwrap_or_else(|why| panic!("{why}"));
        let json = parse(JSON.as_bytes()).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(toml, json);
        assert!(toml.jobs.iter().any(|job| !job.needs.is_empty()));
    }
}
