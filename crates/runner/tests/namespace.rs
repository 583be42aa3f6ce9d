//! Tests in Linux namespaces of their own.

use std::process::Command;

/// Runs a test again in a new user namespace and one of this kind (`--net`, `--mount`), where it runs its body.
/// `test` is its full path.
pub(crate) fn run_in(kind: &str, test: &str, body: impl Future<Output = ()>) {
    const INSIDE: &str = "REMUDA_TEST_NAMESPACE";
    if std::env::var_os(INSIDE).is_none() {
        let output = Command::new("unshare")
            .args(["--user", "--map-root-user", kind, "--"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{test}: {text}");
        return;
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(body);
}
