// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "./interfaces/IModelRegistry.sol";
import {ITraceReader} from "./interfaces/ITraceReader.sol";
import {Merkle} from "./libraries/Merkle.sol";
import {ModelWord} from "./libraries/ModelWord.sol";
import {Node, Positions} from "./libraries/Positions.sol";
import {ProgramReader} from "./libraries/ProgramReader.sol";
import {Shapes} from "./libraries/Shapes.sol";
import {Tensor} from "./types/Program.sol";
import {ModelId} from "./types/Types.sol";

/// @notice Reads positions, reveals and tops of traces of registered models. Holds no state.
contract TraceReader is ITraceReader {
    IModelRegistry public immutable registry;

    constructor(IModelRegistry registry_) {
        registry = registry_;
    }

    /// @inheritdoc ITraceReader
    function isInside(ModelId modelId, uint64 position) external view returns (bool) {
        return Positions.isInside(_node(modelId, position));
    }

    /// @inheritdoc ITraceReader
    function checkReveal(
        ModelId modelId,
        uint64 position,
        bytes32[] calldata content,
        bytes32[] calldata path
    ) external view returns (bytes32 traceRoot) {
        Node memory node = _node(modelId, position);
        if (!Positions.isInside(node)) revert PositionOutside(position);
        unchecked {
            uint256 levels = node.height - node.level;
            if (path.length != levels + node.above) revert WrongPathLength(path.length, levels + node.above);
            // A tensor's root is the trace tree's node number `step` at level 0.
            uint256 index = (node.step << levels) | node.index;
            return Merkle.foldPath(Positions.foldContent(node, content), index, path);
        }
    }

    /// @inheritdoc ITraceReader
    function foldTops(ModelId modelId, bytes32[] calldata tops) external view returns (bytes32 traceRoot) {
        Node memory trace = _traceTree(_modelWord(modelId));
        unchecked {
            uint256 from = Positions.contentLevel(trace.height);
            uint256 required = from == 0 ? trace.rows : 1 << (trace.height - from);
            if (tops.length != required) revert WrongContentLength(tops.length, required);
            uint256 pointer = Positions.checkPadding(trace, 0, from, tops);
            return Merkle.foldNodes(pointer, tops.length, trace.height - from, 0);
        }
    }

    function _modelWord(ModelId modelId) private view returns (uint256 word) {
        word = registry.modelWord(modelId);
        if (word == 0) revert IModelRegistry.UnknownModel(modelId);
    }

    function _node(ModelId modelId, uint64 position) private view returns (Node memory node) {
        uint256 step = position >> 48;
        if (step == Positions.TRACE) {
            node = _traceTree(_modelWord(modelId));
        } else {
            (uint256 word, address[] memory chunks) = registry.programOf(modelId);
            // A step that the model lacks leaves a tree without rows, which no position is inside.
            if (step < ModelWord.steps(word)) _readTensor(node, chunks, word, step);
        }
        node.level = uint8(position >> 40);
        node.index = uint40(position);
    }

    function _traceTree(uint256 word) private pure returns (Node memory node) {
        node.height = ModelWord.traceHeight(word);
        node.rows = ModelWord.steps(word);
        node.words = 1;
    }

    function _readTensor(Node memory node, address[] memory chunks, uint256 word, uint256 step) private view {
        Tensor memory tensor = ProgramReader.tensor(chunks, ModelWord.weights(word), step);
        node.height = tensor.height;
        node.rows = tensor.rows;
        node.words = tensor.words;
        node.wordBits = tensor.wordBits;
        node.rowBytes = tensor.last * Shapes.elementBytes(tensor.code);
        node.step = step;
        node.above = ModelWord.traceHeight(word);
    }
}
