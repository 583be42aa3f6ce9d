//! The validators of a chain and their keys.
//!
//! Consensus: a change here forks the chain.
//!
//! A dealer makes them: one program that knows all shares for a moment. That is for development; who
//! deals could sign for everybody.

use crate::block::{BLOCK_BYTES_MAX, REST_BYTES_MAX};
use crate::scheme::{Bls, PresenceSource, PublicKey, Scheme};
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_cryptography::{
    Signer as _,
    bls12381::{
        dkg::feldman_desmedt::deal,
        primitives::{
            group::Share,
            sharing::{Mode, ModeVersion, Sharing},
        },
    },
    ed25519,
};
use commonware_math::algebra::Random as _;
use commonware_utils::{
    N3f1,
    ordered::{Quorum as _, Set},
};
use rand_core::CryptoRng;
use remuda_protocol::chain::Validator;
use remuda_protocol::codec::Bytes;
use remuda_protocol::genesis::{Genesis, VALIDATORS_MAX};
use remuda_protocol::primitives::Address;
use std::num::NonZeroU32;
use std::sync::Arc;
use thiserror::Error;

const NAMESPACE: &[u8] = b"cowboy-consensus-v1:";

/// Why a genesis has no network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// A validator's key is not one.
    #[error("the genesis names a validator whose key is not an Ed25519 key")]
    BadKey,
    #[error("the genesis names a validator twice or out of order")]
    NotAscending,
    /// A full block would not fit into a message.
    #[error("blocks of {cells} cells are too large; make system:chain:cells_target smaller")]
    BlocksTooLarge {
        /// What a block may have.
        cells: u64,
    },
    #[error("the threshold key of the genesis is not one for its validators")]
    BadThresholdKey,
}

#[derive(Clone)]
pub struct Secrets {
    pub identity: ed25519::PrivateKey,
    /// Its share of the network's key.
    pub share: Share,
}

impl Secrets {
    /// The name that others know it by.
    pub fn public_key(&self) -> PublicKey {
        self.identity.public_key()
    }

    /// The 32 secret bytes of its identity.
    pub fn seed(&self) -> [u8; 32] {
        self.identity.encode().as_ref().try_into().expect("an Ed25519 key has 32")
    }

    /// As a file holds it.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.identity.encode()[..], &self.share.encode()].concat()
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (identity, share) = bytes.split_at_checked(32)?;
        Some(Self {
            identity: ed25519::PrivateKey::decode(bytes::Bytes::copy_from_slice(identity)).ok()?,
            share: Share::decode(bytes::Bytes::copy_from_slice(share)).ok()?,
        })
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets of {}", self.public_key())
    }
}

/// What everybody knows of a network.
#[derive(Clone, Debug)]
pub struct Network {
    genesis: Genesis,
    participants: Set<PublicKey>,
    sharing: Sharing<Bls>,
    namespace: Vec<u8>,
}

impl Network {
    pub fn new(genesis: Genesis) -> Result<Self, NetworkError> {
        // Every byte of a transaction is a cell, and a block has twice the target at most.
        let cells = genesis.params.cells_target.saturating_mul(2);
        if cells > (BLOCK_BYTES_MAX - REST_BYTES_MAX) as u64 {
            return Err(NetworkError::BlocksTooLarge { cells });
        }
        let key = |validator: &Validator| {
            let bytes = bytes::Bytes::copy_from_slice(&validator.key);
            PublicKey::decode(bytes).map_err(|_| NetworkError::BadKey)
        };
        let keys = genesis.validators.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        let participants = Set::try_from(keys.clone()).map_err(|_| NetworkError::NotAscending)?;
        // Their numbers in certificates are their places in the genesis.
        if !participants.iter().eq(&keys) {
            return Err(NetworkError::NotAscending);
        }
        let most = NonZeroU32::new(VALIDATORS_MAX as u32).expect("it is not zero");
        let bytes = bytes::Bytes::copy_from_slice(&genesis.threshold_key);
        let sharing = Sharing::<Bls>::decode_cfg(bytes, &(most, ModeVersion::v0()))
            .map_err(|_| NetworkError::BadThresholdKey)?;
        let fits = sharing.total().get() as usize == participants.len()
            && sharing.required() == participants.quorum::<N3f1>();
        if !fits {
            return Err(NetworkError::BadThresholdKey);
        }
        let namespace = [NAMESPACE, genesis.hash().as_slice()].concat();
        Ok(Self { genesis, participants, sharing, namespace })
    }

    /// Deals keys for `n` validators into a genesis. It gets validators whose tips go to an address that
    /// nobody has the key of, and names others.
    ///
    /// # Panics
    /// If `n` is not between 1 and [`VALIDATORS_MAX`].
    pub fn deal(
        mut rng: impl CryptoRng,
        n: usize,
        genesis: impl FnOnce(Vec<Validator>, Bytes) -> Genesis,
    ) -> (Self, Vec<Secrets>) {
        assert!((1..=VALIDATORS_MAX).contains(&n), "between 1 and {VALIDATORS_MAX} validators");
        let mut identities: Vec<_> =
            (0..n).map(|_| ed25519::PrivateKey::random(&mut rng)).collect();
        identities.sort_by_key(|identity| identity.public_key());
        let keys: Vec<PublicKey> = identities.iter().map(|key| key.public_key()).collect();
        let participants = Set::try_from(keys).expect("random keys differ");
        let mode = Mode::NonZeroCounter;
        let (output, shares) = deal::<Bls, _, N3f1>(&mut rng, mode, participants.clone())
            .expect("there is at least one");
        let validators = participants.iter().map(|key| {
            let mut bytes = [0; 32];
            bytes.copy_from_slice(key.as_ref());
            Validator { key: bytes, fee_recipient: Address::from_slice(&bytes[12..]) }
        });
        let threshold_key = Bytes(output.public().encode().to_vec());
        let genesis = genesis(validators.collect(), threshold_key);
        let network = Self::new(genesis).expect("it was dealt so");
        let secrets = identities
            .into_iter()
            .map(|identity| {
                let share = shares.get_value(&identity.public_key()).expect("it was dealt").clone();
                Secrets { identity, share }
            })
            .collect();
        (network, secrets)
    }

    pub fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    /// The validators, by their numbers.
    pub fn participants(&self) -> &Set<PublicKey> {
        &self.participants
    }

    pub fn index(&self, key: &PublicKey) -> Option<u32> {
        self.participants.index(key).map(|participant| participant.get())
    }

    /// Keeps the messages of this chain apart from all others.
    pub fn namespace(&self) -> &[u8] {
        &self.namespace
    }

    fn chain(&self) -> (u64, &[u8]) {
        (self.genesis.params.chain_id, &self.namespace)
    }

    /// Signs as one of them; `None` if the secrets are not of this network.
    pub fn signer(&self, secrets: &Secrets, sight: Arc<dyn PresenceSource>) -> Option<Scheme> {
        // A share speaks for its place, so it must be the key's; others would not take its votes.
        if self.index(&secrets.public_key()) != Some(secrets.share.index.get()) {
            return None;
        }
        self.signer_unchecked(secrets, sight)
    }

    /// As [`Self::signer`], but whether the identity is the share's is not checked: for tests of
    /// forged votes.
    pub fn signer_unchecked(
        &self,
        secrets: &Secrets,
        sight: Arc<dyn PresenceSource>,
    ) -> Option<Scheme> {
        // The upstream scheme panics on a share of no place.
        if self.sharing.partial_public(secrets.share.index).is_err() {
            return None;
        }
        Scheme::signer(
            self.chain(),
            self.participants.clone(),
            self.sharing.clone(),
            secrets.share.clone(),
            (secrets.identity.clone(), sight),
        )
    }

    pub fn verifier(&self) -> Scheme {
        Scheme::verifier(self.chain(), self.participants.clone(), self.sharing.clone())
    }
}
