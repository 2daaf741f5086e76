// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "./interfaces/IModelRegistry.sol";
import {ITraceReader} from "./interfaces/ITraceReader.sol";
import {Merkle} from "./libraries/Merkle.sol";
import {ModelWord} from "./libraries/ModelWord.sol";
import {Node, Positions} from "./libraries/Positions.sol";
import {ProgramReader} from "./libraries/ProgramReader.sol";
import {RecordHead} from "./libraries/RecordHead.sol";
import {Shapes} from "./libraries/Shapes.sol";
import {LAYOUT_PLAIN, Tensor} from "./types/Program.sol";
import {ModelId} from "./types/Types.sol";

/// @notice Reads positions, reveals and tops of traces of registered models. Holds no state.
contract TraceReader is ITraceReader {
    IModelRegistry public immutable registry;

    constructor(IModelRegistry registry_) {
        registry = registry_;
    }

    /// @inheritdoc ITraceReader
    function shapeAt(ModelId modelId, uint64 position) external view returns (uint256 shape) {
        uint256 step = Positions.stepOf(position);
        if (step == Positions.TRACE) {
            ModelWord word = ModelWord.wrap(registry.modelWord(modelId));
            if (word.isNone()) revert IModelRegistry.UnknownModel(modelId);
            shape = Positions.packShape(word.steps(), 0, 0);
        } else {
            (ModelWord word, RecordHead head, uint256 dims) = registry.stepOf(modelId, step);
            // No record begins with 0.
            if (head.isNone()) return 0;
            uint256 code = head.outputType();
            Tensor memory t = Shapes.tensor(LAYOUT_PLAIN, code, head.outputRank(), dims);
            shape = Positions.packShape(t.rows, t.last * Shapes.elementBytes(code), word.traceHeight());
        }
        if (!Positions.isInside(Positions.nodeAt(shape, position))) return 0;
    }

    /// @inheritdoc ITraceReader
    function checkReveal(uint256 shape, uint64 position, bytes32[] calldata content, bytes32[] calldata path)
        external
        pure
        returns (bytes32 traceRoot)
    {
        if (shape == 0) revert PositionOutside(position);
        Node memory node = Positions.nodeAt(shape, position);
        unchecked {
            uint256 levels = node.height - node.level;
            if (path.length != levels + node.above) revert WrongPathLength(path.length, levels + node.above);
            // A tensor's root is the trace tree's node number `step` at level 0.
            uint256 index = (node.step << levels) | node.index;
            return Merkle.foldPath(Positions.foldContent(node, content), index, path);
        }
    }

    /// @inheritdoc ITraceReader
    function foldTops(uint256 modelWord, bytes32[] calldata tops) external pure returns (bytes32 traceRoot) {
        uint256 steps = ModelWord.wrap(modelWord).steps();
        Node memory trace = Positions.nodeAt(Positions.packShape(steps, 0, 0), 0);
        unchecked {
            uint256 from = Positions.contentLevel(trace.height);
            uint256 required = from == 0 ? steps : 1 << (trace.height - from);
            if (tops.length != required) revert WrongContentLength(tops.length, required);
            uint256 pointer = Positions.checkPadding(trace, 0, from, tops);
            return Merkle.foldNodes(pointer, tops.length, trace.height - from, 0);
        }
    }
}
