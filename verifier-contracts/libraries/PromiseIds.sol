// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Batch, BatchId, SignedClaim} from "../types/PromiseTypes.sol";
import {Claim, ClaimId} from "../types/Types.sol";

/// @notice Ids of promises: hashes of content, of this chain and this contract.
library PromiseIds {
    uint256 private constant CLAIM_BYTES = 9 * 32;
    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant NAME = keccak256("Assay Promises");
    bytes32 private constant VERSION = keccak256("1");
    bytes32 private constant SIGNED_CLAIM_TYPE = keccak256(
        "SignedClaim(address prover,bytes32 modelId,bytes32 inputHash,bytes32 outputHash,address requester,uint40 issuedAt,uint40 expiry,uint96 minBond,uint64 salt)"
    );

    /// @notice What the prover's key signs (EIP-712), for a contract. The chain's id is read each time: it changes where a chain forks.
    function digestOf(SignedClaim calldata signed, address promises) internal view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPE, NAME, VERSION, block.chainid, promises));
        return
            keccak256(abi.encodePacked("\x19\x01", domain, keccak256(abi.encode(SIGNED_CLAIM_TYPE, signed))));
    }

    /// @notice keccak256(abi.encode(chainid, contract, batch)).
    function idOf(Batch memory batch, address promises) internal view returns (BatchId) {
        return BatchId.wrap(keccak256(abi.encode(block.chainid, promises, batch)));
    }

    /// @notice The id that Assay gives to a claim: of the words as they stand in calldata.
    function idAt(Claim calldata c, address assay) internal view returns (ClaimId id) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, chainid())
            mstore(add(free, 0x20), assay)
            calldatacopy(add(free, 0x40), c, CLAIM_BYTES)
            id := keccak256(free, add(CLAIM_BYTES, 0x40))
        }
    }
}
