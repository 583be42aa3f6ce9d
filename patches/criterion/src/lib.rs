//! commonware-runtime implements a trait of criterion for benchmarks that nothing here runs. criterion and the
//! plotting crates below it would be a thirtieth of a first build, so this crate takes its place and has that trait
//! alone.

/// Executors of asynchronous benchmarks.
pub mod async_executor {
    /// Runs a future to its end.
    pub trait AsyncExecutor {
        /// Runs it.
        fn block_on<T>(&self, future: impl Future<Output = T>) -> T;
    }
}
