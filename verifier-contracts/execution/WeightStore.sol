// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {IWeightStore} from "../interfaces/IWeightStore.sol";
import {DataContract} from "../libraries/DataContract.sol";
import {Descriptor} from "../libraries/Descriptor.sol";
import {Directory} from "../libraries/Directory.sol";
import {Memory} from "../libraries/Memory.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {WeightStream} from "../libraries/WeightStream.sol";
import {Tensor} from "../types/Program.sol";
import {ModelId} from "../types/Types.sol";
import {NamedCode} from "./NamedCode.sol";

/// @notice Publishes weights: only rows that fold to a registered weights root ever become readable. Nobody owns it.
contract WeightStore is IWeightStore, NamedCode {
    /// @dev Rows are folded from memory, so many bytes at a time or one row.
    uint256 private constant BATCH_BYTES = 1 << 17;

    IModelRegistry public immutable registry;

    /// @dev Nodes of both frontiers that wait for a sibling, by level.
    struct Progress {
        uint64 tensor;
        uint64 row;
        mapping(uint256 level => bytes32) rowNodes;
        mapping(uint256 level => bytes32) tensorNodes;
    }

    mapping(bytes32 key => Progress) private _progress;

    /// @dev Only chunks that this contract made count: any other contract with the right code could have been created
    /// in the same transaction by init code that also destroys it, and would be gone when a model runs.
    mapping(address chunk => bool) private _isChunk;

    /// @dev A run of `publish` in memory.
    /// @param descriptors memory of them @param rowNodes and tensorNodes memory of the frontiers
    /// @param offset of the next row in the stream @param left rows that may still be folded
    struct Fold {
        ModelWord word;
        bytes32 root;
        address[] program;
        uint256 weights;
        uint256 descriptors;
        uint256 rowNodes;
        uint256 tensorNodes;
        uint256 tensor;
        uint256 row;
        uint256 offset;
        uint256 left;
    }

    constructor(IModelRegistry registry_) {
        registry = registry_;
    }

    /// @inheritdoc IWeightStore
    function storeChunk(bytes calldata chunk) external returns (address pointer) {
        bytes memory init;
        (pointer, init) = _locate(chunk);
        if (_isChunk[pointer]) return pointer;
        // Were it marked without being there, nobody could store this chunk again.
        if (!DataContract.create(init, pointer)) revert DataNotStored(chunk.length);
        _isChunk[pointer] = true;
    }

    /// @inheritdoc IWeightStore
    function chunkOf(bytes calldata chunk) external view returns (address pointer, bool stored) {
        (pointer,) = _locate(chunk);
        return (pointer, _isChunk[pointer]);
    }

    /// @inheritdoc IWeightStore
    function publish(ModelId modelId, address[] calldata chunks, uint256 maxRows) external returns (bool) {
        if (maxRows == 0) revert NoRows();
        if (isPublished(modelId)) return true;
        Fold memory f = _begin(modelId, maxRows);
        Progress storage p = _progress[_key(modelId, chunks)];
        _resume(f, p);
        if (f.tensor == 0 && f.row == 0) _checkChunks(f, chunks);
        while (f.tensor < f.weights && f.left != 0) {
            _foldTensor(f, chunks);
        }
        if (f.tensor < f.weights) {
            _suspend(f, p);
            return false;
        }
        bytes32 root = f.weights == 0
            ? bytes32(0)
            : WeightStream.close(f.tensorNodes, f.weights, Shapes.ceilLog2(f.weights), 0);
        if (root != f.root) revert WrongWeights(root, f.root);
        _create(modelId, Directory.encode(f.word, f.program, chunks));
        emit WeightsPublished(modelId, directoryOf(modelId), chunks.length);
        return true;
    }

    /// @inheritdoc IWeightStore
    function progressOf(ModelId modelId, address[] calldata chunks)
        external
        view
        returns (uint256 tensor, uint256 row)
    {
        Progress storage p = _progress[_key(modelId, chunks)];
        return (p.tensor, p.row);
    }

    /// @inheritdoc IWeightStore
    function isPublished(ModelId modelId) public view returns (bool) {
        return directoryOf(modelId).code.length != 0;
    }

    /// @inheritdoc IWeightStore
    function foldWeights(bytes calldata descriptors, bytes calldata weights)
        external
        pure
        returns (uint256 length, bytes32 root)
    {
        uint256 copied = WeightStream.allocate(descriptors.length);
        uint256 stream = WeightStream.allocate(weights.length);
        assembly ("memory-safe") {
            calldatacopy(copied, descriptors.offset, descriptors.length)
            calldatacopy(stream, weights.offset, weights.length)
        }
        length = WeightStream.lengthOf(copied, descriptors.length / 32);
        if (weights.length == length) root = WeightStream.rootOf(copied, descriptors.length / 32, stream);
    }

    /// @inheritdoc IWeightStore
    function directoryOf(ModelId modelId) public view returns (address) {
        return Directory.addressOf(address(this), modelId);
    }

    function _key(ModelId modelId, address[] calldata chunks) private pure returns (bytes32) {
        return keccak256(abi.encode(modelId, chunks));
    }

    function _locate(bytes calldata chunk) private view returns (address pointer, bytes memory init) {
        if (chunk.length == 0 || chunk.length > ProgramReader.CHUNK_BYTES) {
            revert WrongChunkLength(chunk.length, ProgramReader.CHUNK_BYTES);
        }
        init = DataContract.initCode(chunk);
        pointer = DataContract.addressOf(init);
    }

    function _begin(ModelId modelId, uint256 maxRows) private view returns (Fold memory f) {
        (f.word, f.root, f.program) = registry.modelOf(modelId);
        f.weights = f.word.weights();
        f.left = maxRows;
        uint256 size = ProgramReader.DESCRIPTOR_BYTES * f.weights;
        f.descriptors = WeightStream.allocate(size);
        ProgramReader.copy(f.program, ProgramReader.HEADER_BYTES, size, f.descriptors);
        f.rowNodes = WeightStream.allocate(WeightStream.FRONTIER_BYTES);
        f.tensorNodes = WeightStream.allocate(WeightStream.FRONTIER_BYTES);
    }

    /// @dev The list's progress is kept only once this has passed.
    function _checkChunks(Fold memory f, address[] calldata chunks) private view {
        uint256 length = WeightStream.lengthOf(f.descriptors, f.weights);
        uint256 count = (length + ProgramReader.CHUNK_BYTES - 1) / ProgramReader.CHUNK_BYTES;
        if (chunks.length != count) revert WrongChunkCount(chunks.length, count);
        uint256 limit = Directory.MAX_ADDRESSES - f.program.length;
        if (count > limit) revert TooManyChunks(count, limit);
        for (uint256 i = 0; i < count; ++i) {
            address chunk = chunks[i];
            if (!_isChunk[chunk]) revert UnknownChunk(chunk);
            uint256 required =
                i + 1 < count ? ProgramReader.CHUNK_BYTES : length - i * ProgramReader.CHUNK_BYTES;
            if (chunk.code.length - 1 != required) revert WrongChunk(i, chunk.code.length - 1, required);
        }
    }

    /// @dev Folds as many rows of the tensor at hand as may be, from memory that is free again afterwards.
    function _foldTensor(Fold memory f, address[] memory chunks) private view {
        unchecked {
            uint256 free = WeightStream.allocate(0);
            (Tensor memory t, uint256 rowBytes) =
                WeightStream.tensorOf(Descriptor.wrap(Memory.load(f.descriptors + 32 * f.tensor)));
            uint256 rows = t.rows - f.row;
            if (rows > f.left) rows = f.left;
            uint256 batch = rowBytes > BATCH_BYTES ? 1 : BATCH_BYTES / rowBytes;
            if (rows > batch) rows = batch;
            uint256 pointer = WeightStream.allocate(rows * rowBytes);
            ProgramReader.copy(chunks, f.offset, rows * rowBytes, pointer);
            WeightStream.pushRows(f.rowNodes, f.row, t, rowBytes, pointer, rows);
            f.offset += rows * rowBytes;
            f.left -= rows;
            f.row += rows;
            if (f.row == t.rows) {
                WeightStream.push(f.tensorNodes, f.tensor, WeightStream.closeTensor(f.rowNodes, t));
                (f.tensor, f.row) = (f.tensor + 1, 0);
            }
            Memory.release(free);
        }
    }

    function _resume(Fold memory f, Progress storage p) private view {
        unchecked {
            (f.tensor, f.row) = (p.tensor, p.row);
            uint256 free = WeightStream.allocate(0);
            for (uint256 i = 0; i <= f.tensor && i < f.weights; ++i) {
                (Tensor memory t, uint256 rowBytes) =
                    WeightStream.tensorOf(Descriptor.wrap(Memory.load(f.descriptors + 32 * i)));
                f.offset += rowBytes * (i == f.tensor ? f.row : t.rows);
                Memory.release(free);
            }
            _restore(f.tensorNodes, f.tensor, p.tensorNodes);
            _restore(f.rowNodes, f.row, p.rowNodes);
        }
    }

    function _suspend(Fold memory f, Progress storage p) private {
        (p.tensor, p.row) = (uint64(f.tensor), uint64(f.row));
        _keep(f.tensorNodes, f.tensor, p.tensorNodes);
        _keep(f.rowNodes, f.row, p.rowNodes);
    }

    /// @dev A node waits at each level whose bit of `count` is set.
    function _restore(uint256 frontier, uint256 count, mapping(uint256 level => bytes32) storage nodes)
        private
        view
    {
        unchecked {
            for (uint256 level = 0; count >> level != 0; ++level) {
                if ((count >> level) & 1 == 0) continue;
                bytes32 node = nodes[level];
                assembly ("memory-safe") {
                    mstore(add(frontier, shl(5, level)), node)
                }
            }
        }
    }

    function _keep(uint256 frontier, uint256 count, mapping(uint256 level => bytes32) storage nodes) private {
        unchecked {
            for (uint256 level = 0; count >> level != 0; ++level) {
                if ((count >> level) & 1 == 1) {
                    nodes[level] = bytes32(Memory.load(frontier + 32 * level));
                }
            }
        }
    }
}
