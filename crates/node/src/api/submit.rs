//! `POST /submit`: signed transactions, one or several, with or without waiting for their block.
//!
//! A transaction is named by the hash of its bytes, so handing the same bytes in again is no second
//! transaction: the answer is where the first one is.

use super::App;
use super::error::Failure;
use super::extract::{Body, Peer};
use super::wait::{LOOKS_UNTIL_DROPPED, Wait};
use axum::Json;
use axum::extract::State;
use remuda_client::types::{
    ApiError, HexBytes, HexHash, SubmitRequest, SubmitResponse, SubmitStatus, Submitted,
    TransactionStatus, code,
};
use remuda_protocol::primitives::TxHash;
use remuda_protocol::transaction::tx_hash;

/// Hands in signed transactions.
#[utoipa::path(
    post, path = "/submit", tag = "transactions", request_body = SubmitRequest,
    responses(
        (status = 200, body = SubmitResponse),
        (status = "4XX", body = ApiError), (status = "5XX", body = ApiError),
    )
)]
pub(super) async fn submit(
    State(app): State<App>,
    peer: Peer,
    Body(request): Body<SubmitRequest>,
) -> Result<Json<SubmitResponse>, Failure> {
    let SubmitRequest { transaction, transactions, wait } = request;
    let (batch, single) = match (transaction, transactions) {
        (Some(one), None) => (vec![one], true),
        (None, Some(many)) => (many, false),
        _ => {
            return Err(Failure::new(
                code::INVALID_BODY,
                "give either `transaction` or `transactions`",
            ));
        }
    };
    check_batch(&app, peer, batch.len())?;
    // From before the first is taken: its block must not be missed.
    let patience = app.wait(app.limits.wait);
    let mut results = Vec::with_capacity(batch.len());
    for HexBytes(bytes) in batch {
        let hash = HexHash(tx_hash(&bytes));
        match app.hand_in(bytes) {
            Ok(submitted) => results.push(submitted),
            Err(failure) if single => return Err(failure),
            Err(failure) => results.push(Submitted {
                hash,
                status: SubmitStatus::Refused,
                receipt: None,
                error: Some(failure.error().clone()),
            }),
        }
    }
    if wait {
        app.await_blocks(peer, &mut results, patience).await;
    }
    Ok(Json(SubmitResponse { results }))
}

/// A batch costs as many tokens as it has transactions; the request itself was the first.
fn check_batch(app: &App, peer: Peer, len: usize) -> Result<(), Failure> {
    if len == 0 {
        return Err(Failure::new(code::INVALID_BODY, "`transactions` is empty"));
    }
    if len > app.limits.batch {
        let most = app.limits.batch;
        return Err(Failure::new(
            code::BATCH_TOO_LARGE,
            format!("{len} transactions; the most is {most}"),
        )
        .hint("split the batch"));
    }
    match u32::try_from(len - 1) {
        Ok(0) => Ok(()),
        Ok(more) => app.allow(peer, more),
        Err(_) => Ok(()),
    }
}

impl App {
    /// Hands one transaction in, unless it is there already.
    pub(super) fn hand_in(&self, bytes: Vec<u8>) -> Result<Submitted, Failure> {
        let hash = tx_hash(&bytes);
        let accepted = Submitted {
            hash: HexHash(hash),
            status: SubmitStatus::Accepted,
            receipt: None,
            error: None,
        };
        if let Some(status) = self.known(hash) {
            return Ok(Submitted { status, ..accepted });
        }
        let Err(refusal) = self.backend.submit(bytes) else {
            self.metrics.accepted.inc();
            return Ok(accepted);
        };
        // It may have come from a peer in between, which is no reason to refuse it here.
        if let Some(status) = self.known(hash) {
            return Ok(Submitted { status, ..accepted });
        }
        self.metrics.refused.inc();
        Err(refusal.into())
    }

    /// Whether a transaction is there already. In this order, as in [`whereabouts`](Self::whereabouts).
    fn known(&self, hash: TxHash) -> Option<SubmitStatus> {
        let pending = self.backend.pending(hash);
        match self.backend.transaction(hash) {
            Some(_) => Some(SubmitStatus::Included),
            None => pending.then_some(SubmitStatus::Accepted),
        }
    }

    /// Waits until everything that was taken is in a block, or patience ends.
    async fn await_blocks(&self, peer: Peer, results: &mut [Submitted], mut wait: Wait) {
        let mut missing = vec![0; results.len()];
        loop {
            let mut open = false;
            for (submitted, missing) in results.iter_mut().zip(&mut missing) {
                open |= self.look(peer, submitted, missing).await;
            }
            if !open || !wait.for_a_block().await {
                return;
            }
        }
    }

    /// Brings one answer up to date; says whether it may still change.
    async fn look(&self, peer: Peer, submitted: &mut Submitted, missing: &mut u32) -> bool {
        let settled = matches!(submitted.status, SubmitStatus::Refused | SubmitStatus::Dropped);
        if settled || submitted.receipt.is_some() {
            return false;
        }
        match self.whereabouts(peer, submitted.hash.0).await {
            TransactionStatus::Included { receipt, .. } => {
                submitted.status = SubmitStatus::Included;
                submitted.receipt = receipt.map(|receipt| *receipt);
                return false;
            }
            TransactionStatus::Pending {} => {
                *missing = 0;
                return true;
            }
            TransactionStatus::Unknown {} => *missing += 1,
        }
        if *missing < LOOKS_UNTIL_DROPPED {
            return true;
        }
        submitted.status = SubmitStatus::Dropped;
        submitted.error = Some(ApiError {
            code: "dropped".to_owned(),
            message: "the node took the transaction and dropped it before any block had it"
                .to_owned(),
            hint: Some("another with the same nonce may have replaced it; sign again".to_owned()),
        });
        false
    }
}
