//! Writes random programs: typed expressions, so that most of them mean something, inside statements
//! that always end. What fails is caught and printed by its type.

mod expression;
mod sets;

/// Types of variables that programs have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Float,
    Str,
    Bool,
    List,
    Dict,
}

pub(crate) const KINDS: [Kind; 6] =
    [Kind::Int, Kind::Float, Kind::Str, Kind::Bool, Kind::List, Kind::Dict];

pub(crate) struct Writer {
    state: u64,
    text: String,
    indent: usize,
    /// Variables that are certainly set here.
    variables: Vec<(String, Kind)>,
    functions: Vec<(String, Vec<Kind>, Kind)>,
    names: usize,
    loops: usize,
}

/// The program of a seed that does things to sets.
pub(crate) fn program_of_sets(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.sets();
    writer.text
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.line("def clip(x):\n    return x if -1e9 < x < 1e9 else 1.5");
    for kind in KINDS {
        writer.assignment(kind);
        writer.assignment(kind);
    }
    for _ in 0..3 {
        writer.function();
    }
    writer.class();
    writer.generator();
    for _ in 0..14 {
        writer.statement(3);
    }
    writer.show_all();
    writer.text
}

impl Writer {
    fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            text: String::new(),
            indent: 0,
            variables: Vec::new(),
            functions: Vec::new(),
            names: 0,
            loops: 0,
        }
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % limit
    }

    pub(crate) fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64) as usize]
    }

    fn kind(&mut self) -> Kind {
        KINDS[self.below(KINDS.len() as u64) as usize]
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub(crate) fn variable(&mut self, kind: Kind) -> Option<String> {
        let known: Vec<&String> =
            self.variables.iter().filter(|(_, other)| *other == kind).map(|(n, _)| n).collect();
        if known.is_empty() {
            return None;
        }
        let known: Vec<String> = known.into_iter().cloned().collect();
        let at = self.below(known.len() as u64) as usize;
        Some(known[at].clone())
    }

    /// What keeps values small however often a loop goes around.
    fn bounded(&mut self, kind: Kind, text: String) -> String {
        match kind {
            Kind::Int => format!("({text}) % 10007"),
            Kind::Float => format!("clip({text})"),
            Kind::Str => format!("({text})[:30]"),
            Kind::List => format!("({text})[:12]"),
            Kind::Dict => format!("dict(list(({text}).items())[:8])"),
            Kind::Bool => text,
        }
    }

    fn assignment(&mut self, kind: Kind) {
        let text = self.expression(kind, 3);
        let text = self.bounded(kind, text);
        let reuse = self.below(3) > 0;
        let name = match self.variable(kind).filter(|_| reuse) {
            Some(name) => name,
            None => self.name("v"),
        };
        self.line(&format!("{name} = {text}"));
        if self.indent == 0 && !self.variables.iter().any(|(known, _)| *known == name) {
            self.variables.push((name, kind));
        }
    }

    fn block(&mut self, depth: usize) {
        self.indent += 1;
        for _ in 0..1 + self.below(3) {
            self.statement(depth - 1);
        }
        self.indent -= 1;
    }

    pub(crate) fn statement(&mut self, depth: usize) {
        if depth == 0 {
            let kind = self.kind();
            return self.simple(kind);
        }
        match self.below(11) {
            0 => {
                let test = self.expression(Kind::Bool, 3);
                self.line(&format!("if {test}:"));
                self.block(depth);
                if self.below(2) == 0 {
                    self.line("else:");
                    self.block(depth);
                }
            }
            1 | 2 if self.loops < 2 => self.for_loop(depth),
            3 if self.loops < 2 => self.while_loop(depth),
            4 | 5 => self.try_block(depth),
            6 => {
                let subject = self.expression(Kind::List, 2);
                let name = self.name("m");
                self.line(&format!("match {subject}:"));
                self.indent += 1;
                self.line(&format!("case []:\n{0}    print('empty')", "    ".repeat(self.indent)));
                self.line(&format!(
                    "case [{name}]:\n{0}    print('one', {name})",
                    "    ".repeat(self.indent)
                ));
                self.line(&format!(
                    "case [{name}, *rest] if {name} > 3:\n{0}    print('more', {name}, rest)",
                    "    ".repeat(self.indent)
                ));
                self.line(&format!("case _:\n{0}    print('else')", "    ".repeat(self.indent)));
                self.indent -= 1;
            }
            _ => {
                let kind = self.kind();
                self.simple(kind);
            }
        }
    }

    fn simple(&mut self, kind: Kind) {
        match self.below(8) {
            0 | 1 => {
                let text = self.expression(kind, 4);
                self.line(&format!("print({text})"));
            }
            2 => {
                if let Some(name) = self.variable(Kind::List) {
                    let (a, b) = (self.expression(Kind::Int, 2), self.expression(Kind::Int, 1));
                    let change = match self.below(6) {
                        0 => format!("{name}.append(({a}) % 100)"),
                        1 => format!("{name}[({a}) % 5:({b}) % 9] = [({b}) % 50]"),
                        2 => format!("{name}.insert({a}, 7)"),
                        3 => format!("{name}.sort(key=lambda q: q % 7, reverse=bool({b}))"),
                        4 => format!("{name} += [({a}) % 10, ({b}) % 10]"),
                        _ => format!("{name}.reverse()"),
                    };
                    self.guarded(&change);
                    self.line(&format!("{name} = {name}[:12]"));
                }
            }
            3 => {
                if let Some(name) = self.variable(Kind::Dict) {
                    let (key, value) =
                        (self.expression(Kind::Str, 1), self.expression(Kind::Int, 2));
                    let change = match self.below(4) {
                        0 => format!("{name}[({key})[:3]] = ({value}) % 1000"),
                        1 => format!("del {name}[({key})[:3]]"),
                        2 => format!("print({name}.pop(({key})[:3], None))"),
                        _ => format!("{name}.update(z=({value}) % 99)"),
                    };
                    self.guarded(&change);
                }
            }
            4 => {
                let text = self.expression(Kind::List, 2);
                self.guarded(&format!("first, *others = {text}; print(first, others)"));
            }
            5 => {
                if let Some(name) = self.variable(Kind::Int) {
                    let operator = self.pick(&["+=", "-=", "*=", "//=", "%=", "|=", "^="]);
                    let value = self.expression(Kind::Int, 2);
                    self.guarded(&format!("{name} {operator} {value}"));
                    self.line(&format!("{name} %= 10007"));
                }
            }
            _ => self.assignment(kind),
        }
    }

    /// On one line, with what goes wrong printed.
    fn guarded(&mut self, text: &str) {
        self.line("try:");
        self.indent += 1;
        self.line(text);
        self.indent -= 1;
        self.line("except Exception as error:");
        self.indent += 1;
        self.line("print(type(error).__name__)");
        self.indent -= 1;
    }

    fn for_loop(&mut self, depth: usize) {
        self.loops += 1;
        let name = self.name("i");
        let source = match self.below(5) {
            0 => format!("range({})", 1 + self.below(6)),
            1 => self.expression(Kind::List, 2) + "[:6]",
            2 => format!("sorted({})", self.expression(Kind::Dict, 1)),
            3 => format!("[ord(c) for c in {}][:5]", self.expression(Kind::Str, 2)),
            _ => format!("list(enumerate({}[:4]))", self.expression(Kind::List, 1)),
        };
        self.line(&format!("for {name} in {source}:"));
        self.indent += 1;
        self.line(&format!("print({name})"));
        if self.below(3) == 0 {
            let test = self.expression(Kind::Bool, 2);
            let way = self.pick(&["break", "continue"]);
            self.line(&format!("if {test}: {way}"));
        }
        self.indent -= 1;
        self.block(depth);
        if self.below(4) == 0 {
            self.line("else:");
            self.indent += 1;
            self.line("print('no break')");
            self.indent -= 1;
        }
        self.loops -= 1;
    }

    fn while_loop(&mut self, depth: usize) {
        self.loops += 1;
        let name = self.name("w");
        let rounds = 1 + self.below(5);
        self.line(&format!("{name} = {rounds}"));
        self.line(&format!("while {name}:"));
        self.indent += 1;
        self.line(&format!("{name} -= 1"));
        self.indent -= 1;
        self.block(depth);
        self.loops -= 1;
    }

    fn try_block(&mut self, depth: usize) {
        self.line("try:");
        self.block(depth);
        self.indent += 1;
        let text = self.expression(Kind::Int, 3);
        let divisor = self.expression(Kind::Int, 2);
        self.line(&format!("print(({text}) // ({divisor}))"));
        self.indent -= 1;
        self.line("except (ZeroDivisionError, ValueError) as error:");
        self.indent += 1;
        self.line("print('caught', type(error).__name__, error)");
        self.indent -= 1;
        if self.below(2) == 0 {
            self.line("except Exception as error:");
            self.indent += 1;
            self.line("print('other', type(error).__name__)");
            self.indent -= 1;
        } else {
            self.line("except LookupError:");
            self.indent += 1;
            self.line("print('lookup')");
            self.indent -= 1;
        }
        if self.below(2) == 0 {
            self.line("finally:");
            self.indent += 1;
            self.line("print('finally')");
            self.indent -= 1;
        }
    }

    fn function(&mut self) {
        let name = self.name("f");
        let kinds: Vec<Kind> = (0..1 + self.below(3)).map(|_| self.kind()).collect();
        let result = self.kind();
        let outer = self.variables.clone();
        let params: Vec<String> = kinds.iter().map(|_| self.name("p")).collect();
        let last = self.expression(*kinds.last().unwrap_or(&Kind::Int), 0);
        let (first, default) = params.split_at(params.len() - 1);
        let mut header: Vec<String> = first.to_vec();
        header.push(format!("{}={last}", default[0]));
        self.line(&format!("def {name}({}):", header.join(", ")));
        self.variables.extend(params.into_iter().zip(kinds.iter().copied()));
        self.indent += 1;
        let test = self.expression(Kind::Bool, 2);
        let early = self.expression(result, 2);
        self.line(&format!("if {test}:\n{}    return {early}", "    ".repeat(self.indent)));
        let value = self.expression(result, 3);
        self.line(&format!("return {value}"));
        self.indent -= 1;
        self.variables = outer;
        self.functions.push((name, kinds, result));
    }

    fn class(&mut self) {
        let value = self.expression(Kind::Int, 1);
        for line in [
            "class Box:",
            "    made = 0",
            "    def __init__(self, value):",
            "        self.value = value",
            "        Box.made += 1",
            "    def __add__(self, other):",
            "        return Box((self.value + (other.value if isinstance(other, Box) else other)) % 1000)",
            "    def __eq__(self, other):",
            "        return isinstance(other, Box) and self.value == other.value",
            "    def __hash__(self):",
            "        return hash(self.value)",
            "    def __lt__(self, other):",
            "        return self.value < other.value",
            "    def __repr__(self):",
            "        return f'Box({self.value})'",
            "class Big(Box):",
            "    def __init__(self, value, scale=2):",
            "        super().__init__(value * scale)",
            "    @property",
            "    def half(self):",
            "        return self.value // 2",
        ] {
            self.line(line);
        }
        self.line(&format!("box = Box(({value}) % 100) + Big(5) + 3"));
        self.line("print(box, sorted([box, Big(1), Box(4)]), Big(9).half, Box(1) == Box(1), {Box(2): 'two'}[Box(2)])");
    }

    fn generator(&mut self) {
        let test = self.expression(Kind::Bool, 1);
        for line in [
            "def steps(n):",
            "    total = 0",
            "    for i in range(n):",
            "        got = yield total",
            "        total += i + (got or 0)",
            "    return total",
            "def outer(n):",
            "    result = yield from steps(n)",
            "    yield ('result', result)",
        ] {
            self.line(line);
        }
        self.line(&format!("print(list(outer(4)), sum(steps(5)), {test})"));
    }

    fn show_all(&mut self) {
        for (name, _) in self.variables.clone() {
            self.line(&format!("print('{name}', {name})"));
        }
        self.line("print(box.value, Box.made)");
    }
}
