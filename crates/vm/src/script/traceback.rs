//! What a person is shown of an exception: the lines that it went through, and those before it.

use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::embed::Ending;

/// Exceptions that are shown before the last one.
const CHAIN_MAX: usize = 16;
/// Lines alike in a row that are shown; the rest is counted.
const REPEATED_MAX: usize = 3;

const BY_CAUSE: &str = "\nThe above exception was the direct cause of the following exception:\n\n";
const BY_CONTEXT: &str =
    "\nDuring handling of the above exception, another exception occurred:\n\n";

impl Vm {
    /// Ending, text and exit code of a script that an exception ended.
    pub(super) fn explain(
        &mut self,
        exception: Value,
        source: &str,
        file: &str,
    ) -> (Ending, String, i32) {
        // The messages may be written in Python: nothing else holds the exceptions meanwhile.
        self.kept = exception;
        let explained = if self.is_instance(exception, Type::SystemExit) {
            self.exit(exception)
        } else {
            let text = self.chain_text(exception, source, file);
            let raised = self.describe(exception);
            (Ending::Raised(raised), text, 1)
        };
        self.kept = Value::Unbound;
        explained
    }

    fn exit(&mut self, exception: Value) -> (Ending, String, i32) {
        let code = self.stop_value(exception);
        match self.as_index(code) {
            _ if code.is_none() => (Ending::Done, String::new(), 0),
            Some(code) => (Ending::Done, String::new(), (code & 0xff) as i32),
            None => (Ending::Done, format!("{}\n", self.message_of(exception)), 1),
        }
    }

    fn chain_text(&mut self, exception: Value, source: &str, file: &str) -> String {
        let mut chain = vec![(exception, "")];
        while let Some((Obj::Exception(info), true)) = chain
            .last()
            .and_then(|(last, _)| self.obj(*last))
            .map(|obj| (obj, chain.len() <= CHAIN_MAX))
        {
            let before = match (info.cause, info.context) {
                (Value::Ref(cause), _) => (Value::Ref(cause), BY_CAUSE),
                (_, Value::Ref(context)) if !info.suppress => (Value::Ref(context), BY_CONTEXT),
                _ => break,
            };
            if chain.iter().any(|(known, _)| known.is(before.0)) {
                break;
            }
            chain.push(before);
        }
        let lines: Vec<&str> = source.lines().collect();
        let mut text = String::new();
        while let Some((exception, link)) = chain.pop() {
            self.one_text(exception, &lines, file, &mut text);
            text.push_str(link);
        }
        text
    }

    fn one_text(&mut self, exception: Value, lines: &[&str], file: &str, text: &mut String) {
        let traceback = match self.obj(exception) {
            Some(Obj::Exception(exception)) => exception.traceback.clone(),
            _ => Vec::new(),
        };
        if !traceback.is_empty() {
            text.push_str("Traceback (most recent call last):\n");
        }
        let mut alike = 0;
        let mut entries = traceback.iter().rev().peekable();
        while let Some(entry) = entries.next() {
            alike += 1;
            if alike <= REPEATED_MAX {
                let (code, line) = *entry;
                let function = &self.codes[code as usize].code.name;
                text.push_str(&format!("  File \"{file}\", line {line}, in {function}\n"));
                let shown = lines
                    .get(line as usize - usize::from(line > 0))
                    .map_or("", |l| crate::unicode::trim(l));
                if !shown.is_empty() {
                    text.push_str(&format!("    {shown}\n"));
                }
            }
            if entries.peek() != Some(&entry) {
                if alike > REPEATED_MAX {
                    let more = alike - REPEATED_MAX;
                    let times = if more == 1 { "time" } else { "times" };
                    text.push_str(&format!("  [Previous line repeated {more} more {times}]\n"));
                }
                alike = 0;
            }
        }
        if let Some(module) = self.foreign_module(exception) {
            text.push_str(&module);
            text.push('.');
        }
        let kind = self.type_name(exception);
        let message = self.message_of(exception);
        text.push_str(&kind);
        if !message.is_empty() {
            text.push_str(": ");
            text.push_str(&message);
        }
        text.push('\n');
        for note in self.notes(exception) {
            text.push_str(&note);
            text.push('\n');
        }
    }

    /// The module of an exception's class, unless everybody knows it.
    fn foreign_module(&self, exception: Value) -> Option<String> {
        let class = self.class_info(self.class_of(exception))?;
        let module = self.name_in(class.dict, name::MODULE).0?;
        self.text(module).filter(|module| *module != "__main__").map(str::to_owned)
    }

    fn notes(&self, exception: Value) -> Vec<String> {
        let Some(Obj::Exception(info)) = self.obj(exception) else { return Vec::new() };
        let notes = info.dict.and_then(|dict| self.name_in(dict, name::NOTES).0);
        match notes.and_then(|notes| self.obj(notes)) {
            Some(Obj::List(notes)) => {
                notes.iter().filter_map(|note| self.text(*note).map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        }
    }
}
