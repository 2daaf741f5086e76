// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {ProgramReader} from "../../../verifier-contracts/libraries/ProgramReader.sol";
import {OUTPUT_RAW, TYPE_U8} from "../../../verifier-contracts/types/Program.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "./ExecutionFixture.sol";

/// @dev Whole runs against the executor: programs of every opcode, most of them with hostile weights and inputs.
contract RunVectorsTest is ExecutionFixture {
    uint256 private _tensors;

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
        // From now on they alone are read: nobody could halt what is read elsewhere.
        assertEq(interpreter.inferWith(modelId, v.input, hex"00"), v.output, "weights that nobody reads");
        _checkLastTensor(modelId, v);
        return 1;
    }

    /// @dev Raw return data of u8 hold the last step's tensor as it is, behind offset and length.
    function _checkLastTensor(ModelId modelId, RunVector memory v) private {
        uint256 word = registry.modelWord(modelId);
        uint256 last = ModelWord.wrap(word).steps() - 1;
        bytes memory tensor = interpreter.tensorAt(modelId, v.input, last);
        assertGt(tensor.length, 0);
        vm.expectRevert(abi.encodeWithSelector(IJudge.StepOutOfRange.selector, last + 1, last + 1));
        interpreter.tensorAt(modelId, v.input, last + 1);
        uint256 record = v.program.length - ProgramReader.RECORD_BYTES;
        if (ModelWord.wrap(word).outputCodec() != OUTPUT_RAW || uint8(v.program[record + 2]) != TYPE_U8) {
            return;
        }
        assertEq(tensor, this.slice(v.output, 64, 64 + tensor.length), "the last tensor");
        assertEq(v.output.length, 64 + (tensor.length + 31) / 32 * 32, "all of it");
        ++_tensors;
    }

    function test_infer_vectors_succeeds() public {
        (uint256 vectors,) = forEachVector("test/vectors/run.json", this.checkRun);
        assertGe(vectors, 40);
        assertGe(_tensors, 3, "last tensors");
    }
}
