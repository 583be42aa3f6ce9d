//! The chain's parameters in JSON.

use super::scalar::{BigUint, HexHash};
use remuda_protocol::params::{ChainParams, Parameter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Every number that consensus depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ParamsView {
    /// Digest of the whole table.
    pub hash: HexHash,
    /// The rows, in a fixed order.
    pub params: Vec<ParameterView>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ParameterView {
    pub key: String,
    /// What it decides.
    pub about: String,
    pub value: BigUint,
    /// Least value allowed.
    pub min: BigUint,
    /// Greatest value allowed.
    pub max: BigUint,
}

impl From<&ChainParams> for ParamsView {
    fn from(params: &ChainParams) -> Self {
        let row = |Parameter { key, about, value, min, max }| ParameterView {
            key: key.to_owned(),
            about: about.to_owned(),
            value: BigUint(value),
            min: BigUint(min),
            max: BigUint(max),
        };
        Self { hash: HexHash(params.hash()), params: params.table().into_iter().map(row).collect() }
    }
}
