// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Groth16} from "../../../verifier-contracts/proof/Groth16.sol";

/// @notice The verifier of the proof lane, by itself: for proofs and keys that no model has.
contract Groth16Caller {
    /// @param signals of each proof @return true if all are right
    function verify(bytes memory key, uint256[][] calldata signals, bytes[] calldata proofs)
        external
        view
        returns (bool)
    {
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(key, 0x20)
        }
        Groth16.Product memory product = Groth16.begin(pointer, signals[0].length, proofs.length);
        for (uint256 i; i < proofs.length; ++i) {
            uint256 coefficient = i == 0 ? 1 : uint128(uint256(keccak256(abi.encode(proofs, i))));
            if (!Groth16.add(product, coefficient, signals[i], proofs[i])) return false;
        }
        return Groth16.holds(product);
    }
}
