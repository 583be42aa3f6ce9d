//! Programs that governance vouches for. An operator who has the module of one runs it without listing
//! it, unless `allow_pinned` says no.

use remuda_client::{Client, ClientError};
use remuda_protocol::codec::Decode as _;
use remuda_protocol::key::PinnedExecutorKey;
use remuda_protocol::primitives::B256;

/// Whether governance vouches for a program.
pub async fn is_pinned(client: &Client, hash: B256) -> Result<bool, ClientError> {
    let proof = client.proof(&PinnedExecutorKey { hash }).await?;
    let value = proof.value.map(|bytes| bool::from_bytes(&bytes.0));
    let unreadable = |error| ClientError::Unexpected(format!("a value of the state; {error}"));
    Ok(value.transpose().map_err(unreadable)?.unwrap_or(false))
}

/// Those of some programs that it vouches for.
pub async fn pinned(client: &Client, programs: &[B256]) -> Result<Vec<B256>, ClientError> {
    let mut found = Vec::new();
    for hash in programs {
        if is_pinned(client, *hash).await? {
            found.push(*hash);
        }
    }
    Ok(found)
}
