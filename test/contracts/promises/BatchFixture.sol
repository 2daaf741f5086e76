// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Batch, BatchId, BatchState} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {Policy} from "../../../verifier-contracts/types/Types.sol";
import {PromisesFixture} from "./PromisesFixture.sol";

/// @notice A batch of five leaves.
abstract contract BatchFixture is PromisesFixture {
    uint96 internal constant LEAF_BOND = 0.1 ether;
    uint256 internal constant COUNT = 5;
    /// @dev B, and the first leaf's deposit.
    uint96 internal constant BOND_OF_BATCH = 0.5 ether;
    uint256 internal constant D = 0.05 ether;

    function _posted(uint256 wrong) internal returns (Batch memory batch, bytes[] memory payloads) {
        payloads = _leavesOf(COUNT, wrong);
        batch = _post(payloads, LEAF_BOND);
    }

    function _idOf(Batch memory batch) internal view returns (BatchId) {
        return leaves.batchIdOf(batch);
    }

    function _state(Batch memory batch) internal view returns (BatchState memory) {
        return promises.batchState(_idOf(batch));
    }

    function _policy(bytes memory input) internal view returns (Policy memory) {
        return Policy(model, keccak256(input), BOND, LEAF_BOND, uint32(W0));
    }

    function _join(bytes[] memory payloads) internal pure returns (bytes memory data) {
        for (uint256 i; i < payloads.length; i++) {
            data = bytes.concat(data, payloads[i]);
        }
    }
}
