//! Modules in Python for plain scripts alone. A loop of tasks inside of one call would know nothing of the
//! chain's answers, for which an actor waits over blocks.
//!
//! Local: a change here needs no agreement among validators. The image of actors does not have them.

/// Module names and sources, loaded after those of [`crate::prelude`].
pub(crate) const MODULES: &[(&str, &str)] = &[
    ("asyncio", include_str!("asyncio.py")),
    ("asyncio", include_str!("asyncio_sync.py")),
    ("asyncio", include_str!("asyncio_waiting.py")),
];

pub(crate) fn has(module: &str) -> bool {
    MODULES.iter().any(|(name, _)| *name == module)
}
