//! A look at the tokens before anything follows the tree by recursion: nesting is bounded here, so
//! that no source can exhaust the stack of the parser, the compiler or the tree's destructor.

use super::CompileError;
use crate::limits::{BRACKET_DEPTH_MAX, EXPRESSION_DEPTH_MAX, INDENT_DEPTH_MAX, SOURCE_BYTES_MAX};
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// Refuses sources that are too long or nested too deeply.
pub(super) fn prescan(source: &str, file: &str) -> Result<(), CompileError> {
    // The lexer shows kinds only, so lines are counted by their ends; strings over several lines make
    // the line a little small.
    let at = |line: usize, message: &str, advice: &str| CompileError {
        file: file.to_owned(),
        line,
        column: 1,
        message: message.to_owned(),
        advice: advice.to_owned(),
    };
    if source.len() > SOURCE_BYTES_MAX {
        return Err(at(
            1,
            "the source is longer than 262144 bytes",
            "split it, or move data into storage",
        ));
    }
    let mut tokens = lexer::lex(source, Mode::Module);
    // One entry per open bracket: how many nesting tokens its current element has.
    let mut chains: Vec<usize> = vec![0];
    let mut depth = 0usize;
    let mut indent = 0usize;
    let mut line = 1;
    loop {
        let kind = tokens.next_token();
        match kind {
            TokenKind::EndOfFile => return Ok(()),
            TokenKind::Indent => {
                indent += 1;
                if indent > INDENT_DEPTH_MAX {
                    return Err(at(
                        line,
                        "too many nested blocks",
                        "move inner blocks into functions",
                    ));
                }
            }
            TokenKind::Dedent => indent = indent.saturating_sub(1),
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                // A call or subscript is a link of a chain, too: f()()().
                depth += bump(&mut chains);
                chains.push(0);
                if chains.len() > BRACKET_DEPTH_MAX {
                    return Err(at(line, "too many nested brackets", "name inner parts"));
                }
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => {
                if chains.len() > 1 {
                    depth -= chains.pop().unwrap_or(0);
                }
            }
            TokenKind::Newline => {
                line += 1;
                chains.truncate(1);
                chains[0] = 0;
                depth = 0;
            }
            TokenKind::Comma | TokenKind::Semi | TokenKind::Equal | TokenKind::FStringMiddle => {
                if let Some(last) = chains.last_mut() {
                    depth -= *last;
                    *last = 0;
                }
            }
            TokenKind::NonLogicalNewline => line += 1,
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::String
            | TokenKind::Comment => {}
            _ => depth += bump(&mut chains),
        }
        if depth > EXPRESSION_DEPTH_MAX {
            return Err(at(
                line,
                "the expression is nested too deeply",
                "split it into statements",
            ));
        }
    }
}

fn bump(chains: &mut [usize]) -> usize {
    if let Some(last) = chains.last_mut() {
        *last += 1;
        return 1;
    }
    0
}
