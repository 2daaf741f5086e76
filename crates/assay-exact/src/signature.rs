//! Signatures of provers' keys (docs/PROMISES.md, section 7).
use crate::error::{ensure, refuse};
use crate::ids::Address;
use crate::program::WORD;
use crate::tree::{keccak, Hash};
use crate::Result;
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};

const RS_BYTES: usize = 64;

/// The address of the key whose signature it is: r, s and v, 65 bytes.
pub fn signer(digest: &Hash, signature: &[u8]) -> Result<Address> {
    ensure!(signature.len() == RS_BYTES + 1, "a signature of {} bytes, expected 65", signature.len());
    let (parts, v) = signature.split_at(RS_BYTES);
    let is_odd = match v[0] {
        27 => false,
        28 => true,
        v => refuse!("a signature whose v is {v}, expected 27 or 28"),
    };
    let Ok(parsed) = Signature::from_slice(parts) else {
        refuse!("a signature whose r or s is zero, or not below the order")
    };
    ensure!(parsed.normalize_s() == parsed, "a signature whose s is above half of the order");
    // It verifies what it recovers, so that a key at infinity is refused.
    let Ok(key) = VerifyingKey::recover_from_prehash(digest, &parsed, RecoveryId::new(is_odd, false)) else {
        refuse!("a signature of no key")
    };
    let point = key.to_sec1_point(false);
    let hash = keccak(&point.as_bytes()[1..]);
    let mut address = Address::default();
    address.copy_from_slice(&hash[WORD - 20..]);
    Ok(address)
}
