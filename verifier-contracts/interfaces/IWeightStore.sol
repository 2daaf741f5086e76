// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Published weights of models. A model's weights are one stream of bytes: the rows of its weight tensors in
/// order, nothing between them (a PLAIN row holds its elements, any other row its words). The stream is cut into
/// chunks of 24,544 bytes, the last one maybe shorter, each the code of a data contract behind a STOP byte.
interface IWeightStore {
    /// @notice Thrown when a chunk is empty or longer than the limit.
    error WrongChunkLength(uint256 length, uint256 limit);
    /// @notice Thrown when a data contract could not be created: send more gas, about 200 a byte.
    error DataNotStored(uint256 length);
    /// @notice Thrown when a chunk was not stored by this contract's storeChunk.
    error UnknownChunk(address chunk);
    /// @notice Thrown when the chunks are not as long as the model's weights, or one before the last is not full.
    /// @param index of the first chunk of a wrong length @param length what it has @param required what it must have
    error WrongChunk(uint256 index, uint256 length, uint256 required);
    /// @notice Thrown when the chunks are fewer or more than the model's weights fill.
    error WrongChunkCount(uint256 count, uint256 required);
    /// @notice Thrown when a model's weights need more chunks than a directory holds.
    error TooManyChunks(uint256 required, uint256 limit);
    /// @notice Thrown when a call may fold no row.
    error NoRows();
    /// @notice Thrown when the chunks are not the model's weights.
    error WrongWeights(bytes32 folded, bytes32 weightsRoot);

    /// @notice A model's weights are readable from now on, for good.
    event WeightsPublished(ModelId indexed modelId, address directory, uint256 chunks);

    /// @notice Stores up to 24,544 bytes of a stream; the same bytes give the same address, and storing them twice is
    /// harmless.
    function storeChunk(bytes calldata chunk) external returns (address pointer);

    /// @notice Where storeChunk puts these bytes.
    /// @return pointer its address
    /// @return stored whether it is there
    function chunkOf(bytes calldata chunk) external view returns (address pointer, bool stored);

    /// @notice Folds up to `maxRows` more rows of the stream in these chunks; once all are folded to the model's
    /// weights root, the weights are published. What was folded belongs to the list of chunks, so that anybody can go
    /// on where anybody stopped, and no other list is in the way. Harmless to repeat after publication.
    /// @return published true if the weights are published now
    function publish(ModelId modelId, address[] calldata chunks, uint256 maxRows)
        external
        returns (bool published);

    /// @notice How far the stream in these chunks is folded.
    /// @return tensor the next weight tensor
    /// @return row its next row
    function progressOf(ModelId modelId, address[] calldata chunks)
        external
        view
        returns (uint256 tensor, uint256 row);

    /// @notice Folds a whole stream.
    /// @param descriptors the program's weight descriptors, 32 bytes each, at least one
    /// @return length bytes that the stream must have
    /// @return root the weights root that it folds to, 0 if it has another length
    function foldWeights(bytes calldata descriptors, bytes calldata weights)
        external
        pure
        returns (uint256 length, bytes32 root);

    /// @notice Address of the data contract that lists program and weights of a model; it has code once they are
    /// published. Behind the STOP byte: the model word, the number of program chunks u16, their addresses, the
    /// addresses of the weight chunks.
    function directoryOf(ModelId modelId) external view returns (address directory);

    function isPublished(ModelId modelId) external view returns (bool);
}
