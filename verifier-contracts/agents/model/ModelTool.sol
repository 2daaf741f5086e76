// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../../interfaces/IModelRegistry.sol";
import {FIRST_U16} from "../../libraries/Memory.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {INPUT_INT16S, INPUT_PRICES, INPUT_RAW, INPUT_TEXT} from "../../types/Program.sol";
import {ModelId} from "../../types/Types.sol";
import {ToolMetadata, ToolText} from "../ToolMetadata.sol";
import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {ToolResultConverter} from "../interfaces/ToolResultConverter.sol";
import {AgentInput} from "../libraries/AgentInput.sol";

/// @notice What a model tool says of itself; the types of its parameters follow from the model.
/// @param paramNames of the model's parameters, in order @param paramDescriptions as many
struct ModelToolText {
    string name;
    string description;
    string[] paramNames;
    string[] paramDescriptions;
}

/// @notice A registered model as a tool: typed values in, the model's calldata out of them; return data in, words.
/// @dev What a model takes follows from its input codec: text one STRING, prices three UINT_ARRAY (closes, highs,
/// lows), lanes one INT_ARRAY of 16-bit numbers, raw one UINT_ARRAY of bytes.
abstract contract ModelTool is ToolMetadata {
    /// @notice Thrown when a model is not registered.
    error UnknownModel(ModelId modelId);
    /// @notice Thrown when a model's lanes are not those that this tool needs.
    error LanesMissing(uint8 lanes, uint8 required);
    /// @notice Thrown when names or descriptions are not as many as the model has parameters.
    error WrongTextCount(uint256 names, uint256 descriptions, uint256 required);
    /// @notice Thrown when a list has another length than the model takes.
    error WrongCount(uint256 given, uint256 required);
    /// @notice Thrown when a number does not fit in a SIMD lane of 16 bits.
    error LaneOutOfRange(uint256 index, int256 value);
    /// @notice Thrown when a number is not a byte.
    error ByteOutOfRange(uint256 index, uint256 value);

    ModelId public immutable modelId;
    ToolResultConverter public immutable resultConverter;
    ModelWord internal immutable _modelWord;

    constructor(
        ModelToolText memory text,
        IModelRegistry registry,
        ModelId modelId_,
        uint8 lanes,
        ToolResultConverter converter
    ) ToolMetadata(_describe(text, registry, modelId_)) {
        _requireCode(address(converter));
        ModelWord word = ModelWord.wrap(registry.modelWord(modelId_));
        if (word.lanes() & lanes != lanes) revert LanesMissing(word.lanes(), lanes);
        modelId = modelId_;
        resultConverter = converter;
        _modelWord = word;
    }

    /// @dev The calldata that the model gets for an input, selector included.
    function _calldataOf(IERCAgentTool.Input memory input) internal view returns (bytes memory) {
        AgentInput.requireMatches(inputDescription(), input);
        bytes memory values = input.abiEncodedParams;
        uint256 codec = _modelWord.inputCodec();
        uint256 size = _modelWord.inputSize();
        if (codec == INPUT_INT16S) values = _packInt16s(abi.decode(values, (int256[])), size);
        else if (codec == INPUT_RAW) values = _packBytes(abi.decode(values, (uint256[])), size);
        return bytes.concat(_modelWord.selector(), values);
    }

    function _describe(ModelToolText memory text, IModelRegistry registry, ModelId id)
        private
        view
        returns (ToolText memory)
    {
        _requireCode(address(registry));
        ModelWord word = ModelWord.wrap(registry.modelWord(id));
        if (word.isNone()) revert UnknownModel(id);
        (ParamType paramType, uint256 count) = _paramsOf(word.inputCodec());
        if (text.paramNames.length != count || text.paramDescriptions.length != count) {
            revert WrongTextCount(text.paramNames.length, text.paramDescriptions.length, count);
        }
        ParamDescription[] memory params = new ParamDescription[](count);
        for (uint256 i; i < count; ++i) {
            params[i] = ParamDescription(paramType, text.paramNames[i], text.paramDescriptions[i]);
        }
        return ToolText(text.name, text.description, InputDescription(params));
    }

    function _paramsOf(uint256 codec) private pure returns (ParamType, uint256 count) {
        if (codec == INPUT_TEXT) return (ParamType.STRING, 1);
        if (codec == INPUT_PRICES) return (ParamType.UINT_ARRAY, 3);
        if (codec == INPUT_INT16S) return (ParamType.INT_ARRAY, 1);
        return (ParamType.UINT_ARRAY, 1);
    }

    /// @dev `uint256[]` of words with 16 lanes each, the first one at the top.
    function _packInt16s(int256[] memory numbers, uint256 count) private pure returns (bytes memory) {
        if (numbers.length != count) revert WrongCount(numbers.length, count);
        uint256[] memory words = new uint256[]((count + 15) / 16);
        for (uint256 i; i < count; ++i) {
            int256 number = numbers[i];
            if (number != int16(number)) revert LaneOutOfRange(i, number);
            words[i / 16] |= uint256(uint16(int16(number))) << (FIRST_U16 - 16 * (i % 16));
        }
        return abi.encode(words);
    }

    /// @dev `bytes`, a number each.
    function _packBytes(uint256[] memory numbers, uint256 count) private pure returns (bytes memory) {
        if (numbers.length != count) revert WrongCount(numbers.length, count);
        bytes memory packed = new bytes(count);
        for (uint256 i; i < count; ++i) {
            if (numbers[i] > 0xff) revert ByteOutOfRange(i, numbers[i]);
            packed[i] = bytes1(uint8(numbers[i]));
        }
        return abi.encode(packed);
    }
}
