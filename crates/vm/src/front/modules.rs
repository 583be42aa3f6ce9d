//! Modules that a program can import.

use ruff_python_ast::{ExceptHandler, Expr};

use super::stars::STARS;

/// Modules that exist; others are refused at compile time.
const MODULES: &[&str] = &[
    "__future__",
    "abc",
    "base64",
    "binascii",
    "bisect",
    "cmath",
    "collections",
    "collections.abc",
    "contextlib",
    "copy",
    "cowboy",
    "cowboy.runner",
    "cowboy.verify",
    "cowboy_sdk",
    "cowboy_sdk.actor",
    "cowboy_sdk.bounded_loop",
    "cowboy_sdk.call",
    "cowboy_sdk.codec",
    "cowboy_sdk.continuation",
    "cowboy_sdk.errors",
    "cowboy_sdk.guards",
    "cowboy_sdk.models",
    "cowboy_sdk.pvm_random",
    "cowboy_sdk.pvm_sys",
    "cowboy_sdk.pvm_time",
    "cowboy_sdk.retry",
    "cowboy_sdk.runner",
    "cowboy_sdk.runtime",
    "cowboy_sdk.send",
    "cowboy_sdk.taskgroup",
    "cowboy_sdk.types",
    "cowboy_sdk.verify",
    "dataclasses",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "io",
    "itertools",
    "json",
    "math",
    "operator",
    "pvm_host",
    "re",
    "statistics",
    "string",
    "struct",
    "sys",
    "textwrap",
    "types",
    "typing",
];

/// Why a module that people expect is not there.
pub(super) fn advice_for(module: &str) -> &'static str {
    match module.split('.').next().unwrap_or("") {
        "random" | "secrets" | "uuid" => "use cowboy.randomness(label), or cowboy_sdk.pvm_random",
        "time" | "datetime" => "use cowboy.height() and cowboy.timestamp()",
        "os" | "io" | "pathlib" | "socket" | "subprocess" | "shutil" | "tempfile" | "argparse" => {
            "a program sees neither machine nor network; use storage and jobs"
        }
        "requests" | "urllib" | "http" | "httpx" | "aiohttp" => "order a job with runner.http",
        "decimal" => "count in the smallest unit with int, or use fractions",
        "logging" | "traceback" | "pprint" => "print, or emit an event",
        "numpy" | "pandas" | "scipy" => "a program is plain Python: use lists, math and statistics",
        "pickle" | "shelve" | "csv" | "sqlite3" => "use json, struct or cowboy.encode",
        "unittest" | "pytest" | "doctest" => "tests of actors are files for `remuda actor test`",
        "inspect" | "ast" | "importlib" | "builtins" | "gc" | "ctypes" => {
            "a program does not see the machine that runs it"
        }
        "asyncio" => {
            "an actor's async def and await need no loop; cowboy.gather runs calls side by side"
        }
        "threading" | "multiprocessing" => "use async def and await",
        _ => "see the list of modules in the guide",
    }
}

/// What `from module import *` brings. Its names have to be known when the program is compiled.
pub(super) fn all_of(module: &str) -> Option<&'static [&'static str]> {
    if module == "cowboy_sdk" {
        return Some(COWBOY_SDK);
    }
    STARS.iter().find(|(name, _)| *name == module).map(|(_, names)| *names)
}

pub(super) fn exists(module: &str) -> bool {
    MODULES.contains(&module)
}

/// `__all__` of `cowboy_sdk`.
const COWBOY_SDK: &[&str] = &[
    "ActorCallError",
    "ActorNotFoundError",
    "ActorRef",
    "Address",
    "AddressError",
    "BlockHeight",
    "BoundedRange",
    "Capture",
    "CaptureTypeError",
    "CodecError",
    "ContinuationCorruptedError",
    "ContinuationCountLimitError",
    "ContinuationLimitError",
    "ContinuationNotFoundError",
    "ContinuationSizeLimitError",
    "CowboyError",
    "CowboyModel",
    "DeterminismError",
    "GuardSet",
    "GuardedValue",
    "LoopBoundExceeded",
    "ReentrancyError",
    "Retry",
    "RunnerTimeoutError",
    "RunnerValidationError",
    "SoftFloat",
    "StateConflictError",
    "TaskGroup",
    "Verify",
    "__version__",
    "actor",
    "bounded_loop",
    "call",
    "capture",
    "check_iteration",
    "codec",
    "continuation",
    "delete_cont",
    "derive_actor_address",
    "errors",
    "load_cont",
    "ordered_set",
    "pvm_random",
    "pvm_sys",
    "pvm_time",
    "reentrancy_guard",
    "runner",
    "runtime",
    "save_cont",
    "send",
    "storage_guard",
];

/// Whether a handler is for modules that are not there. One for every exception is not: there the
/// advice of the compiler is worth more.
pub(super) fn catches_missing_modules(handler: &ExceptHandler) -> bool {
    let ExceptHandler::ExceptHandler(handler) = handler;
    let named = |kind: &Expr| matches!(kind, Expr::Name(name) if matches!(name.id.as_str(), "ImportError" | "ModuleNotFoundError"));
    match handler.type_.as_deref() {
        Some(Expr::Tuple(kinds)) => kinds.elts.iter().any(named),
        Some(kind) => named(kind),
        None => false,
    }
}
