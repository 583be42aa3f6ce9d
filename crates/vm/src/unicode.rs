//! What characters are, and their other case: Unicode's tables, from crates of a pinned version.
//!
//! Consensus: a change here forks the chain.
//!
//! The standard library has the same tables in the version that the compiler brings, and what a program
//! makes of a text is consensus: nodes that were built by different compilers would disagree. So nothing
//! in this crate asks the standard library about a character beyond ASCII; `clippy.toml` says so.

use std::borrow::Cow;
use std::iter::Take;

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_locale_core::LanguageIdentifier;
use icu_properties::props::{
    Alphabetic, GeneralCategory, GeneralCategoryGroup, Lowercase, Uppercase, WhiteSpace,
};
use icu_properties::{
    CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed,
};

const CASES: CaseMapperBorrowed<'static> = CaseMapper::new();
const CATEGORIES: CodePointMapDataBorrowed<'static, GeneralCategory> =
    CodePointMapData::<GeneralCategory>::new();
const ALPHABETIC: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<Alphabetic>();
const LOWERCASE: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<Lowercase>();
const UPPERCASE: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<Uppercase>();
const WHITE_SPACE: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<WhiteSpace>();

/// Characters that one becomes in another case, at most.
const MAPPED_MAX: usize = 3;

/// What a character becomes in another case.
pub(crate) type Mapped = Take<std::array::IntoIter<char, MAPPED_MAX>>;

pub(crate) fn is_alphabetic(char: char) -> bool {
    if char.is_ascii() { char.is_ascii_alphabetic() } else { ALPHABETIC.contains(char) }
}

/// Of the categories Nd, Nl and No.
pub(crate) fn is_numeric(char: char) -> bool {
    match char.is_ascii() {
        true => char.is_ascii_digit(),
        false => GeneralCategoryGroup::Number.contains(CATEGORIES.get(char)),
    }
}

pub(crate) fn is_alphanumeric(char: char) -> bool {
    is_alphabetic(char) || is_numeric(char)
}

pub(crate) fn is_lowercase(char: char) -> bool {
    if char.is_ascii() { char.is_ascii_lowercase() } else { LOWERCASE.contains(char) }
}

pub(crate) fn is_uppercase(char: char) -> bool {
    if char.is_ascii() { char.is_ascii_uppercase() } else { UPPERCASE.contains(char) }
}

pub(crate) fn is_whitespace(char: char) -> bool {
    WHITE_SPACE.contains(char)
}

/// A text without the white space around it.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_whitespace)
}

/// A text in lower case. What a sigma becomes depends on its neighbours.
pub(crate) fn to_lowercase(text: &str) -> String {
    CASES.lowercase_to_string(text, &LanguageIdentifier::UNKNOWN).into_owned()
}

/// A text in upper case.
pub(crate) fn to_uppercase(text: &str) -> String {
    CASES.uppercase_to_string(text, &LanguageIdentifier::UNKNOWN).into_owned()
}

/// A text without differences of case.
pub(crate) fn casefold(text: &str) -> String {
    CASES.fold_string(text).into_owned()
}

/// A character in lower case, by itself.
pub(crate) fn lower(char: char) -> Mapped {
    let mut utf8 = [0; 4];
    let text = char.encode_utf8(&mut utf8);
    mapped(CASES.lowercase_to_string(text, &LanguageIdentifier::UNKNOWN))
}

/// A character in upper case, by itself.
pub(crate) fn upper(char: char) -> Mapped {
    let mut utf8 = [0; 4];
    let text = char.encode_utf8(&mut utf8);
    mapped(CASES.uppercase_to_string(text, &LanguageIdentifier::UNKNOWN))
}

fn mapped(text: Cow<'_, str>) -> Mapped {
    let mut chars = ['\0'; MAPPED_MAX];
    let mut count = 0;
    for (place, char) in chars.iter_mut().zip(text.chars()) {
        *place = char;
        count += 1;
    }
    chars.into_iter().take(count)
}

#[cfg(test)]
mod tests;
