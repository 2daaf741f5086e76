//! Orders: how a request is filed (docs/PROTOCOL.md, section 2).
use crate::error::ensure;
use crate::ids::{Address, Request};
use crate::tree::{keccak, Hash};
use crate::Result;
use alloc::vec::Vec;

const BOND: u8 = 1;
const EXCLUSIVE: u8 = 2;
const CALLBACK: u8 = 4;

/// The order of a request on this input.
pub fn pack(request: &Request, input: &[u8]) -> Result<Vec<u8>> {
    ensure!(keccak(input) == request.input_hash, "the request is about another input");
    let zero = Address::default();
    let mut parts = 0;
    let mut optional = Vec::new();
    if request.min_bond != 0 {
        parts |= BOND;
        optional.extend(&request.min_bond.to_be_bytes()[4..]);
    }
    if request.exclusive_prover != zero || request.exclusive_until != 0 {
        parts |= EXCLUSIVE;
        optional.extend(request.exclusive_prover);
        optional.extend(&request.exclusive_until.to_be_bytes()[3..]);
    }
    if request.callback != zero || request.callback_gas != 0 || request.delivery_fee != 0 {
        parts |= CALLBACK;
        optional.extend(request.callback);
        optional.extend(request.callback_gas.to_be_bytes());
        optional.extend(&request.delivery_fee.to_be_bytes()[4..]);
    }
    let mut order = Vec::from([parts, request.lanes]);
    order.extend(request.window.to_be_bytes());
    order.extend(&request.expiry.to_be_bytes()[3..]);
    order.extend(&request.fee.to_be_bytes()[4..]);
    order.extend(request.salt.to_be_bytes());
    order.extend(optional);
    order.extend(input);
    Ok(order)
}

/// The request and the input of `requester ‖ order`, as the event carries it.
pub fn read(model_id: Hash, filed: &[u8]) -> Result<(Request, &[u8])> {
    let mut fields = Fields(filed);
    let requester = fields.address()?;
    let parts = fields.number(1)? as u8;
    ensure!(parts <= BOND | EXCLUSIVE | CALLBACK, "the parts {parts:02x} have bits without a meaning");
    let mut request = Request {
        requester,
        model_id,
        input_hash: [0; 32],
        lanes: fields.number(1)? as u8,
        window: fields.number(4)? as u32,
        expiry: fields.number(5)? as u64,
        fee: fields.number(12)?,
        salt: fields.number(8)? as u64,
        delivery_fee: 0,
        min_bond: 0,
        exclusive_prover: Address::default(),
        exclusive_until: 0,
        callback: Address::default(),
        callback_gas: 0,
    };
    if parts & BOND != 0 {
        request.min_bond = fields.number(12)?;
    }
    if parts & EXCLUSIVE != 0 {
        request.exclusive_prover = fields.address()?;
        request.exclusive_until = fields.number(5)? as u64;
    }
    if parts & CALLBACK != 0 {
        request.callback = fields.address()?;
        request.callback_gas = fields.number(4)? as u32;
        request.delivery_fee = fields.number(12)?;
    }
    let input = fields.0;
    request.input_hash = keccak(input);
    Ok((request, input))
}

/// What is left of the bytes.
struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    fn take(&mut self, length: usize) -> Result<&'b [u8]> {
        ensure!(self.0.len() >= length, "an order ends within a field of {length} bytes");
        let (field, rest) = self.0.split_at(length);
        self.0 = rest;
        Ok(field)
    }

    fn number(&mut self, length: usize) -> Result<u128> {
        Ok(self.take(length)?.iter().fold(0, |number, &byte| number << 8 | u128::from(byte)))
    }

    fn address(&mut self) -> Result<Address> {
        let mut address = Address::default();
        let bytes = self.take(address.len())?;
        address.copy_from_slice(bytes);
        Ok(address)
    }
}
