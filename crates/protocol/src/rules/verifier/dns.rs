//! How a runner's own DNS report is judged (CIP-2 §9.1).
//!
//! A result holds the report in its member `dns`: an array with one entry per DNS check of the job,
//! in order. An entry is an array of `{"resolver": <string>, "confirmed": <bool>}`. Whether the
//! resolvers told the truth cannot be known here; a false report costs its runner the vote.

use super::json::Json;
use std::collections::BTreeMap;

/// Whether a result passes the job's DNS check number `index`, counting DNS checks only.
///
/// It passes if the entry is well formed, names no resolver twice and at least `min_resolvers` of
/// them, and more than half of them confirm.
pub fn passes(result: &Json, index: usize, min_resolvers: u32) -> bool {
    let Some(answers) = entry(result, index).and_then(read_entry) else {
        return false;
    };
    let confirmed = answers.values().filter(|confirmed| **confirmed).count();
    answers.len() as u64 >= u64::from(min_resolvers) && confirmed > answers.len() / 2
}

fn entry(result: &Json, index: usize) -> Option<&[Json]> {
    let Json::Object(members) = result else {
        return None;
    };
    let Json::Array(entries) = members.get("dns")? else {
        return None;
    };
    let Json::Array(answers) = entries.get(index)? else {
        return None;
    };
    Some(answers)
}

/// The answers by resolver. A resolver that is named twice would count twice, so that spoils the
/// entry.
fn read_entry(answers: &[Json]) -> Option<BTreeMap<&str, bool>> {
    let mut by_resolver = BTreeMap::new();
    for answer in answers {
        let (resolver, confirmed) = read_answer(answer)?;
        if by_resolver.insert(resolver, confirmed).is_some() {
            return None;
        }
    }
    Some(by_resolver)
}

fn read_answer(answer: &Json) -> Option<(&str, bool)> {
    let Json::Object(members) = answer else {
        return None;
    };
    match (members.len(), members.get("resolver")?, members.get("confirmed")?) {
        (2, Json::String(resolver), Json::Bool(confirmed)) => Some((resolver, *confirmed)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::verifier::json::parse;

    /// A result with one DNS entry: resolver names, and whether each confirms.
    fn result(answers: &[(&str, bool)]) -> Json {
        let answers: Vec<_> = answers
            .iter()
            .map(|(name, confirmed)| format!(r#"{{"resolver":"{name}","confirmed":{confirmed}}}"#))
            .collect();
        parse(format!(r#"{{"dns":[[{}]]}}"#, answers.join(",")).as_bytes()).unwrap()
    }

    #[test]
    fn more_than_half_of_the_resolvers_must_confirm() {
        assert!(passes(&result(&[("a", true)]), 0, 1));
        assert!(passes(&result(&[("a", true), ("b", true), ("c", false)]), 0, 3));
        assert!(!passes(&result(&[("a", true), ("b", false)]), 0, 2));
        assert!(!passes(&result(&[("a", true), ("b", false), ("c", false)]), 0, 3));
        assert!(passes(&result(&[("a", true), ("b", true), ("c", true), ("d", false)]), 0, 1));
        assert!(!passes(&result(&[("a", true), ("b", true), ("c", false), ("d", false)]), 0, 1));
    }

    #[test]
    fn enough_resolvers_must_be_named() {
        let two = result(&[("a", true), ("b", true)]);
        assert!(passes(&two, 0, 2));
        assert!(!passes(&two, 0, 3));
        assert!(!passes(&two, 0, u32::MAX));
        assert!(!passes(&result(&[]), 0, 0));
    }

    #[test]
    fn a_resolver_named_twice_fails() {
        assert!(!passes(&result(&[("a", true), ("a", true)]), 0, 1));
        assert!(!passes(&result(&[("a", true), ("b", true), ("a", false)]), 0, 1));
    }

    #[test]
    fn each_check_reads_its_own_entry() {
        let text = br#"{"dns":[[{"resolver":"a","confirmed":true}],[{"resolver":"a","confirmed":false}]]}"#;
        let result = parse(text).unwrap();
        assert!(passes(&result, 0, 1));
        assert!(!passes(&result, 1, 1));
        assert!(!passes(&result, 2, 1));
    }

    #[test]
    fn anything_malformed_fails() {
        for text in [
            "null",
            "{}",
            "[]",
            r#"{"dns":{}}"#,
            r#"{"dns":[]}"#,
            r#"{"dns":[true]}"#,
            r#"{"dns":[{"resolver":"a","confirmed":true}]}"#,
            r#"{"dns":[["a"]]}"#,
            r#"{"dns":[[{"resolver":"a"}]]}"#,
            r#"{"dns":[[{"confirmed":true}]]}"#,
            r#"{"dns":[[{"resolver":1,"confirmed":true}]]}"#,
            r#"{"dns":[[{"resolver":"a","confirmed":"true"}]]}"#,
            r#"{"dns":[[{"resolver":"a","confirmed":true,"x":1}]]}"#,
            r#"{"dns":[[{"resolver":"a","confirmed":true},null]]}"#,
        ] {
            assert!(!passes(&parse(text.as_bytes()).unwrap(), 0, 0), "{text}");
        }
    }
}
