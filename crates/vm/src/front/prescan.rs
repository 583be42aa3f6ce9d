//! A look at the tokens before anything follows the tree by recursion: nesting is bounded here, so
//! that no source can exhaust the stack of the parser, the compiler or the tree's destructor.

use super::CompileError;
use crate::limits::{
    BRACKET_DEPTH_MAX, EXPRESSION_DEPTH_MAX, INDENT_DEPTH_MAX, NAME_BYTES_MAX, SOURCE_BYTES_MAX,
};
use ruff_python_ast::token::{Token, TokenKind, Tokens};
use ruff_python_parser::{Mode, lexer};
use ruff_text_size::Ranged;

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
    let mut chains: Vec<Chain> = vec![Chain::default()];
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
                chains.push(Chain::default());
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
                    depth -= chains.pop().map_or(0, |chain| chain.links);
                }
            }
            TokenKind::Newline => {
                line += 1;
                chains = vec![Chain::default()];
                depth = 0;
            }
            TokenKind::Comma | TokenKind::Semi | TokenKind::Equal | TokenKind::FStringMiddle => {
                // Between `lambda` and its colon the next default or parameter is still inside.
                if let Some(last) = chains.last_mut()
                    && last.lambdas == 0
                {
                    depth -= last.links;
                    last.links = 0;
                }
            }
            TokenKind::Lambda => {
                depth += bump(&mut chains);
                if let Some(last) = chains.last_mut() {
                    last.lambdas += 1;
                }
            }
            TokenKind::Colon => {
                depth += bump(&mut chains);
                if let Some(last) = chains.last_mut() {
                    last.lambdas = last.lambdas.saturating_sub(1);
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

/// What is open inside one bracket.
#[derive(Default)]
struct Chain {
    /// Nesting tokens of its current element.
    links: usize,
    /// Lambdas whose colon has not come yet.
    lambdas: usize,
}

fn bump(chains: &mut [Chain]) -> usize {
    if let Some(last) = chains.last_mut() {
        last.links += 1;
        return 1;
    }
    0
}

/// Refuses names that are too long: each function that mentions one keeps it.
pub(super) fn names(source: &str, file: &str, tokens: &Tokens) -> Result<(), CompileError> {
    let long = |token: &&Token| {
        token.kind() == TokenKind::Name && token.range().len().to_usize() > NAME_BYTES_MAX
    };
    match tokens.iter().find(long) {
        None => Ok(()),
        Some(token) => {
            let message = format!("a name is longer than {NAME_BYTES_MAX} bytes");
            let offset = token.range().start().to_usize();
            Err(CompileError::at(file, source, offset, &message, "choose a shorter one"))
        }
    }
}
