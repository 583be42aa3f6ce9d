//! Writes programs that do things to sets and print them: the order in which they are walked over follows
//! from everything that was done before.

use super::Writer;

/// What the elements are made of a small number: hashes that are near, far apart, or at one place.
const ELEMENTS: [&str; 12] = [
    "i",
    "i - 100",
    "i * 8",
    "i << 40",
    "3 ** (i % 120)",
    "-i / 4",
    "(i, i + 1)",
    "((i % 7, -1), (i, (0.5, ())))",
    "frozenset([i, i * 3, (i,)])",
    "Fraction(i - 50, 1 + i % 9)",
    "Point(i % 11, i)",
    "range(i, i + 3, 1 + i % 2)",
];

const HEAD: &str = "
from fractions import Fraction
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
    def __hash__(self): return self.x * 1000 + self.y - (1 << 62)
    def __eq__(self, other): return self.x == other.x and self.y == other.y
    def __repr__(self): return f'P{self.x},{self.y}'
class Named(set): pass
";

/// What is done to sets `a`, `b` and `c` of a table, with numbers `n` and a list `l`; one of them is
/// replaced by what is made.
const DEEDS: [&str; 58] = [
    "a.add(x)",
    "a.add(x); a.discard(y)",
    "a.discard(x)",
    "a.discard(x); a.add(x)",
    "a.pop() if a else None",
    "[a.pop() for _ in range(len(a) // 2)]",
    "a.clear()",
    "a.update(b)",
    "a.update(l)",
    "a.update(dict.fromkeys(l))",
    "a.update(l, b)",
    "a.update(dict.fromkeys(l).keys())",
    "a.update(x for x in l)",
    "a.difference_update(b)",
    "a.difference_update(l)",
    "a.difference_update(b, l)",
    "a.intersection_update(b)",
    "a.intersection_update(l)",
    "a.symmetric_difference_update(b)",
    "a.symmetric_difference_update(l)",
    "a.symmetric_difference_update(dict.fromkeys(l))",
    "a |= b",
    "a &= b",
    "a -= b",
    "a ^= b",
    "c = set(l)",
    "c = set(dict.fromkeys(l))",
    "c = {x for x in l}",
    "c = set(a)",
    "c = a.copy()",
    "c = set(frozenset(a))",
    "c = set(frozenset(l))",
    "c = {*a, *l, *b}",
    "c = a | b",
    "c = a & b",
    "c = a - b",
    "c = a ^ b",
    "c = set(frozenset(a) | b)",
    "c = set(frozenset(a) ^ b)",
    "c = a.union(b)",
    "c = a.union(l, b)",
    "c = a.union(x for x in l)",
    "c = a.intersection(b, l)",
    "c = a.intersection(l)",
    "c = a.difference(b)",
    "c = a.difference(l)",
    "c = a.difference(b, l)",
    "c = a.difference(dict.fromkeys(l))",
    "c = a.symmetric_difference(l)",
    "c = dict.fromkeys(l).keys() - a",
    "c = dict.fromkeys(l).keys() | a",
    "c = dict.fromkeys(l).keys() & set(a)",
    "c = dict.fromkeys(l).keys() ^ a",
    "c = a | dict.fromkeys(l).keys()",
    "c = set(a) & dict.fromkeys(l).keys()",
    "c = dict.fromkeys(l).keys() & dict.fromkeys(a).keys()",
    "c = {x for x, _ in dict.fromkeys(l, 1).items() & dict.fromkeys(a, 1).items()}",
    "c = Named(a); c.add(x)",
];

impl Writer {
    fn numbers(&mut self, limit: u64, range: u64) -> String {
        let count = self.below(limit);
        let numbers: Vec<String> = (0..count).map(|_| self.below(range).to_string()).collect();
        format!("[{}]", numbers.join(", "))
    }

    pub(super) fn sets(&mut self) {
        self.line(HEAD);
        let element = ELEMENTS[self.below(ELEMENTS.len() as u64) as usize];
        let other = ELEMENTS[self.below(ELEMENTS.len() as u64) as usize];
        // Points know how to be compared with points only.
        let mixed =
            self.below(4) == 0 && !element.starts_with("Point") && !other.starts_with("Point");
        let second = if mixed { other } else { element };
        self.line(&format!("def e(i): return {element} if i % 3 else {second}"));
        let range = [5, 20, 60, 300][self.below(4) as usize];
        let constants = self.numbers(9, range);
        self.line(
            &format!("s = [set(), set(), {{{}}}, set()]", &constants[1..constants.len() - 1])
                .replace("{}", "set()"),
        );
        self.line("for i in s[2]: s[1].add(e(i))\ns[2] = set(s[1])");
        for _ in 0..40 {
            let long = if self.below(3) == 0 { 40 } else { 5 };
            let list = self.numbers(long, range);
            let (x, y) = (self.below(range), self.below(range));
            let (a, b, c) = (self.below(4), self.below(4), self.below(4));
            let deed = DEEDS[self.below(DEEDS.len() as u64) as usize];
            self.line(&format!("l = [e(i) for i in {list}]; x, y = e({x}), e({y})"));
            self.line(&format!("a, b, c = s[{a}], s[{b}], s[{c}]"));
            self.line(deed);
            self.line(&format!("s[{c}] = c\nprint({c}, *s)"));
        }
        self.line("print([hash(frozenset(one)) == hash(frozenset(list(one))) for one in s])");
        self.line(
            "print([hash(one) for one in s[0] if not isinstance(one, range) or len(one) > 1])",
        );
    }
}
