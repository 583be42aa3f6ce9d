use super::*;
use remuda_protocol::primitives::keccak256;

/// All tables, as a program can see them. A changed hash is a fork of every chain that runs.
#[test]
fn tables_are_those_of_the_pinned_version() {
    let mut all = Vec::new();
    for char in '\0'..=char::MAX {
        let is = [
            is_alphabetic(char),
            is_numeric(char),
            is_lowercase(char),
            is_uppercase(char),
            is_whitespace(char),
            unicode_ident::is_xid_start(char),
            unicode_ident::is_xid_continue(char),
        ];
        all.extend(is.map(u8::from));
        let mapped = [lower(char).collect(), upper(char).collect(), casefold(&char.to_string())];
        for text in mapped {
            let text: String = text;
            all.push(text.len() as u8);
            all.extend_from_slice(text.as_bytes());
        }
    }
    let hash = keccak256(&all).to_string();
    assert_eq!(hash, PINNED, "another version of Unicode: pin the crates of before");
}

const PINNED: &str = "0xb22026dc2577af2325751d62e159480fc6befb5faf0f98de91867b68bb41f514";

/// The compiler that built this has tables of its own. Where both know a character they agree.
#[test]
#[allow(clippy::disallowed_methods)]
fn tables_agree_with_the_standard_library_on_characters_of_old() {
    for char in '\0'..=char::MAX {
        // Unassigned in the one or the other: a later version may have given it a meaning.
        if CATEGORIES.get(char) == GeneralCategory::Unassigned || !is_of_old(char) {
            continue;
        }
        let ours = (is_alphabetic(char), is_numeric(char), is_lowercase(char), is_uppercase(char));
        let theirs =
            (char.is_alphabetic(), char.is_numeric(), char.is_lowercase(), char.is_uppercase());
        assert_eq!(ours, theirs, "{:x}", char as u32);
        assert_eq!(is_whitespace(char), char.is_whitespace(), "{:x}", char as u32);
        assert!(lower(char).eq(char.to_lowercase()), "{:x}", char as u32);
        assert!(upper(char).eq(char.to_uppercase()), "{:x}", char as u32);
    }
}

/// Whether a character is among those that were given their meaning long ago.
fn is_of_old(char: char) -> bool {
    (char as u32) < 0x180
}

/// One line for each character that CPython's version knows.
const CPYTHON: &str = "\
import sys, unicodedata
for code in range(sys.maxunicode + 1):
    c = chr(code)
    if unicodedata.category(c) not in ('Cn', 'Cs'):
        is_ = ''.join(str(int(b)) for b in (c.islower(), c.isupper(), c.isspace()))
        print(format(code, 'x'), is_, *(text.encode().hex() for text in (c.lower(), c.upper(), c.casefold())))
";

/// Characters that Unicode has redefined since 14, which CPython 3.11 has: a letter that no longer is a small
/// one, and modifiers that have become small ones.
const REDEFINED: [char; 6] =
    ['\u{295}', '\u{10fc}', '\u{a7f2}', '\u{a7f3}', '\u{a7f4}', '\u{ab69}'];

#[test]
fn tables_agree_with_cpython_on_characters_that_both_versions_have() {
    let python = std::process::Command::new("python3").args(["-c", CPYTHON]).output();
    let python =
        python.expect("there is no python3 to compare with: as root, apt-get install python3");
    let lines = String::from_utf8(python.stdout).unwrap();
    let rows: Vec<Vec<&str>> = lines.lines().map(|line| line.split(' ').collect()).collect();
    let char = |row: &[&str]| char::from_u32(u32::from_str_radix(row[0], 16).unwrap()).unwrap();
    let known: std::collections::BTreeSet<char> = rows.iter().map(|row| char(row)).collect();
    assert!(known.len() > 100_000, "{} characters", known.len());
    let hex = |text: &str| -> String { text.bytes().map(|byte| format!("{byte:02x}")).collect() };
    let mut differ = Vec::new();
    for row in rows {
        let char = char(&row);
        // Python's separators beyond Unicode's white space, which `str.isspace` here adds.
        let space = is_whitespace(char) || ('\x1c'..='\x1f').contains(&char);
        let is = [is_lowercase(char), is_uppercase(char), space];
        let is: String = is.map(|is| if is { '1' } else { '0' }).iter().collect();
        let mut agree = is == row[1];
        let ours: [String; 3] =
            [lower(char).collect(), upper(char).collect(), casefold(&char.to_string())];
        for (ours, theirs) in ours.iter().zip(&row[2..]) {
            // A newer version has given an old letter a partner that CPython's does not know.
            let both = ours.chars().all(|char| known.contains(&char));
            agree &= !both || hex(ours) == *theirs;
        }
        if !agree && !REDEFINED.contains(&char) {
            differ.push(row[0].to_owned());
        }
    }
    assert_eq!(differ, [""; 0]);
}

#[test]
fn words_change_case_as_a_whole() {
    assert_eq!(to_lowercase("ΟΔΥΣΣΕΥΣ ΣΑΣ"), "οδυσσευς σας");
    assert_eq!(to_uppercase("straße ŉ ﬃ"), "STRASSE ʼN FFI");
    assert_eq!(casefold("Straße ΣΑΣ"), "strasse σασ");
    assert_eq!(trim("\u{2003}a b\u{a0}\n"), "a b");
}
