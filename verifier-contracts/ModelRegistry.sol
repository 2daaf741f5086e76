// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "./interfaces/IModelRegistry.sol";
import {DataContract} from "./libraries/DataContract.sol";
import {
    MODEL_INPUT_CODEC,
    MODEL_INPUT_SIZE,
    MODEL_LANES,
    MODEL_MAX_CALLDATA,
    MODEL_OUTPUT_CODEC,
    MODEL_OUTPUT_LENGTH,
    MODEL_SELECTOR,
    ModelWord,
    newModelWord
} from "./libraries/ModelWord.sol";
import {ProgramReader} from "./libraries/ProgramReader.sol";
import {ProgramValidator} from "./libraries/ProgramValidator.sol";
import {RecordHead} from "./libraries/RecordHead.sol";
import {INPUT_INT16S, OUTPUT_WORDS, Tensor} from "./types/Program.sol";
import {LANE_BOND, LANE_EXECUTION, LANE_PROOF, ModelId} from "./types/Types.sol";

/// @notice Registered models (docs/PROTOCOL.md, section 1). Nothing can change one afterwards, and nobody owns this.
contract ModelRegistry is IModelRegistry {
    /// @dev Of models without a program, which no judge judges.
    uint256 private constant FIRST_JUDGE = 1;
    uint8 private constant ALL_LANES = LANE_EXECUTION | LANE_PROOF | LANE_BOND;
    /// @dev Limits of codecs int16s and words (docs/EXACT.md, section 5).
    uint256 private constant MAX_INPUTS = 4096;
    uint256 private constant MAX_OUTPUTS = 256;
    bytes32 private constant NO_PROGRAM = keccak256("assay model without a program");

    struct Model {
        ModelWord word;
        bytes32 weightsRoot;
        bytes32 vkHash;
        mapping(uint256 index => address) chunks;
    }

    mapping(ModelId => Model) private _models;

    /// @dev Only chunks that this contract made count: any other contract with the right code could have been created
    /// in the same transaction by init code that also destroys it, and would be gone when a judge reads it.
    mapping(address chunk => bool) private _isChunk;

    /// @inheritdoc IModelRegistry
    function storeChunk(bytes calldata chunk) external returns (address pointer) {
        if (chunk.length == 0 || chunk.length > ProgramReader.CHUNK_BYTES) {
            revert WrongChunkLength(chunk.length, ProgramReader.CHUNK_BYTES);
        }
        bytes memory init = DataContract.initCode(chunk);
        pointer = DataContract.addressOf(init);
        if (_isChunk[pointer]) return pointer;
        // Were it marked without being there, nobody could store this chunk again.
        if (!DataContract.create(init, pointer)) revert ChunkNotStored(chunk.length);
        _isChunk[pointer] = true;
    }

    /// @inheritdoc IModelRegistry
    function register(
        address[] calldata chunks,
        bytes32 root,
        bytes4 selector,
        uint8 lanes,
        bytes32 verificationKeyHash
    ) external returns (ModelId modelId) {
        if (lanes == 0 || lanes & ~ALL_LANES != 0) revert WrongLanes(lanes);
        if ((lanes & LANE_PROOF != 0) != (verificationKeyHash != 0)) {
            revert WrongVerificationKey(lanes, verificationKeyHash);
        }
        bytes memory program = _load(chunks);
        (ModelWord word, uint256 judgeVersion) = _validated(program, lanes);
        if (word.weights() == 0 && root != 0) revert WrongWeightsRoot(root);
        word = word.with(MODEL_LANES, lanes).with(MODEL_SELECTOR, uint32(selector));
        bytes32 programHash = keccak256(program);
        modelId = _modelId(programHash, word, root, verificationKeyHash, judgeVersion);
        Model storage model = _models[modelId];
        if (!model.word.isNone()) return modelId;
        model.word = word;
        model.weightsRoot = root;
        model.vkHash = verificationKeyHash;
        for (uint256 i = 0; i < chunks.length; ++i) {
            model.chunks[i] = chunks[i];
        }
        emit ModelRegistered(modelId, programHash, root, verificationKeyHash, word);
    }

    /// @inheritdoc IModelRegistry
    function registerProofModel(bytes4 selector, uint32 inputs, uint32 outputs, bytes32 verificationKeyHash)
        external
        returns (ModelId modelId)
    {
        if (verificationKeyHash == 0) revert WrongVerificationKey(LANE_PROOF, 0);
        _requireElements(inputs, MAX_INPUTS);
        _requireElements(outputs, MAX_OUTPUTS);
        ModelWord word = newModelWord().with(MODEL_LANES, LANE_PROOF).with(MODEL_SELECTOR, uint32(selector));
        // Calldata: selector, offset, length, 16 lanes a word. Return data: a word an element.
        word = word.with(MODEL_MAX_CALLDATA, 68 + 32 * ((uint256(inputs) + 15) / 16));
        word = word.with(MODEL_OUTPUT_LENGTH, 32 * uint256(outputs)).with(MODEL_INPUT_CODEC, INPUT_INT16S);
        word = word.with(MODEL_OUTPUT_CODEC, OUTPUT_WORDS).with(MODEL_INPUT_SIZE, inputs);
        // Calldata's length alone does not fix the number of lanes.
        bytes32 programHash = keccak256(abi.encode(NO_PROGRAM, INPUT_INT16S, OUTPUT_WORDS, inputs));
        modelId = _modelId(programHash, word, 0, verificationKeyHash, FIRST_JUDGE);
        Model storage model = _models[modelId];
        if (!model.word.isNone()) return modelId;
        model.word = word;
        model.vkHash = verificationKeyHash;
        emit ModelRegistered(modelId, programHash, 0, verificationKeyHash, word);
    }

    /// @inheritdoc IModelRegistry
    function modelOf(ModelId modelId)
        external
        view
        returns (ModelWord word, bytes32 root, address[] memory chunks)
    {
        Model storage model = _models[modelId];
        word = _programWord(modelId, model);
        return (word, model.weightsRoot, _chunksOf(model, word));
    }

    /// @inheritdoc IModelRegistry
    function programOf(ModelId modelId) external view returns (ModelWord word, address[] memory chunks) {
        Model storage model = _models[modelId];
        word = _programWord(modelId, model);
        return (word, _chunksOf(model, word));
    }

    /// @inheritdoc IModelRegistry
    function proofModelOf(ModelId modelId)
        external
        view
        returns (ModelWord word, bytes32 keyHash, address[] memory chunks)
    {
        Model storage model = _models[modelId];
        word = model.word;
        if (word.isNone()) revert UnknownModel(modelId);
        return (word, model.vkHash, _chunksOf(model, word));
    }

    /// @inheritdoc IModelRegistry
    function modelWord(ModelId modelId) external view returns (uint256) {
        return ModelWord.unwrap(_models[modelId].word);
    }

    /// @inheritdoc IModelRegistry
    function weightsRoot(ModelId modelId) external view returns (bytes32) {
        return _models[modelId].weightsRoot;
    }

    /// @inheritdoc IModelRegistry
    function vkHash(ModelId modelId) external view returns (bytes32) {
        return _models[modelId].vkHash;
    }

    /// @inheritdoc IModelRegistry
    function programChunks(ModelId modelId) external view returns (address[] memory) {
        return _chunksOf(_models[modelId], _models[modelId].word);
    }

    /// @inheritdoc IModelRegistry
    function stepOf(ModelId modelId, uint256 step)
        external
        view
        returns (ModelWord word, RecordHead head, uint256 shape)
    {
        Model storage model = _models[modelId];
        word = _programWord(modelId, model);
        if (step >= word.steps()) return (word, head, 0);
        uint256 offset = ProgramReader.recordOffset(word.weights(), step);
        head = RecordHead.wrap(_wordAt(model, offset));
        shape = _wordAt(model, offset + 32);
    }

    /// @dev A word of the program; words never straddle chunks.
    function _wordAt(Model storage model, uint256 offset) private view returns (uint256 word) {
        address chunk = model.chunks[offset / ProgramReader.CHUNK_BYTES];
        uint256 start = offset % ProgramReader.CHUNK_BYTES + 1;
        assembly ("memory-safe") {
            extcodecopy(chunk, 0, start, 0x20)
            word := mload(0)
        }
    }

    /// @dev A judge has nothing to judge in a model without a program.
    function _programWord(ModelId modelId, Model storage model) private view returns (ModelWord word) {
        word = model.word;
        if (word.isNone()) revert UnknownModel(modelId);
        if (word.steps() == 0) revert NoProgram(modelId);
    }

    function _requireElements(uint256 count, uint256 limit) private pure {
        if (count == 0 || count > limit) revert WrongElementCount(count, limit);
    }

    /// @dev The word says how long the program is, so their number needs no slot of its own.
    function _chunksOf(Model storage model, ModelWord word) private view returns (address[] memory chunks) {
        if (word.steps() == 0) return chunks;
        uint256 length = ProgramReader.recordOffset(word.weights(), word.steps());
        chunks = new address[]((length + ProgramReader.CHUNK_BYTES - 1) / ProgramReader.CHUNK_BYTES);
        for (uint256 i = 0; i < chunks.length; ++i) {
            chunks[i] = model.chunks[i];
        }
    }

    /// @dev The program's bytes. Every chunk but the last is full, so that an offset says where a byte is.
    function _load(address[] calldata chunks) private view returns (bytes memory program) {
        uint256 length = 0;
        for (uint256 i = 0; i < chunks.length; ++i) {
            address chunk = chunks[i];
            if (!_isChunk[chunk]) revert UnknownChunk(chunk);
            uint256 size = chunk.code.length - 1;
            if (size != ProgramReader.CHUNK_BYTES && i + 1 != chunks.length) revert ChunkNotFull(i, size);
            length += size;
        }
        program = new bytes(length);
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(program, 0x20)
        }
        ProgramReader.copy(chunks, 0, length, pointer);
    }

    /// @dev Structure rules, and what a lane asks of a program.
    function _validated(bytes memory program, uint8 lanes)
        private
        pure
        returns (ModelWord word, uint256 judgeVersion)
    {
        uint256 unexecutable;
        (word, judgeVersion, unexecutable) = ProgramValidator.validate(program);
        if (lanes & LANE_EXECUTION != 0 && unexecutable != 0) revert StepNotExecutable(unexecutable - 1);
        // haltProof carries the input and both outputs.
        uint256 size = word.maxCalldata() + 2 * word.outputLength();
        if (lanes & LANE_PROOF != 0 && size > ProgramValidator.MAX_MOVE_BYTES) {
            revert ContradictionTooLarge(size, ProgramValidator.MAX_MOVE_BYTES);
        }
    }

    function _modelId(
        bytes32 programHash,
        ModelWord word,
        bytes32 root,
        bytes32 verificationKeyHash,
        uint256 judgeVersion
    ) private pure returns (ModelId) {
        return ModelId.wrap(
            keccak256(
                abi.encode(
                    programHash,
                    root,
                    word.selector(),
                    word.maxCalldata(),
                    word.outputLength(),
                    word.lanes(),
                    verificationKeyHash,
                    judgeVersion
                )
            )
        );
    }
}
