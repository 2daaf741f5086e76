// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelWord} from "../libraries/ModelWord.sol";
import {RecordHead} from "../libraries/RecordHead.sol";
import {ProgramField, ProgramPart} from "../types/Program.sol";
import {ModelId} from "../types/Types.sol";

interface IModelRegistry {
    /// @notice Thrown when the model is not registered.
    error UnknownModel(ModelId modelId);
    /// @notice Thrown when a chunk is empty or longer than the limit.
    error WrongChunkLength(uint256 length, uint256 limit);
    /// @notice Thrown when a chunk could not be created: send more gas, about 200 a byte.
    error ChunkNotStored(uint256 length);
    /// @notice Thrown when a program's chunk was not stored by this registry's storeChunk.
    error UnknownChunk(address chunk);
    /// @notice Thrown when a chunk before the last is not full.
    error ChunkNotFull(uint256 index, uint256 length);
    /// @notice Thrown when lanes are none or unknown; allowed are the bits 1, 2 and 4.
    error WrongLanes(uint8 lanes);
    /// @notice Thrown when a model has a PROOF lane and no verification key, or a key and no such lane.
    error WrongVerificationKey(uint8 lanes, bytes32 vkHash);
    /// @notice Thrown when a program without weight tensors comes with a weights root.
    error WrongWeightsRoot(bytes32 weightsRoot);
    /// @notice Thrown when a program breaks a structure rule (docs/EXACT.md, sections 2, 3 and 5).
    /// @param index of the weight tensor or step, 0 for the header
    /// @param value what stands there: the field, or the quantity that the rule limits
    error InvalidProgram(ProgramPart part, uint256 index, ProgramField field, uint256 value);
    /// @notice Thrown for a model with the lane EXECUTION one of whose steps no interpreter runs (DOT activations): leave the
    /// lane out.
    error StepNotExecutable(uint256 step);
    /// @notice Thrown when a model without a program has no inputs or outputs, or too many.
    error WrongElementCount(uint256 count, uint256 limit);
    /// @notice Thrown when a judge asks for the program of a model that was registered without one.
    error NoProgram(ModelId modelId);
    /// @notice Thrown for a model with the lane PROOF whose contradicting proofs would not fit a transaction: make input
    /// or output smaller, or leave the lane out. @param size bytes of the longest input and two outputs
    error ContradictionTooLarge(uint256 size, uint256 limit);

    /// @notice A model was registered; everything about it is immutable from now on.
    /// @param word the model word (docs/PROTOCOL.md, section 1)
    event ModelRegistered(
        ModelId indexed modelId, bytes32 programHash, bytes32 weightsRoot, bytes32 vkHash, ModelWord word
    );

    /// @notice Stores up to 24,544 bytes of a program as code of a data contract; the same bytes give the same
    /// address, and storing them twice is harmless.
    function storeChunk(bytes calldata chunk) external returns (address pointer);

    /// @notice Registers the program whose bytes are those of the chunks in order, after validating its structure.
    /// Idempotent: registering the same model again returns the same id.
    function register(
        address[] calldata chunks,
        bytes32 weightsRoot,
        bytes4 selector,
        uint8 lanes,
        bytes32 vkHash
    ) external returns (ModelId modelId);

    /// @notice Registers a model without a program: only proofs make its outputs final, so its one lane is PROOF.
    /// Calldata is `inputs` signed 16-bit numbers in codec int16s, return data `outputs` words. Idempotent.
    /// @param inputs 1 to 4,096 @param outputs 1 to 256 @param vkHash of the proof system's key, not 0
    function registerProofModel(bytes4 selector, uint32 inputs, uint32 outputs, bytes32 vkHash)
        external
        returns (ModelId modelId);

    /// @notice What a judge needs of a model in one call. Reverts if it is not registered or has no program.
    /// @return word the model word @return root the weights root @return chunks data contracts of the program
    function modelOf(ModelId modelId)
        external
        view
        returns (ModelWord word, bytes32 root, address[] memory chunks);

    /// @notice Where the program of a model is. Reverts if it is not registered or has no program.
    /// @return word the model word @return chunks data contracts of the program
    function programOf(ModelId modelId) external view returns (ModelWord word, address[] memory chunks);

    /// @notice What a verifier of proofs needs of a model in one call. Reverts if it is not registered.
    /// @return word the model word
    /// @return keyHash vkHash, 0 if it has no PROOF lane
    /// @return chunks data contracts of the program, none if there is no program
    function proofModelOf(ModelId modelId)
        external
        view
        returns (ModelWord word, bytes32 keyHash, address[] memory chunks);

    /// @notice The model word, 0 if the model is not registered.
    function modelWord(ModelId modelId) external view returns (uint256);

    function weightsRoot(ModelId modelId) external view returns (bytes32);

    function vkHash(ModelId modelId) external view returns (bytes32);

    /// @notice The data contracts that hold the program, in order; none if there is no program.
    function programChunks(ModelId modelId) external view returns (address[] memory);

    /// @notice What a trace reader needs of one step, read from no more chunks than its record lies in.
    /// Reverts if the model is not registered or has no program.
    /// @return word the model word @return head and @return shape first two words of the record, 0 if there is none
    function stepOf(ModelId modelId, uint256 step)
        external
        view
        returns (ModelWord word, RecordHead head, uint256 shape);
}
