// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Elements} from "../generated/Elements.sol";
import {ICodecJudge} from "../interfaces/ICodecJudge.sol";
import {IElementCheck} from "../interfaces/IElementCheck.sol";
import {IFloatJudge} from "../interfaces/IFloatJudge.sol";
import {IJudge} from "../interfaces/IJudge.sol";
import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {Descriptor} from "../libraries/Descriptor.sol";
import {Directory} from "../libraries/Directory.sol";
import {HeldTensors} from "../libraries/HeldTensors.sol";
import {Memory} from "../libraries/Memory.sol";
import {Merkle} from "../libraries/Merkle.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {RecordHead} from "../libraries/RecordHead.sol";
import {Shapes} from "../libraries/Shapes.sol";
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
        uint256[4] calldata tensors,
        bytes calldata held
    ) external view returns (uint256 stored, uint256 expected) {
        Trial memory t = _trial(modelId, step);
        t.element = element;
        _holdOut(t, tensors, held);
        if (t.record.head.opcode() == OP_CODEC) {
            return (_rootOf(t), uint256(codecJudge.inputRoot(t.word, t.record, input)));
        }
        t.store = _storeOf(modelId, t.word.weights());
        _holdOperands(t, tensors, held);
        stored = HeldTensors.element(t.store, t.out, element);
        expected = Elements.compute(t, _noOpenings());
    }

    /// @inheritdoc IElementCheck
    function compareOutput(ModelId modelId, bytes calldata output, uint256 element, uint256 held)
        external
        view
        returns (uint256 stored, uint256 expected)
    {
        Trial memory t = _trial(modelId, ModelWord.wrap(registry.modelWord(modelId)).steps() - 1);
        _requireElement(t, element);
        if (!codecJudge.isCanonicalOutput(t.word, t.record, output)) return (0, 1);
        (expected, stored) = codecJudge.outputElement(t.word, t.record, output, element, held);
    }

    function _trial(ModelId modelId, uint256 step) private view returns (Trial memory t) {
        (t.word, t.weightsRoot, t.chunks) = registry.modelOf(modelId);
        t.floatJudge = floatJudge;
        uint256 steps = t.word.steps();
        if (step >= steps) revert IJudge.StepOutOfRange(step, steps);
        t.record = ProgramReader.record(t.chunks, t.word.weights(), step);
        RecordHead head = t.record.head;
        t.out = Shapes.tensor(LAYOUT_PLAIN, head.outputType(), head.outputRank(), t.record.shape);
        t.out.index = step;
    }

    function _holdOut(Trial memory t, uint256[4] calldata tensors, bytes calldata held) private pure {
        _requireElement(t, t.element);
        HeldTensors.holdCalldata(t.out, _placeOf(tensors[0], held));
    }

    function _requireElement(Trial memory t, uint256 element) private pure {
        uint256 elements = t.out.rows * t.out.last;
        if (element >= elements) revert IJudge.ElementOutOfRange(element, elements);
    }

    function _holdOperands(Trial memory t, uint256[4] calldata tensors, bytes calldata held) private view {
        t.held = new Tensor[](3);
        for (uint256 position = 0; position < 3; ++position) {
            uint256 code = t.record.head.operandOf(position);
            if (code == NONE) continue;
            // Of a weight tensor where it stands in the stream is not known yet.
            t.held[position] = ProgramReader.tensor(t.chunks, t.word.weights(), code);
            if (code < WEIGHT) {
                HeldTensors.holdCalldata(t.held[position], _placeOf(tensors[position + 1], held));
            }
        }
        _holdWeights(t);
    }

    /// @dev Goes through the stream once, tensor by tensor: there may be thousands of them.
    function _holdWeights(Trial memory t) private view {
        unchecked {
            uint256 count = 0;
            for (uint256 position = 0; position < 3; ++position) {
                Tensor memory x = t.held[position];
                if (x.isWeight && x.index >= count) count = x.index + 1;
            }
            uint256 size = ProgramReader.DESCRIPTOR_BYTES * count;
            uint256 descriptors = Memory.reserve(size);
            ProgramReader.copy(t.chunks, ProgramReader.HEADER_BYTES, size, descriptors);
            uint256[] memory offsets = new uint256[](count + 1);
            uint256 free = Memory.mark();
            for (uint256 i = 0; i < count; ++i) {
                (, offsets[i + 1]) =
                    HeldTensors.published(Descriptor.wrap(Memory.load(descriptors + 32 * i)), offsets[i]);
                Memory.release(free);
            }
            for (uint256 position = 0; position < 3; ++position) {
                uint256 index = t.held[position].index;
                if (!t.held[position].isWeight) continue;
                (t.held[position],) = HeldTensors.published(
                    Descriptor.wrap(Memory.load(descriptors + 32 * index)), offsets[index]
                );
                t.held[position].index = index;
            }
        }
    }

    /// @return place of a tensor in calldata
    function _placeOf(uint256 tensor, bytes calldata held) private pure returns (uint256 place) {
        assembly ("memory-safe") {
            place := add(held.offset, tensor)
        }
    }

    /// @dev The data contracts of the model's published weights; none for a model without weights.
    function _storeOf(ModelId modelId, uint256 weights) private view returns (address[] memory store) {
        return weights == 0 ? store : Directory.weightsOf(Directory.addressOf(weightStore, modelId));
    }

    /// @dev The root that commits to the trial's own tensor.
    function _rootOf(Trial memory t) private view returns (uint256) {
        unchecked {
            Tensor memory x = t.out;
            // Rows are new memory, one behind another.
            uint256 pointer = HeldTensors.row(t.store, x, 0);
            for (uint256 row = 1; row < x.rows; ++row) {
                HeldTensors.row(t.store, x, row);
            }
            return uint256(Merkle.tensorRoot(pointer, x.rows, x.words, x.wordBits, x.height));
        }
    }

    function _noOpenings() private pure returns (Opening[] calldata none) {
        assembly ("memory-safe") {
            none.offset := 0
            none.length := 0
        }
    }
}
