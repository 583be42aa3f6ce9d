//! `from module import *`: every name that it promises is there.

use remuda_vm::{Ending, Limits, run_script};

#[test]
fn what_a_star_brings_is_there() {
    let modules = [
        "collections",
        "collections.abc",
        "contextlib",
        "dataclasses",
        "enum",
        "functools",
        "heapq",
        "itertools",
        "math",
        "operator",
        "statistics",
        "string",
        "typing",
    ];
    for module in modules {
        let source = format!("from {module} import *\nprint('ok')\n");
        let output = run_script(&source, "star.py", Limits::default());
        assert_eq!((output.ending, &output.stdout[..]), (Ending::Done, "ok\n"), "{module}");
    }
}

#[test]
fn a_missing_module_is_for_the_program_where_it_says_what_to_do() {
    let source = "\
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import os
try:
    import numpy as np
except ImportError as error:
    np = None
    print(type(error).__name__, error)
try:
    from pandas import *
except (ModuleNotFoundError, ValueError):
    print('no pandas')
print(np)
";
    let output = run_script(source, "optional.py", Limits::default());
    let told = "ModuleNotFoundError No module named 'numpy'\nno pandas\nNone\n";
    assert_eq!((output.ending, &output.stdout[..]), (Ending::Done, told));
    let refused = run_script(
        "try:\n    import numpy\nexcept Exception:\n    pass\n",
        "x.py",
        Limits::default(),
    );
    assert!(matches!(refused.ending, Ending::Refused(error) if error.line == 2));
}
