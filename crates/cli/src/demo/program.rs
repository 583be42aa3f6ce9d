//! A program for jobs to run: how many primes are there below a number? In WebAssembly's own text.

use remuda_protocol::primitives::B256;

/// Params: the number in decimal digits. Result: the count, the same way.
const SOURCE: &str = r#"
(module
  (memory (export "memory") 1)
  (func (export "alloc") (param i32) (result i32) (i32.const 1024))
  (func $prime (param $n i32) (result i32) (local $d i32)
    (if (i32.lt_u (local.get $n) (i32.const 2)) (then (return (i32.const 0))))
    (local.set $d (i32.const 2))
    (block $yes
      (loop $next
        (br_if $yes (i32.gt_u (i32.mul (local.get $d) (local.get $d)) (local.get $n)))
        (if (i32.eqz (i32.rem_u (local.get $n) (local.get $d))) (then (return (i32.const 0))))
        (local.set $d (i32.add (local.get $d) (i32.const 1)))
        (br $next)))
    (i32.const 1))
  (func (export "run") (param $at i32) (param $len i32) (result i64)
    (local $n i32) (local $end i32) (local $count i32) (local $out i32)
    (local.set $end (i32.add (local.get $at) (local.get $len)))
    (block $read
      (loop $digit
        (br_if $read (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $n (i32.add (i32.mul (local.get $n) (i32.const 10))
                               (i32.sub (i32.load8_u (local.get $at)) (i32.const 48))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $digit)))
    (block $done
      (loop $each
        (br_if $done (i32.le_u (local.get $n) (i32.const 2)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (local.set $count (i32.add (local.get $count) (call $prime (local.get $n))))
        (br $each)))
    (local.set $out (i32.const 1024))
    (loop $write
      (local.set $out (i32.sub (local.get $out) (i32.const 1)))
      (i32.store8 (local.get $out) (i32.add (i32.rem_u (local.get $count) (i32.const 10))
                                            (i32.const 48)))
      (local.set $count (i32.div_u (local.get $count) (i32.const 10)))
      (br_if $write (local.get $count)))
    (i64.or (i64.shl (i64.extend_i32_u (local.get $out)) (i64.const 32))
            (i64.extend_i32_u (i32.sub (i32.const 1024) (local.get $out))))))
"#;

/// A module and its name.
pub(super) struct Program {
    /// BLAKE3 of the module.
    pub(super) hash: B256,
    pub(super) module: Vec<u8>,
}

pub(super) fn primes() -> Program {
    let module = wat::parse_str(SOURCE).expect("the source above is a module");
    Program { hash: B256::new(*blake3::hash(&module).as_bytes()), module }
}
