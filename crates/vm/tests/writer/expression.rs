//! Expressions of a type, nested so deep.

use super::{Kind, Writer};

impl Writer {
    pub(crate) fn expression(&mut self, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.below(6) == 0 {
            return self.leaf(kind);
        }
        if self.below(8) == 0
            && let Some(call) = self.call(kind, depth)
        {
            return call;
        }
        if self.below(10) == 0 {
            let test = self.expression(Kind::Bool, depth - 1);
            let (yes, no) = (self.expression(kind, depth - 1), self.expression(kind, depth - 1));
            return format!("({yes} if {test} else {no})");
        }
        match kind {
            Kind::Int => self.int(depth),
            Kind::Float => self.float(depth),
            Kind::Str => self.text(depth),
            Kind::Bool => self.truth(depth),
            Kind::List => self.list(depth),
            Kind::Dict => self.dict(depth),
        }
    }

    fn leaf(&mut self, kind: Kind) -> String {
        if self.below(3) > 0
            && let Some(name) = self.variable(kind)
        {
            return name;
        }
        match kind {
            Kind::Int => match self.below(6) {
                0 => "0".to_owned(),
                1 => format!("(-{})", self.below(100)),
                2 => format!("{}", self.below(1 << 40)),
                _ => format!("{}", self.below(20)),
            },
            Kind::Float => self.pick(&["0.5", "2.0", "(-1.25)", "3.75", "1e3", "0.1"]).to_owned(),
            Kind::Str => self
                .pick(&[
                    "''",
                    "'a'",
                    "'abc'",
                    "'Hello World'",
                    "'x,y,z'",
                    "' pad '",
                    "'été'",
                    "'12'",
                ])
                .to_owned(),
            Kind::Bool => self.pick(&["True", "False"]).to_owned(),
            Kind::List => {
                self.pick(&["[]", "[1]", "[3, 1, 2]", "[5, 5, 0, -1]", "list(range(6))"]).to_owned()
            }
            Kind::Dict => self
                .pick(&["{}", "{'a': 1}", "{'k': 2, 'a': 3, 'z': 0}", "dict(q=1, r=2)"])
                .to_owned(),
        }
    }

    fn call(&mut self, kind: Kind, depth: usize) -> Option<String> {
        let known: Vec<(String, Vec<Kind>)> = self
            .functions
            .iter()
            .filter(|(_, _, result)| *result == kind)
            .map(|(name, kinds, _)| (name.clone(), kinds.clone()))
            .collect();
        if known.is_empty() {
            return None;
        }
        let (name, kinds) = known[self.below(known.len() as u64) as usize].clone();
        let drop = usize::from(self.below(3) == 0);
        let args: Vec<String> = kinds[..kinds.len() - drop.min(kinds.len() - 1)]
            .iter()
            .map(|kind| self.expression(*kind, depth.saturating_sub(2)))
            .collect();
        Some(format!("{name}({})", args.join(", ")))
    }

    fn int(&mut self, depth: usize) -> String {
        let a = self.expression(Kind::Int, depth - 1);
        let b = self.expression(Kind::Int, depth - 1);
        match self.below(14) {
            0..=3 => {
                let op = self.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({a} {op} {b})")
            }
            4 => format!("({a} // (({b}) % 7 + 1))"),
            5 => format!("({a} % (({b}) % 9 - 10))"),
            6 => format!("((({a}) % 50) ** (({b}) % 4))"),
            7 => format!("(({a}) >> (({b}) % 5) << 1)"),
            8 => format!("len({})", self.expression(Kind::Str, depth - 1)),
            9 => format!("sum({})", self.expression(Kind::List, depth - 1)),
            10 => format!("max({a}, {b}, key=lambda q: -q)"),
            11 => format!("abs(-{a})"),
            12 => format!("{}.get('a', {a})", self.expression(Kind::Dict, depth - 1)),
            _ => format!("int({})", self.expression(Kind::Bool, depth - 1)),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        let a = self.expression(Kind::Float, depth - 1);
        match self.below(6) {
            0 | 1 => {
                let b = self.expression(Kind::Float, depth - 1);
                let op = self.pick(&["+", "-", "*"]);
                format!("({a} {op} {b})")
            }
            2 => format!("({a} / 4)"),
            3 => format!("round({a}, {})", self.below(4)),
            4 => format!("float(({}) % 1000)", self.expression(Kind::Int, depth - 1)),
            _ => format!("abs({a})"),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        let a = self.expression(Kind::Str, depth - 1);
        let n = self.expression(Kind::Int, depth - 1);
        match self.below(16) {
            0 | 1 => format!("({a} + {})", self.expression(Kind::Str, depth - 1)),
            2 => {
                let method = self.pick(&[
                    "upper",
                    "lower",
                    "strip",
                    "title",
                    "swapcase",
                    "capitalize",
                    "lstrip",
                ]);
                format!("{a}.{method}()")
            }
            3 => format!("str({n})"),
            // Names only: quotes inside the braces are newer than some CPythons.
            4 => match (self.variable(Kind::Str), self.variable(Kind::Int)) {
                (Some(text), Some(number)) => {
                    format!("f'<{{{number}:>5}}|{{{text}!r:.12}}|{{{number} % 7 = }}>'")
                }
                _ => a,
            },
            5 => format!("{a}[({n}) % 5:]"),
            6 => format!("{a}[::-1]"),
            7 => format!("({a} * (({n}) % 3))"),
            8 => format!("'-'.join(map(str, {}))", self.expression(Kind::List, depth - 1)),
            9 => format!("{a}.replace('a', '{}')", self.pick(&["", "bb", "A"])),
            10 => format!("'%s:%03d' % ({a}, ({n}) % 999)"),
            11 => format!("','.join(sorted({}))", self.expression(Kind::Dict, depth - 1)),
            12 => format!("{a}.center(({n}) % 9, '*')"),
            13 => format!("repr({})", self.expression(Kind::List, depth - 1)),
            14 => format!("'{{}}/{{!r}}'.format({n}, {a})"),
            _ => format!("{a}.partition('l')[{}]", self.below(3)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        match self.below(9) {
            0..=2 => {
                let (a, b) =
                    (self.expression(Kind::Int, depth - 1), self.expression(Kind::Int, depth - 1));
                let op = self.pick(&["<", "<=", "==", "!=", ">", ">="]);
                format!("({a} {op} {b})")
            }
            3 => format!("(not {})", self.expression(Kind::Bool, depth - 1)),
            4 => {
                let (a, b) = (
                    self.expression(Kind::Bool, depth - 1),
                    self.expression(Kind::Bool, depth - 1),
                );
                let op = self.pick(&["and", "or"]);
                format!("bool({a} {op} {b})")
            }
            5 => {
                let (a, b) =
                    (self.expression(Kind::Int, depth - 1), self.expression(Kind::List, depth - 1));
                format!("({a} in {b})")
            }
            6 => {
                let (a, b) =
                    (self.expression(Kind::Str, depth - 1), self.expression(Kind::Str, depth - 1));
                let op = self.pick(&["in", "not in", "<", "==", ">="]);
                format!("({a} {op} {b})")
            }
            7 => {
                let (a, b) = (
                    self.expression(Kind::List, depth - 1),
                    self.expression(Kind::List, depth - 1),
                );
                let op = self.pick(&["<", "==", ">="]);
                format!("({a} {op} {b})")
            }
            _ => {
                let a = self.expression(Kind::Int, depth - 1);
                let quantifier = self.pick(&["any", "all"]);
                let list = self.expression(Kind::List, depth - 1);
                format!("{quantifier}(q > ({a}) % 5 for q in {list})")
            }
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let a = self.expression(Kind::List, depth - 1);
        let n = self.expression(Kind::Int, depth - 1);
        match self.below(12) {
            0 => format!("({a} + [{n}])"),
            1 => format!("[q * 2 - 1 for q in {a} if q % 3 != ({n}) % 3]"),
            2 => format!("sorted({a}, key=lambda q: (q % 5, -q))"),
            3 => {
                let step = self.pick(&["1", "2", "-1", "-2"]);
                format!("{a}[({n}) % 4::{step}]")
            }
            4 => format!("list(map(lambda q: q ^ 1, {a}))"),
            5 => format!("list({}.values())", self.expression(Kind::Dict, depth - 1)),
            6 => format!("[*{a}, *range(({n}) % 4)]"),
            7 => format!("[i + j for i, j in zip({a}, reversed({a}))]"),
            8 => format!("sorted(set({a}) | {{({n}) % 10}})"),
            9 => format!("[len(w) for w in {}.split()]", self.expression(Kind::Str, depth - 1)),
            10 => format!("list(filter(None, {a}))"),
            _ => format!("([({n}) % 7] * 2 + {a}[1:])"),
        }
    }

    fn dict(&mut self, depth: usize) -> String {
        let a = self.expression(Kind::Dict, depth - 1);
        let n = self.expression(Kind::Int, depth - 1);
        match self.below(6) {
            0 => format!("{{**{a}, 'n': ({n}) % 100}}"),
            1 => format!("{{k + 'x': v + 1 for k, v in {a}.items()}}"),
            2 => format!("{{str(q % 4): q for q in {}}}", self.expression(Kind::List, depth - 1)),
            3 => format!("({a} | {{'m': ({n}) % 9}})"),
            4 => format!("dict(zip('abc', {}))", self.expression(Kind::List, depth - 1)),
            _ => format!("{{k: v for k, v in sorted({a}.items(), reverse=True)}}"),
        }
    }
}
