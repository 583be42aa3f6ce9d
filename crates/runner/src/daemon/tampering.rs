//! Runners that submit false results, for demonstrations and tests. No setting enables it.

use std::sync::Arc;

type Tamper = Arc<dyn Fn(Vec<u8>) -> Vec<u8> + Send + Sync>;

#[derive(Clone, Default)]
pub struct ResultTampering {
    tamper: Option<Tamper>,
}

impl ResultTampering {
    /// Results stay as they are.
    pub fn none() -> Self {
        Self::default()
    }

    /// Replaces each result. `tamper` may block.
    pub fn with(tamper: impl Fn(Vec<u8>) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self { tamper: Some(Arc::new(tamper)) }
    }

    pub(crate) async fn apply(&self, result: Vec<u8>) -> Vec<u8> {
        let Some(tamper) = self.tamper.clone() else { return result };
        tokio::task::spawn_blocking(move || tamper(result)).await.expect("tampering panicked")
    }
}
