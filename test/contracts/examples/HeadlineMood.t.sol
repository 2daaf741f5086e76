// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {HeadlineMood} from "../../../verifier-contracts/examples/promises/HeadlineMood.sol";
import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {Batch} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {BatchFixture} from "../promises/BatchFixture.sol";

/// @notice A consumer that reads leaves of batches.
contract HeadlineMoodTest is BatchFixture {
    HeadlineMood private _mood;

    function setUp() public override {
        super.setUp();
        _mood = new HeadlineMood(leaves, model, LEAF_BOND, uint32(W0));
    }

    function test_take_default_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        skip(W0);
        int256 sum;
        for (uint256 i; i < COUNT; i++) {
            bytes32 inputHash = keccak256(_input(_text(i)));
            _mood.ask(inputHash);
            _mood.take(batch, i, payloads[i], _path(payloads, i), inputHash);
            (int256 class,,) = abi.decode(_right(_text(i)), (int256, int256, int256));
            sum += class;
        }
        assertEq(_mood.sum(), sum);
        assertEq(_mood.count(), COUNT);
    }

    function test_take_twice_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        skip(W0);
        bytes32 inputHash = keccak256(_input(_text(1)));
        _mood.ask(inputHash);
        bytes32[] memory path = _path(payloads, 1);
        _mood.take(batch, 1, payloads[1], path, inputHash);
        vm.expectRevert(abi.encodeWithSelector(HeadlineMood.NotAsked.selector, inputHash));
        _mood.take(batch, 1, payloads[1], path, inputHash);
    }

    function test_take_notFinal_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        bytes32 inputHash = keccak256(_input(_text(1)));
        _mood.ask(inputHash);
        bytes32[] memory path = _path(payloads, 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IPromisesErrors.BatchNotFinal.selector,
                leaves.batchIdOf(batch),
                block.timestamp + W0,
                0,
                false
            )
        );
        _mood.take(batch, 1, payloads[1], path, inputHash);
    }
}
