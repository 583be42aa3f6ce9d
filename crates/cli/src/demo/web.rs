//! A small web server for jobs to ask.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What it says about a thing's price.
const PRICE: &str = r#"{"item":"oats","price":"42.17","unit":"sack"}"#;

/// A server that answers until it is dropped.
pub struct Web {
    pub address: SocketAddr,
    open: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Web {
    /// Starts one on a free port.
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let address = listener.local_addr()?;
        let (open, gate) = watch::channel(false);
        let held = move || {
            let mut gate = gate.clone();
            async move {
                let _ = gate.wait_for(|open| *open).await;
                PRICE
            }
        };
        let router = Router::new()
            .route("/price", get(|| async { ([(CONTENT_TYPE, "application/json")], PRICE) }))
            .route("/slow", get(held));
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, open, task })
    }

    /// The address of a page.
    pub fn url(&self, page: &str) -> String {
        format!("http://{}{page}", self.address)
    }

    /// Lets those go who wait for `/slow`.
    pub fn release(&self) {
        let _ = self.open.send(true);
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}
