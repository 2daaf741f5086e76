// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {ExecutionFixture} from "./ExecutionFixture.sol";

/// @dev As many weight tensors as a program can have are published in transactions.
contract PublishGasTest is ExecutionFixture {
    using B for B.Draft;

    /// @dev Even in one, and in two as protocol/chain/execution/publication.ts reckons.
    function test_publish_mostTensors_succeeds() public {
        B.Draft memory d = B.start(3, 1, 1);
        bytes memory all = abi.encodePacked(hex"01020100", B.shapeBytes(B.dims1(1)), bytes4(0));
        for (uint256 i = 0; i < 11; ++i) {
            all = bytes.concat(all, all);
        }
        (d.descriptors, d.weights) = (all, 2048);
        d.int16s(B.dims1(1), 0);
        bytes memory weights = new bytes(4 * 2048);
        (, bytes32 root) = store.foldWeights(all, weights);
        ModelId modelId = registry.register(chunksOf(d.bytesOf()), root, SELECTOR, EXECUTION | BOND, 0);
        address[] memory chunks = storeWeights(weights);
        uint256 before = vm.snapshotState();
        assertTrue(store.publish{gas: 16_000_000}(modelId, chunks, ALL));
        vm.revertToState(before);
        assertFalse(store.publish{gas: 10_000_000}(modelId, chunks, 1317));
        assertTrue(store.publish{gas: 10_000_000}(modelId, chunks, 1317));
    }
}
