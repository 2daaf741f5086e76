// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ICodecJudge} from "../interfaces/ICodecJudge.sol";
import {IElementCheck} from "../interfaces/IElementCheck.sol";
import {IFloatJudge} from "../interfaces/IFloatJudge.sol";
import {IJudge} from "../interfaces/IJudge.sol";
import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {Directory} from "../libraries/Directory.sol";
import {HeldTensors} from "../libraries/HeldTensors.sol";
import {Merkle} from "../libraries/Merkle.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {Elements} from "../opcodes/Elements.sol";
import {LAYOUT_PLAIN, NONE, OP_CODEC, Tensor, WEIGHT} from "../types/Program.sol";
import {ModelId, Opening} from "../types/Types.sol";

/// @notice Computes one element of a step as the judge does, with the operands that an interpreter holds. Holds no state.
contract ElementCheck is IElementCheck {
    IModelRegistry public immutable registry;
    address public immutable weightStore;
    IFloatJudge public immutable floatJudge;
    ICodecJudge public immutable codecJudge;

    constructor(
        IModelRegistry registry_,
        address weightStore_,
        IFloatJudge floatJudge_,
        ICodecJudge codecJudge_
    ) {
        registry = registry_;
        weightStore = weightStore_;
        floatJudge = floatJudge_;
        codecJudge = codecJudge_;
    }

    /// @inheritdoc IElementCheck
    function compare(
        ModelId modelId,
        bytes calldata input,
        uint256 step,
        uint256 element,
        bytes calldata out,
        bytes[3] calldata operands
    ) external view returns (uint256 stored, uint256 expected) {
        Trial memory t = _trial(modelId, step);
        HeldTensors.holdMemory(t.out, _toMemory(out));
        uint256 elements = t.out.rows * t.out.last;
        if (element >= elements) revert IJudge.ElementOutOfRange(element, elements);
        if (ProgramReader.opcode(t.record.head) == OP_CODEC) {
            return (_rootOf(t), uint256(codecJudge.inputRoot(t.word, t.record, input)));
        }
        t.element = element;
        t.held = new Tensor[](3);
        t.store = _storeOf(modelId, ModelWord.weights(t.word));
        for (uint256 position = 0; position < 3; ++position) {
            uint256 code = ProgramReader.operandOf(t.record.head, position);
            if (code != NONE) t.held[position] = _held(t, code, operands[position]);
        }
        stored = HeldTensors.element(t.store, t.out, element);
        expected = Elements.compute(t, _noOpenings());
    }

    function _trial(ModelId modelId, uint256 step) private view returns (Trial memory t) {
        (t.word, t.weightsRoot, t.chunks) = registry.modelOf(modelId);
        t.floatJudge = floatJudge;
        uint256 steps = ModelWord.steps(t.word);
        if (step >= steps) revert IJudge.StepOutOfRange(step, steps);
        t.record = ProgramReader.record(t.chunks, ModelWord.weights(t.word), step);
        uint256 head = t.record.head;
        t.out = Shapes.tensor(
            LAYOUT_PLAIN, ProgramReader.outputType(head), ProgramReader.outputRank(head), t.record.shape
        );
        t.out.index = step;
    }

    /// @param code of the operand: a step, or WEIGHT + index of a weight tensor
    function _held(Trial memory t, uint256 code, bytes calldata tensor)
        private
        view
        returns (Tensor memory x)
    {
        uint256 weights = ModelWord.weights(t.word);
        if (code < WEIGHT) {
            x = ProgramReader.tensor(t.chunks, weights, code);
            HeldTensors.holdMemory(x, _toMemory(tensor));
            return x;
        }
        uint256 offset = 0;
        for (uint256 i = 0; i <= code - WEIGHT; ++i) {
            (x, offset) = HeldTensors.published(ProgramReader.descriptor(t.chunks, i), offset);
            x.index = i;
        }
    }

    /// @dev The data contracts of the model's published weights; none for a model without weights.
    function _storeOf(ModelId modelId, uint256 weights) private view returns (address[] memory store) {
        return weights == 0 ? store : Directory.weightsOf(Directory.addressOf(weightStore, modelId));
    }

    /// @dev The root that commits to the trial's own tensor.
    function _rootOf(Trial memory t) private view returns (uint256) {
        Tensor memory x = t.out;
        bytes memory words = new bytes(32 * x.rows * x.words);
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(words, 0x20)
        }
        for (uint256 i = 0; i < x.rows * x.words; ++i) {
            uint256 word = HeldTensors.word(t.store, x, i / x.words, i % x.words);
            assembly ("memory-safe") {
                mstore(add(pointer, shl(5, i)), word)
            }
        }
        return uint256(Merkle.tensorRoot(pointer, x.rows, x.words, x.wordBits, x.height));
    }

    /// @return pointer memory of the bytes, a word of room behind them
    function _toMemory(bytes calldata data) private pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := mload(0x40)
            calldatacopy(pointer, data.offset, data.length)
            mstore(0x40, add(pointer, and(add(data.length, 63), not(31))))
        }
    }

    function _noOpenings() private pure returns (Opening[] calldata none) {
        assembly ("memory-safe") {
            none.offset := 0
            none.length := 0
        }
    }
}
