//! Ethereum transactions: as much of RLP as one needs to sign them.

use remuda_protocol::crypto::SecretKey;
use remuda_protocol::primitives::{Address, keccak256};

/// First byte of a transaction with a fee of its own and a fee of the block (EIP-1559).
const DYNAMIC_FEE: u8 = 2;
/// Gas of a transaction that only pays (EIP-2).
const GAS: u128 = 21_000;

/// A payment.
#[derive(Clone, Copy)]
pub(crate) struct Payment {
    pub(crate) chain_id: u64,
    pub(crate) nonce: u64,
    pub(crate) to: Address,
    pub(crate) wei: u128,
    /// Wei for a unit of gas.
    pub(crate) gas_price: u128,
}

impl Payment {
    /// What it costs its sender.
    pub(crate) fn cost(&self) -> u128 {
        self.wei + GAS * self.gas_price
    }

    /// Signed, as all transactions were before they had types (EIP-155).
    pub(crate) fn legacy(&self, key: &SecretKey) -> Vec<u8> {
        let fields = [
            number(self.nonce.into()),
            number(self.gas_price),
            number(GAS),
            bytes(self.to.as_slice()),
            number(self.wei),
            bytes(b""),
        ]
        .concat();
        let chain = [number(self.chain_id.into()), number(0), number(0)].concat();
        let [r, s, v] = sign(key, &list(&[fields.clone(), chain].concat()));
        let v = number(u128::from(self.chain_id) * 2 + 35 + read(&v));
        list(&[fields, v, bytes(&r), bytes(&s)].concat())
    }

    /// Signed, as most transactions are now. All of the price may go to the block's maker.
    pub(crate) fn dynamic(&self, key: &SecretKey) -> Vec<u8> {
        let fields = [
            number(self.chain_id.into()),
            number(self.nonce.into()),
            number(self.gas_price),
            number(self.gas_price),
            number(GAS),
            bytes(self.to.as_slice()),
            number(self.wei),
            bytes(b""),
            list(b""),
        ]
        .concat();
        let typed = |fields: &[u8]| [vec![DYNAMIC_FEE], list(fields)].concat();
        let [r, s, v] = sign(key, &typed(&fields));
        typed(&[fields, bytes(&v), bytes(&r), bytes(&s)].concat())
    }
}

/// The numbers r, s and v of a signature, each without leading zeros.
fn sign(key: &SecretKey, message: &[u8]) -> [Vec<u8>; 3] {
    let signature = key.sign(&keccak256(message)).bytes;
    [&signature[..32], &signature[32..64], &signature[64..]].map(trim)
}

fn trim(number: &[u8]) -> Vec<u8> {
    number.iter().copied().skip_while(|&byte| byte == 0).collect()
}

fn read(v: &[u8]) -> u128 {
    v.iter().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

fn number(number: u128) -> Vec<u8> {
    bytes(&trim(&number.to_be_bytes()))
}

fn bytes(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [byte @ ..0x80] => vec![*byte],
        _ => [head(0x80, bytes.len()), bytes.to_vec()].concat(),
    }
}

fn list(items: &[u8]) -> Vec<u8> {
    [head(0xc0, items.len()), items.to_vec()].concat()
}

fn head(first: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(length @ ..=55) => vec![first + length],
        Ok(length) => vec![first + 56, length],
        Err(_) => panic!("no payment has {length} bytes"),
    }
}
