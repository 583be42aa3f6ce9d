//! How a runner behaves that is not honest: for demonstrations, and for tests of what becomes of it.
//! No setting leads here.

use std::sync::Arc;

/// What a runner makes of a result.
type Lie = Arc<dyn Fn(Vec<u8>) -> Vec<u8> + Send + Sync>;

#[derive(Clone, Default)]
pub struct Conduct {
    lie: Option<Lie>,
}

impl Conduct {
    /// Results are what the work found.
    pub fn honest() -> Self {
        Self::default()
    }

    /// Results are what this makes of them. It may take its time: others do not wait for it.
    pub fn lying(lie: impl Fn(Vec<u8>) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self { lie: Some(Arc::new(lie)) }
    }

    pub(crate) async fn tell(&self, result: Vec<u8>) -> Vec<u8> {
        let Some(lie) = self.lie.clone() else { return result };
        match tokio::task::spawn_blocking(move || lie(result)).await {
            Ok(told) => told,
            Err(error) => panic!("a lie broke down: {error}"),
        }
    }
}
