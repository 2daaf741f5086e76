// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "./ExecutionFixture.sol";

/// @dev Whole runs against the executor: programs of every opcode, most of them with hostile weights and inputs.
contract RunVectorsTest is ExecutionFixture {
    function checkRun(bytes memory blob) external returns (uint256) {
        RunVector memory v = abi.decode(blob, (RunVector));
        ModelId modelId = registerRun(v);
        assertEq(interpreter.inferWith(modelId, v.input, v.weights), v.output, "weights that came along");
        if (v.weights.length != 0) {
            vm.expectRevert(abi.encodeWithSelector(IInterpreter.WeightsNotPublished.selector, modelId));
            interpreter.infer(modelId, v.input);
        } else {
            assertEq(interpreter.infer(modelId, v.input), v.output, "no weights");
        }
        assertTrue(store.publish(modelId, storeWeights(v.weights), ALL));
        assertEq(interpreter.infer(modelId, v.input), v.output, "published weights");
        return 1;
    }

    function test_infer_vectors_succeeds() public {
        (uint256 vectors,) = forEachVector("test/vectors/run.json", this.checkRun);
        assertGe(vectors, 40);
    }
}
