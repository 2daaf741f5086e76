// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Elements} from "./generated/Elements.sol";
import {ICodecJudge} from "./interfaces/ICodecJudge.sol";
import {IFloatJudge} from "./interfaces/IFloatJudge.sol";
import {IJudge} from "./interfaces/IJudge.sol";
import {IModelRegistry} from "./interfaces/IModelRegistry.sol";
import {Merkle} from "./libraries/Merkle.sol";
import {ModelWord} from "./libraries/ModelWord.sol";
import {Openings, Trial} from "./libraries/Openings.sol";
import {ProgramReader} from "./libraries/ProgramReader.sol";
import {RecordHead} from "./libraries/RecordHead.sol";
import {Shapes} from "./libraries/Shapes.sol";
import {CODEC_CLAIMED, LAYOUT_PLAIN, OP_CODEC, Tensor} from "./types/Program.sol";
import {ModelId, Opening} from "./types/Types.sol";

/// @notice Judges one element, one codec step or one element of the output of a committed trace (docs/PROTOCOL.md, section 4).
/// Positions come from the registered program; a sender brings words and siblings only. Holds no state.
contract Judge is IJudge {
    IModelRegistry public immutable registry;
    IFloatJudge public immutable floatJudge;
    ICodecJudge public immutable codecJudge;

    constructor(IModelRegistry registry_, IFloatJudge floatJudge_, ICodecJudge codecJudge_) {
        registry = registry_;
        floatJudge = floatJudge_;
        codecJudge = codecJudge_;
    }

    /// @inheritdoc IJudge
    function judgeElement(
        ModelId modelId,
        bytes32 traceRoot,
        uint256 step,
        uint256 element,
        Opening[] calldata openings
    ) external view returns (uint256 expected, uint256 claimed) {
        Trial memory t = _trial(modelId, traceRoot, step);
        claimed = _claimed(t, element, openings);
        expected = Elements.compute(t, openings);
        if (t.used != openings.length) revert WrongOpeningCount(openings.length, t.used);
    }

    /// @inheritdoc IJudge
    function judgeCodec(
        ModelId modelId,
        bytes32 traceRoot,
        uint256 step,
        bytes calldata input,
        bytes32 tensorRoot,
        bytes32[] calldata path
    ) external view returns (bytes32 expectedRoot, bool isOutput) {
        Trial memory t = _trial(modelId, traceRoot, step);
        uint256 opcode = t.record.head.opcode();
        if (opcode != OP_CODEC) revert WrongOpcode(step, opcode);
        _requireInTrace(t, tensorRoot, path);
        if (t.record.head.variant() == CODEC_CLAIMED) {
            if (input.length != t.word.outputLength()) revert InputNotCanonical();
            return (codecJudge.claimedRoot(t.word, t.record, input), true);
        }
        if (!codecJudge.isCanonicalInput(t.word, input)) revert InputNotCanonical();
        return (codecJudge.inputRoot(t.word, t.record, input), false);
    }

    /// @inheritdoc IJudge
    function judgeOutput(
        ModelId modelId,
        bytes32 traceRoot,
        bytes calldata output,
        uint256 element,
        Opening[] calldata openings
    ) external view returns (uint256 expected, uint256 claimed) {
        Trial memory t = _load(modelId, traceRoot);
        _setStep(t, t.word.steps() - 1);
        if (codecJudge.isCanonicalOutput(t.word, t.record, output)) {
            uint256 stored = _claimed(t, element, openings);
            (expected, claimed) = codecJudge.outputElement(t.word, t.record, output, element, stored);
        } else {
            expected = 1;
        }
        if (t.used != openings.length) revert WrongOpeningCount(openings.length, t.used);
    }

    /// @inheritdoc IJudge
    function isCanonicalInput(ModelWord modelWord, bytes calldata input) external view returns (bool) {
        return codecJudge.isCanonicalInput(modelWord, input);
    }

    function _trial(ModelId modelId, bytes32 traceRoot, uint256 step) private view returns (Trial memory t) {
        t = _load(modelId, traceRoot);
        uint256 steps = t.word.steps();
        if (step >= steps) revert StepOutOfRange(step, steps);
        _setStep(t, step);
    }

    function _load(ModelId modelId, bytes32 traceRoot) private view returns (Trial memory t) {
        (t.word, t.weightsRoot, t.chunks) = registry.modelOf(modelId);
        t.traceRoot = traceRoot;
        t.floatJudge = floatJudge;
    }

    function _setStep(Trial memory t, uint256 step) private view {
        t.record = ProgramReader.record(t.chunks, t.word.weights(), step);
        RecordHead head = t.record.head;
        t.out = Shapes.tensor(LAYOUT_PLAIN, head.outputType(), head.outputRank(), t.record.shape);
        t.out.index = step;
    }

    /// @dev Stored bytes of the element of the step's tensor, which goes on trial: the first opening.
    function _claimed(Trial memory t, uint256 element, Opening[] calldata openings)
        private
        view
        returns (uint256 stored)
    {
        uint256 elements = t.out.rows * t.out.last;
        if (element >= elements) revert ElementOutOfRange(element, elements);
        t.element = element;
        return Openings.openElement(t, openings, t.out, element);
    }

    /// @dev Reverts unless the root of the trial's tensor is in the trace.
    function _requireInTrace(Trial memory t, bytes32 tensorRoot, bytes32[] calldata path) private pure {
        uint256 height = t.word.traceHeight();
        if (path.length != height) revert WrongPathLength(path.length, height);
        bytes32 folded = Merkle.foldPath(tensorRoot, t.out.index, path);
        if (folded != t.traceRoot) revert WrongRoot(folded, t.traceRoot);
    }
}
