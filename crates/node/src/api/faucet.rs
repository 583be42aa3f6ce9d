//! `POST /faucet`: money for trying things out, on chains where money is worth nothing.

use super::error::{Failure, whole_seconds};
use super::extract::{Body, Peer};
use super::{App, Limits};
use crate::rate::{Buckets, peer_key};
use axum::Json;
use axum::extract::State;
use remuda_client::money::InCby;
use remuda_client::sign::Quote;
use remuda_client::types::{ApiError, BigUint, FaucetRequest, FaucetResponse, code};
use remuda_protocol::crypto::SecretKey;
use remuda_protocol::key::BasefeesKey;
use remuda_protocol::primitives::{Address, Amount};
use remuda_protocol::state::read;
use remuda_protocol::transaction::Instruction;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Sends some money to an account; development chains only.
#[utoipa::path(
    post, path = "/faucet", tag = "accounts", request_body = FaucetRequest,
    responses(
        (status = 200, body = FaucetResponse),
        (status = "4XX", body = ApiError), (status = "5XX", body = ApiError),
    )
)]
pub(super) async fn faucet(
    State(app): State<App>,
    Peer(ip): Peer,
    Body(FaucetRequest { address }): Body<FaucetRequest>,
) -> Result<Json<FaucetResponse>, Failure> {
    let key = app.backend.faucet().ok_or_else(|| {
        Failure::new(code::NO_FAUCET, "this chain gives no money away")
            .hint("only a development chain does; ask somebody who has some")
    })?;
    let peer = peer_key(ip);
    app.allow_gift(peer, address.0)?;
    let given = app.give(&key, address.0).await;
    // A failed transfer gives the allowance back.
    given.map(Json).inspect_err(|_| app.forget_gift(peer, address.0))
}

impl App {
    async fn give(&self, key: &SecretKey, to: Address) -> Result<FaucetResponse, Failure> {
        let amount = Amount::cby(self.limits.faucet_cby);
        let _one_at_a_time = self.giving.lock().await;
        let quote = self.quote(key.address())?;
        let gift = quote.sign(key, Instruction::Transfer { to, amount });
        let given = self.hand_in(gift.bytes)?;
        Ok(FaucetResponse { transaction: given.hash, amount: BigUint(amount.get()) })
    }

    /// Takes a gift from the allowances of both, or from neither.
    fn allow_gift(&self, peer: IpAddr, account: Address) -> Result<(), Failure> {
        self.take_gift(&self.gifts_by_peer, &peer, "your network address")?;
        self.take_gift(&self.gifts_by_account, &account, "this account")
            .inspect_err(|_| give_back(&self.gifts_by_peer, &peer))
    }

    fn forget_gift(&self, peer: IpAddr, account: Address) {
        give_back(&self.gifts_by_peer, &peer);
        give_back(&self.gifts_by_account, &account);
    }

    fn take_gift<K: Hash + Eq + Clone>(
        &self,
        gifts: &Mutex<Buckets<K>>,
        key: &K,
        who: &str,
    ) -> Result<(), Failure> {
        let mut gifts = gifts.lock().unwrap_or_else(PoisonError::into_inner);
        gifts.take(key, 1, Instant::now()).map_err(|wait| {
            self.metrics.limited.inc();
            let Limits { faucet_burst: most, faucet_every: every, .. } = self.limits;
            let gift = InCby(Amount::cby(self.limits.faucet_cby));
            let (every, wait_seconds) = (whole_seconds(every), whole_seconds(wait));
            let message = format!(
                "{who} has had its {most} gifts of {gift}; one more comes every {every} s, the next \
                 in {wait_seconds} s"
            );
            Failure::new(code::RATE_LIMITED, message)
                .hint(format!("ask again in {wait_seconds} s"))
                .retry_after(wait)
        })
    }

    /// What a transaction of this node's own needs to know.
    fn quote(&self, sender: Address) -> Result<Quote, Failure> {
        let basefees = read(&self.tip().state, &BasefeesKey {})
            .ok_or_else(|| Failure::new(code::INTERNAL, "the state has no genesis"))?;
        let nonce = self.backend.next_nonce(sender);
        let params = self.params();
        let (chain_id, state_deposit_per_kib) = (params.chain_id, params.state_deposit_per_kib);
        Ok(Quote { chain_id, nonce, basefees, state_deposit_per_kib })
    }
}

fn give_back<K: Hash + Eq + Clone>(gifts: &Mutex<Buckets<K>>, key: &K) {
    gifts.lock().unwrap_or_else(PoisonError::into_inner).give_back(key, 1);
}
