// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId, Request} from "../../../verifier-contracts/types/Types.sol";
import {SettleFixture} from "../proof/SettleFixture.sol";
import {PackedSettlements} from "../support/PackedSettlements.sol";

/// @notice Gas of the PROOF lane for the MLP of bench/tasks/mlp.ts, ten public signals. With --isolate, as
/// `npm run snapshot` runs it, each figure is a whole transaction with everything cold.
contract ProofGasTest is SettleFixture {
    event log_named_uint(string key, uint256 val);

    function _measure(string memory name) private returns (uint256 used) {
        used = vm.snapshotGasLastCall("proof", name);
        emit log_named_uint(name, used);
    }

    /// @dev A prover that has settled before.
    function _settleFirst() private {
        Request memory r = _requestOf(0);
        r.salt = 99;
        _file(r, 0);
        _settle(r, _noClaim());
    }

    function test_isTrue_gas_succeeds() public {
        bytes memory output = outputs[0];
        (bytes memory input, bytes memory proof) = (inputs[0], proofs[0]);
        lane.isTrue(model, input, output, proof, submitter);
        _measure("verification");
    }

    function test_storeKey_gas_succeeds() public {
        bytes memory another = _flipped(key, 100);
        ModelId twin = _register(keccak256(another));
        lane.storeKey(twin, another);
        _measure("storeKey");
    }

    function test_settle_gas_succeeds() public {
        Request memory r = _requestOf(0);
        _file(r, 0);
        uint256 snapshot = vm.snapshotState();
        _settle(r, _noClaim());
        _measure("settle, first of a submitter");
        vm.revertToState(snapshot);
        _settleFirst();
        _settle(r, _noClaim());
        _measure("settle");
    }

    function test_settleBatch_gas_succeeds() public {
        string[8] memory names = [
            "settleBatch of 1",
            "settleBatch of 2",
            "settleBatch of 3",
            "settleBatch of 4",
            "settleBatch of 5",
            "settleBatch of 6",
            "settleBatch of 7",
            "settleBatch of 8"
        ];
        _settleFirst();
        for (uint256 count = 1; count <= COUNT; ++count) {
            uint256 snapshot = vm.snapshotState();
            bytes[] memory batch = PackedSettlements.pack(_batch(count));
            vm.prank(submitter);
            assay.settleBatch(model, submitter, batch);
            _measure(names[count - 1]);
            vm.revertToState(snapshot);
        }
    }
}
