//! Format specs, as they are written.

/// `[[fill]align][sign][#][0][width][grouping][.precision][type]`
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) fill: char,
    pub(super) align: Option<char>,
    pub(super) sign: Option<char>,
    /// `z`: no minus before what is shown as zero.
    pub(super) no_minus_zero: bool,
    pub(super) alternate: bool,
    pub(super) width: usize,
    pub(super) grouping: Option<char>,
    pub(super) precision: Option<usize>,
    pub(super) kind: Option<char>,
}

pub(super) fn parse(text: &str) -> Result<Spec, &'static str> {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    let is_align = |char: Option<&char>| char.is_some_and(|char| "<>=^".contains(*char));
    let mut spec = Spec {
        fill: ' ',
        align: None,
        sign: None,
        no_minus_zero: false,
        alternate: false,
        width: 0,
        grouping: None,
        precision: None,
        kind: None,
    };
    if is_align(chars.get(1)) {
        spec.fill = chars[0];
        spec.align = Some(chars[1]);
        at = 2;
    } else if is_align(chars.first()) {
        spec.align = Some(chars[0]);
        at = 1;
    }
    if let Some(sign @ ('+' | '-' | ' ')) = chars.get(at) {
        spec.sign = Some(*sign);
        at += 1;
    }
    if chars.get(at) == Some(&'z') {
        spec.no_minus_zero = true;
        at += 1;
    }
    if chars.get(at) == Some(&'#') {
        spec.alternate = true;
        at += 1;
    }
    if chars.get(at) == Some(&'0') {
        if !is_align(chars.get(1)) {
            spec.fill = '0';
        }
        spec.align = spec.align.or(Some('='));
        at += 1;
    }
    let number = |at: &mut usize| {
        let start = *at;
        while chars.get(*at).is_some_and(char::is_ascii_digit) {
            *at += 1;
        }
        let digits: String = chars[start..*at].iter().collect();
        digits.parse::<usize>().ok()
    };
    spec.width = number(&mut at).unwrap_or(0);
    if let Some(grouping @ (',' | '_')) = chars.get(at) {
        spec.grouping = Some(*grouping);
        at += 1;
    }
    if chars.get(at) == Some(&'.') {
        at += 1;
        spec.precision = Some(number(&mut at).ok_or("Format specifier missing precision")?);
    }
    if at < chars.len() {
        spec.kind = Some(chars[at]);
        at += 1;
    }
    if at == chars.len() { Ok(spec) } else { Err("") }
}
