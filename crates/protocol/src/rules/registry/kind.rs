//! Kinds of work: what a runner offers and a job asks for.

use crate::base::codec::codec_enum;

/// The kinds of work, with the numbers that CIP-11 gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum JobKind {
    Llm = 1,
    Http = 2,
    /// A tool of an MCP server.
    Mcp = 3,
    /// A signed Ethereum transaction to send.
    EthSend = 4,
    /// A program named by its hash.
    Custom = 5,
}
codec_enum!(JobKind { 1 => Llm {}, 2 => Http {}, 3 => Mcp {}, 4 => EthSend {}, 5 => Custom {} });
