// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Claim, ClaimId, Request, RequestId} from "../types/Types.sol";

/// @notice Ids and amounts: pure functions of what was agreed (docs/PROTOCOL.md, sections 2 and 5).
library Terms {
    uint256 private constant REQUEST_BYTES = 14 * 32;
    uint256 private constant CLAIM_BYTES = 9 * 32;

    /// @notice keccak256(abi.encode(chainid, this contract, request)).
    /// @dev Takes the words as they stand in calldata. INVARIANT: `request` makes the words of a request that exists,
    /// so none of them has dirty bits.
    function idOf(Request calldata r) internal view returns (RequestId id) {
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := r
        }
        id = RequestId.wrap(_contentHash(pointer, REQUEST_BYTES));
    }

    /// @notice keccak256(abi.encode(chainid, this contract, claim)).
    function idOf(Claim calldata c) internal view returns (ClaimId id) {
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := c
        }
        id = ClaimId.wrap(_contentHash(pointer, CLAIM_BYTES));
    }

    function idOfMemory(Claim memory c) internal view returns (ClaimId id) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, chainid())
            mstore(add(free, 0x20), address())
            mcopy(add(free, 0x40), c, CLAIM_BYTES)
            id := keccak256(free, add(CLAIM_BYTES, 0x40))
        }
    }

    /// @notice The prover's bond and each ticket's, wei. They may exceed 96 bits: the caller checks.
    /// @param defenceCost wei that defending against the longest interrogation costs
    /// @param attempt falls so far; each doubles the bonds
    function bonds(uint256 defenceCost, uint256 minBond, uint256 attempt)
        internal
        pure
        returns (uint256 bond, uint256 ticketBond)
    {
        // SAFETY: the cost is below 2^137 (two 64-bit factors, and d < 2^8), so nothing here reaches 2^175.
        unchecked {
            bond = 20 * defenceCost;
            if (bond < minBond) bond = minBond;
            bond <<= attempt < 32 ? attempt : 32;
            ticketBond = 2 * defenceCost;
            if (ticketBond < bond / 10) ticketBond = bond / 10;
        }
    }

    /// @notice What each ticket, and the submitter of a truth, gets of a fallen claim's bond.
    function share(uint256 bond, uint256 takers) internal pure returns (uint256) {
        return bond / 2 / takers;
    }

    function _contentHash(uint256 pointer, uint256 length) private view returns (bytes32 hash) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, chainid())
            mstore(add(free, 0x20), address())
            calldatacopy(add(free, 0x40), pointer, length)
            hash := keccak256(free, add(length, 0x40))
        }
    }
}
