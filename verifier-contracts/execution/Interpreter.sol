// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ICodecJudge} from "../interfaces/ICodecJudge.sol";
import {IElementCheck} from "../interfaces/IElementCheck.sol";
import {IFloatJudge} from "../interfaces/IFloatJudge.sol";
import {IInterpreter} from "../interfaces/IInterpreter.sol";
import {IJudge} from "../interfaces/IJudge.sol";
import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {IWeightStore} from "../interfaces/IWeightStore.sol";
import {Directory} from "../libraries/Directory.sol";
import {Flat} from "../libraries/Flat.sol";
import {Machine, Machines} from "../libraries/Machine.sol";
import {FIRST_ADDRESS, FIRST_U16, Memory} from "../libraries/Memory.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {RecordHead} from "../libraries/RecordHead.sol";
import {Outputs} from "../opcodes/codecs/Outputs.sol";
import {MovePlan} from "../opcodes/rows/MovePlan.sol";
import {Tensor, WEIGHT} from "../types/Program.sol";
import {LANE_EXECUTION, ModelId} from "../types/Types.sol";
import {Steps} from "./Steps.sol";
import {CompiledLayer} from "./compiled/CompiledLayer.sol";

/// @notice Runs a registered program on whole tensors in memory, one record after another, each by a kernel that knows
/// its record and its operands alone. Its only state is which models are halted.
contract Interpreter is IInterpreter {
    /// @dev Calldata of IElementCheck.compare before the bytes of `held`: selector, nine words and a length.
    uint256 private constant CHECK_HEAD = 4 + 32 * 10;

    IModelRegistry public immutable registry;
    address public immutable weightStore;
    address public immutable layerBuilder;
    IFloatJudge public immutable floatJudge;
    ICodecJudge public immutable codecJudge;
    IElementCheck public immutable elementCheck;

    /// @dev What of a model runs no more: each holds the ones before.
    enum Halt {
        NONE,
        COMPILED,
        ALL
    }

    mapping(ModelId => Halt) private _halts;

    constructor(
        IModelRegistry registry_,
        address weightStore_,
        address layerBuilder_,
        IFloatJudge floatJudge_,
        ICodecJudge codecJudge_,
        IElementCheck elementCheck_
    ) {
        registry = registry_;
        weightStore = weightStore_;
        layerBuilder = layerBuilder_;
        floatJudge = floatJudge_;
        codecJudge = codecJudge_;
        elementCheck = elementCheck_;
    }

    /// @inheritdoc IInterpreter
    function infer(ModelId modelId, bytes calldata input) external view returns (bytes memory) {
        Machine memory m = _openWithWeights(modelId, input);
        return _run(m, input);
    }

    /// @inheritdoc IInterpreter
    function inferCompiled(ModelId modelId, bytes calldata input) external view returns (bytes memory) {
        Machine memory m = _openCompiled(modelId, input);
        return _run(m, input);
    }

    /// @inheritdoc IInterpreter
    function inferWith(ModelId modelId, bytes calldata input, bytes calldata weights)
        external
        view
        returns (bytes memory)
    {
        Machine memory m;
        bool isPublished = _openPublished(m, modelId);
        bytes32 root;
        if (!isPublished) root = _openRegistered(m, modelId);
        _check(m, modelId, input);
        // INVARIANT: a published model runs in one way, the one that can be halted.
        if (!isPublished) _loadWeights(m, weights, root);
        return _run(m, input);
    }

    /// @inheritdoc IInterpreter
    function tensorAt(ModelId modelId, bytes calldata input, uint256 step)
        external
        view
        returns (bytes memory)
    {
        Machine memory m = _openWithWeights(modelId, input);
        return _bytesOf(_runTo(m, input, step));
    }

    /// @inheritdoc IInterpreter
    function haltExecution(ModelId modelId, bytes calldata input, uint256 step, uint256 element) external {
        (uint256 stored, uint256 expected) = _findDifference(modelId, input, step, element, false);
        _haltAll(modelId, step, element, stored, expected);
    }

    /// @inheritdoc IInterpreter
    function haltCompiled(ModelId modelId, bytes calldata input, uint256 step, uint256 element) external {
        (uint256 stored, uint256 expected) = _findDifference(modelId, input, step, element, true);
        _halts[modelId] = Halt.COMPILED;
        emit CompiledHalted(modelId, step, element, stored, expected);
    }

    /// @inheritdoc IInterpreter
    function haltOutput(ModelId modelId, bytes calldata input, uint256 element) external {
        Machine memory m = _openWithWeights(modelId, input);
        uint256 steps = m.word.steps();
        Flat last = _runSteps(m, input, steps);
        // Beyond the tensor the check reverts, whatever is read.
        (uint256 stored, uint256 expected) =
            elementCheck.compareOutput(modelId, _encode(m, last), element, last.element(element));
        if (stored == expected) revert NoDifference(stored);
        _haltAll(modelId, steps, element, stored, expected);
    }

    function _haltAll(ModelId modelId, uint256 step, uint256 element, uint256 stored, uint256 expected)
        private
    {
        _halts[modelId] = Halt.ALL;
        emit ExecutionHalted(modelId, step, element, stored, expected);
    }

    /// @inheritdoc IInterpreter
    function isHalted(ModelId modelId) public view returns (bool) {
        return _halts[modelId] == Halt.ALL;
    }

    /// @inheritdoc IInterpreter
    function isCompiledHalted(ModelId modelId) public view returns (bool) {
        return _halts[modelId] != Halt.NONE;
    }

    /// @dev An element of a run, and the judge's from the operands that the run holds, which is another one.
    function _findDifference(
        ModelId modelId,
        bytes calldata input,
        uint256 step,
        uint256 element,
        bool isCompiled
    ) private view returns (uint256 stored, uint256 expected) {
        uint256 data = _beginCheck(modelId, input, step, element);
        Machine memory m = isCompiled ? _openCompiled(modelId, input) : _openWithWeights(modelId, input);
        _placeTensor(data, 0, _runTo(m, input, step));
        RecordHead head = RecordHead.wrap(Memory.load(m.records + ProgramReader.RECORD_BYTES * step));
        for (uint256 position = 0; position < 3; ++position) {
            uint256 index = head.operandOf(position);
            if (index < WEIGHT) _placeTensor(data, position + 1, Machines.tensor(m, index));
        }
        (stored, expected) = _askCheck(data);
        if (stored == expected) revert NoDifference(stored);
    }

    /// @dev Calldata of IElementCheck.compare, which begins where memory was free and takes in all that the run leaves
    /// behind it: a copy of the tensors would cost more than the run. The input is the first thing in `held`.
    /// @return data memory of it
    function _beginCheck(ModelId modelId, bytes calldata input, uint256 step, uint256 element)
        private
        pure
        returns (uint256 data)
    {
        data = Memory.reserve(CHECK_HEAD + 32 + input.length);
        bytes4 selector = IElementCheck.compare.selector;
        assembly ("memory-safe") {
            mstore(data, selector)
            mstore(add(data, 4), modelId)
            mstore(add(data, 36), sub(CHECK_HEAD, 4)) // offset of the input
            mstore(add(data, 68), step)
            mstore(add(data, 100), element)
            mstore(add(data, 260), sub(CHECK_HEAD, 36)) // offset of `held`, which begins with its length
            mstore(add(data, CHECK_HEAD), input.length)
            calldatacopy(add(data, add(CHECK_HEAD, 32)), input.offset, input.length)
        }
    }

    /// @dev Says where a tensor begins. @param position 0 for the step's own, 1 to 3 for its operands
    function _placeTensor(uint256 data, uint256 position, Flat flat) private pure {
        uint256 pointer = flat.pointer();
        assembly ("memory-safe") {
            mstore(add(add(data, 132), shl(5, position)), sub(pointer, add(data, CHECK_HEAD)))
        }
    }

    function _askCheck(uint256 data) private view returns (uint256 stored, uint256 expected) {
        address check = address(elementCheck);
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(add(data, sub(CHECK_HEAD, 32)), sub(free, add(data, CHECK_HEAD)))
            let success := staticcall(gas(), check, data, sub(free, data), 0, 0x40)
            // INVARIANT: what is no answer is no difference.
            if iszero(and(success, eq(returndatasize(), 0x40))) {
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
            stored := mload(0)
            expected := mload(0x20)
        }
    }

    /// @dev The program, with published weights or none.
    function _openWithWeights(ModelId modelId, bytes calldata input) private view returns (Machine memory m) {
        if (!_openPublished(m, modelId)) {
            _openRegistered(m, modelId);
            if (m.word.weights() != 0) revert WeightsNotPublished(modelId);
        }
        _check(m, modelId, input);
    }

    /// @dev The same, with the compiled layers that are bound.
    function _openCompiled(ModelId modelId, bytes calldata input) private view returns (Machine memory m) {
        m = _openWithWeights(modelId, input);
        if (isCompiledHalted(modelId)) revert CompiledModelHalted(modelId);
        m.compiled = CompiledLayer.open(layerBuilder, modelId);
    }

    function _check(Machine memory m, ModelId modelId, bytes calldata input) private view {
        if (isHalted(modelId)) revert ModelHalted(modelId);
        uint8 lanes = m.word.lanes();
        if (lanes & LANE_EXECUTION == 0) revert NotExecutable(modelId, lanes);
        if (!codecJudge.isCanonicalInput(m.word, input)) revert InputNotCanonical();
    }

    /// @dev Reads the model word and the program by the directory. @return found false if there is none
    function _openPublished(Machine memory m, ModelId modelId) private view returns (bool found) {
        unchecked {
            address directory = Directory.addressOf(weightStore, modelId);
            uint256 size = directory.code.length;
            if (size == 0) return false;
            uint256 place = Memory.reserve(size);
            assembly ("memory-safe") {
                extcodecopy(directory, place, 1, sub(size, 1))
            }
            uint256 chunks = Memory.load(place + 32) >> FIRST_U16;
            uint256 first = place + Directory.HEAD_BYTES - 1;
            m.chunks = first + Directory.ADDRESS_BYTES * chunks;
            _openProgram(m, ModelWord.wrap(Memory.load(place)), first);
            return true;
        }
    }

    /// @dev Reads the model word and the program by the registry.
    function _openRegistered(Machine memory m, ModelId modelId) private view returns (bytes32 root) {
        unchecked {
            ModelWord word;
            address[] memory chunks;
            (word, root, chunks) = registry.modelOf(modelId);
            uint256 first = Memory.reserve(Directory.ADDRESS_BYTES * chunks.length);
            for (uint256 i = 0; i < chunks.length; ++i) {
                address chunk = chunks[i];
                assembly ("memory-safe") {
                    mstore(add(first, mul(20, i)), shl(FIRST_ADDRESS, chunk))
                }
            }
            _openProgram(m, word, first);
        }
    }

    /// @param chunks memory of the addresses of the program's chunks, 20 bytes each
    function _openProgram(Machine memory m, ModelWord word, uint256 chunks) private view {
        unchecked {
            m.word = word;
            m.floatJudge = floatJudge;
            m.codecJudge = codecJudge;
            m.compiled = CompiledLayer.NONE;
            uint256 weights = word.weights();
            uint256 steps = word.steps();
            uint256 offset = ProgramReader.HEADER_BYTES;
            uint256 length = ProgramReader.recordOffset(weights, steps) - offset;
            uint256 program = Memory.reserve(length);
            ProgramReader.copyPacked(chunks, offset, length, program);
            m.records = program + ProgramReader.DESCRIPTOR_BYTES * weights;
            m.steps = Memory.reserve(32 * steps);
            m.plan = Memory.reserve(MovePlan.BYTES);
        }
    }

    /// @dev Takes weights that came along, if they fold to the root.
    function _loadWeights(Machine memory m, bytes calldata weights, bytes32 root) private view {
        unchecked {
            uint256 count = m.word.weights();
            uint256 size = ProgramReader.DESCRIPTOR_BYTES * count;
            // Calldata of foldWeights, in whose end the stream stays: two offsets, then both behind their lengths.
            uint256 data = Memory.reserve(132 + size + weights.length);
            m.stream = data + 132 + size;
            (uint256 length, bytes32 folded) = (0, root);
            if (count != 0) (length, folded) = _fold(data, m.records - size, size, weights);
            if (weights.length != length) revert WrongWeightsLength(weights.length, length);
            if (folded != root) revert WrongWeights(folded, root);
        }
    }

    function _fold(uint256 data, uint256 descriptors, uint256 size, bytes calldata weights)
        private
        view
        returns (uint256 length, bytes32 folded)
    {
        bytes4 selector = IWeightStore.foldWeights.selector;
        address store = weightStore;
        assembly ("memory-safe") {
            mstore(data, selector)
            mstore(add(data, 4), 0x40)
            mstore(add(data, 36), add(size, 0x60))
            mstore(add(data, 68), size)
            mcopy(add(data, 100), descriptors, size)
            let place := add(add(data, 100), size)
            mstore(place, weights.length)
            place := add(place, 0x20)
            calldatacopy(place, weights.offset, weights.length)
            let end := add(place, weights.length)
            // It fails for lack of gas alone.
            if iszero(staticcall(gas(), store, data, sub(end, data), 0, 0x40)) { revert(0, 0) }
            length := mload(0)
            folded := mload(0x20)
        }
    }

    function _run(Machine memory m, bytes calldata input) private view returns (bytes memory) {
        return _encode(m, _runSteps(m, input, m.word.steps()));
    }

    /// @param last the last step's tensor @return its return data
    function _encode(Machine memory m, Flat last) private pure returns (bytes memory) {
        Tensor memory t;
        (t.code, t.rows, t.last) = (last.code(), 1, last.count());
        return Outputs.encode(m.word.outputCodec(), t, last.pointer());
    }

    /// @dev Runs the program up to a step. @return flat its tensor
    function _runTo(Machine memory m, bytes calldata input, uint256 step) private view returns (Flat) {
        uint256 steps = m.word.steps();
        if (step >= steps) revert IJudge.StepOutOfRange(step, steps);
        return _runSteps(m, input, step + 1);
    }

    /// @return flat the tensor of the last step that was run
    function _runSteps(Machine memory m, bytes calldata input, uint256 steps)
        private
        view
        returns (Flat flat)
    {
        Steps.describeWeights(m);
        uint256 offset;
        assembly ("memory-safe") {
            offset := input.offset
        }
        (m.inputOffset, m.inputLength) = (offset, input.length);
        return Steps.run(m, steps);
    }

    /// @dev A tensor's stored bytes.
    function _bytesOf(Flat flat) private pure returns (bytes memory data) {
        uint256 size = flat.size();
        uint256 pointer = flat.pointer();
        data = new bytes(size);
        assembly ("memory-safe") {
            mcopy(add(data, 0x20), pointer, size)
        }
    }
}
