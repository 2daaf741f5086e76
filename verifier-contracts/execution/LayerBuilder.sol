// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ILayerBuilder} from "../interfaces/ILayerBuilder.sol";
import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {ModelId} from "../types/Types.sol";
import {Assembler} from "./compiled/Assembler.sol";
import {CompiledLayer} from "./compiled/CompiledLayer.sol";
import {PartWord, packPart} from "./compiled/PartWord.sol";
import {Layer, Parts} from "./compiled/Parts.sol";
import {RowRange} from "./compiled/RowRange.sol";

/// @notice Builds the EVM code of registered models' DOT steps. Nobody owns it; nothing that it built can change.
contract LayerBuilder is ILayerBuilder {
    /// @dev Words of a directory's code behind its STOP byte.
    uint256 private constant MAX_PARTS = 767;

    IModelRegistry public immutable registry;

    mapping(ModelId => mapping(uint256 step => mapping(uint256 firstRow => address))) private _parts;

    constructor(IModelRegistry registry_) {
        registry = registry_;
    }

    /// @inheritdoc ILayerBuilder
    function build(
        ModelId modelId,
        uint256 step,
        uint256 firstRow,
        bytes32[] calldata words,
        bytes32[] calldata siblings
    ) external returns (address part) {
        part = _parts[modelId][step][firstRow];
        if (part != address(0)) return part;
        part = _build(modelId, step, firstRow, words, siblings);
        _parts[modelId][step][firstRow] = part;
        emit PartBuilt(modelId, step, firstRow, part);
    }

    /// @inheritdoc ILayerBuilder
    function bind(ModelId modelId) external returns (address directory) {
        directory = CompiledLayer.directoryOf(address(this), modelId);
        if (directory.code.length != 0) return directory;
        bytes memory code = _directoryCode(modelId);
        bytes memory creatorCode = CompiledLayer.CREATOR;
        bytes memory initCode = abi.encodePacked(_creationCode(code.length), code);
        assembly ("memory-safe") {
            let creator := create2(0, add(creatorCode, 0x20), mload(creatorCode), modelId)
            // Whether it failed is seen by what stands at the directory's address.
            pop(call(gas(), creator, 0, add(initCode, 0x20), mload(initCode), 0, 0))
        }
        if (directory.code.length != code.length) revert NotCreated(code.length);
        emit ModelBound(modelId, directory);
    }

    /// @inheritdoc ILayerBuilder
    function stepParts(ModelId modelId, uint256 step) external view returns (uint256 rows, uint256 partRows) {
        (ModelWord word, address[] memory chunks) = registry.programOf(modelId);
        Layer memory layer = Parts.layerOf(word, chunks, step);
        return (layer.rows, layer.partRows);
    }

    /// @inheritdoc ILayerBuilder
    function partOf(ModelId modelId, uint256 step, uint256 firstRow) external view returns (address) {
        return _parts[modelId][step][firstRow];
    }

    /// @inheritdoc ILayerBuilder
    function directoryOf(ModelId modelId) external view returns (address) {
        return CompiledLayer.directoryOf(address(this), modelId);
    }

    /// @dev Creates the part from words that it has checked.
    function _build(
        ModelId modelId,
        uint256 step,
        uint256 firstRow,
        bytes32[] calldata words,
        bytes32[] calldata siblings
    ) private returns (address) {
        (ModelWord word, bytes32 root, address[] memory chunks) = registry.modelOf(modelId);
        Layer memory layer = Parts.layerOf(word, chunks, step);
        uint256 count = Parts.rowsFrom(layer, firstRow);
        uint256 above = Shapes.ceilLog2(word.weights());
        RowRange.check(layer.weights, firstRow, count, words, siblings, above, root);
        return _create(layer, firstRow, count, words);
    }

    function _create(Layer memory layer, uint256 firstRow, uint256 count, bytes32[] calldata words)
        private
        returns (address part)
    {
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := mload(0x40)
            let size := shl(5, words.length)
            calldatacopy(pointer, words.offset, size)
            // A word more than there is: rows are read two words at a time.
            mstore(0x40, add(pointer, add(size, 0x20)))
        }
        (uint256 start, uint256 length) = Assembler.assemble(layer, pointer, firstRow, count);
        // Nothing has been allocated since, so the code is still there.
        bytes10 prefix = _creationCode(length);
        assembly ("memory-safe") {
            // The assembler leaves a word before its code.
            mstore(sub(start, 0x20), shr(176, prefix))
            part := create(0, sub(start, 10), add(length, 10))
        }
        if (part == address(0)) revert NotCreated(length);
    }

    /// @dev The directory's words, or why there cannot be one yet. A program has at most 2,048 steps.
    function _directoryCode(ModelId modelId) private view returns (bytes memory code) {
        (ModelWord word, address[] memory chunks) = registry.programOf(modelId);
        PartWord[] memory entries = new PartWord[](MAX_PARTS);
        uint256 count = 0;
        uint256 steps = word.steps();
        for (uint256 step = 0; step < steps; ++step) {
            if (!Parts.isCompilable(Parts.headOf(word, chunks, step))) continue;
            Layer memory layer = Parts.layerOf(word, chunks, step);
            for (uint256 row = 0; row < layer.rows; row += layer.partRows) {
                if (count == MAX_PARTS) revert TooManyParts(count + 1, MAX_PARTS);
                address part = _parts[modelId][step][row];
                if (part == address(0)) revert PartMissing(step, row);
                uint256 made = layer.width * Parts.rowsFrom(layer, row);
                entries[count++] = packPart(step, layer.width * row, made, part);
            }
        }
        if (count == 0) revert NothingToCompile(modelId);
        assembly ("memory-safe") {
            mstore(entries, count)
        }
        return abi.encodePacked(bytes1(0), entries);
    }

    /// @dev Returns what follows its ten bytes: PUSH2 length, DUP1, PUSH1 10, PUSH0, CODECOPY, PUSH0, RETURN.
    function _creationCode(uint256 length) private pure returns (bytes10) {
        return bytes10(uint80((0x61 << 72) | (length << 56) | 0x80600a5f395ff3));
    }
}
