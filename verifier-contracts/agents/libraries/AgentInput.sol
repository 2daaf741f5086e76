// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";

/// @notice Inputs of tools: which bytes are the encoding of a value, and what all values are together.
/// @dev An input says everything twice, value by value and joined. Whoever checks one and uses the other can be led
/// astray, so nothing here takes an input whose two forms differ in a single byte, nor a value that a standard
/// encoder would have written otherwise.
library AgentInput {
    /// @notice Thrown when an input has more or fewer values than the tool has parameters.
    error WrongParamCount(uint256 given, uint256 required);
    /// @notice Thrown when a value is of another type than its parameter.
    error WrongParamType(uint256 index, IERCAgentTool.ParamType given, IERCAgentTool.ParamType required);
    /// @notice Thrown when a value is not the canonical ABI encoding of its type.
    error MalformedValue(uint256 index, IERCAgentTool.ParamType paramType, bytes value);
    /// @notice Thrown when the joint encoding is not that of the single values.
    error EncodingMismatch(bytes32 givenHash, bytes32 requiredHash);

    /// @dev Not a position in any value.
    uint256 private constant NOWHERE = type(uint256).max;

    /// @notice Reverts unless an input is one that a tool with this description takes.
    function requireMatches(
        IERCAgentTool.InputDescription memory description,
        IERCAgentTool.Input memory input
    ) internal pure {
        IERCAgentTool.ParamDescription[] memory required = description.paramDescriptions;
        IERCAgentTool.ParamValue[] memory given = input.params;
        if (given.length != required.length) revert WrongParamCount(given.length, required.length);
        for (uint256 i; i < given.length; ++i) {
            if (given[i].paramType != required[i].paramType) {
                revert WrongParamType(i, given[i].paramType, required[i].paramType);
            }
        }
        bytes32 joint = keccak256(encode(given));
        bytes32 hash = keccak256(input.abiEncodedParams);
        if (hash != joint) revert EncodingMismatch(hash, joint);
    }

    /// @notice The input made of these values.
    function join(IERCAgentTool.ParamValue[] memory params)
        internal
        pure
        returns (IERCAgentTool.Input memory)
    {
        return IERCAgentTool.Input(params, encode(params));
    }

    /// @notice The input of a tool that takes one text, such as an agent.
    function prompt(string memory text) internal pure returns (IERCAgentTool.Input memory) {
        IERCAgentTool.ParamValue[] memory params = new IERCAgentTool.ParamValue[](1);
        params[0] = IERCAgentTool.ParamValue(IERCAgentTool.ParamType.STRING, abi.encode(text));
        return join(params);
    }

    /// @notice `abi.encode(v0, v1, …)` of values that are given one by one. Reverts if one is malformed.
    function encode(IERCAgentTool.ParamValue[] memory params) internal pure returns (bytes memory joint) {
        uint256 size;
        for (uint256 i; i < params.length; ++i) {
            if (!isCanonical(params[i].paramType, params[i].value)) {
                revert MalformedValue(i, params[i].paramType, params[i].value);
            }
            // Alone, a value is its head and its tail; so it is in the joint encoding.
            size += params[i].value.length;
        }
        joint = new bytes(size);
        uint256 tail = 32 * params.length;
        for (uint256 i; i < params.length; ++i) {
            bytes memory value = params[i].value;
            if (isDynamic(params[i].paramType)) {
                uint256 length = value.length - 32;
                assembly ("memory-safe") {
                    mstore(add(add(joint, 32), mul(32, i)), tail)
                    mcopy(add(add(joint, 32), tail), add(value, 64), length)
                }
                tail += length;
            } else {
                assembly ("memory-safe") {
                    mstore(add(add(joint, 32), mul(32, i)), mload(add(value, 32)))
                }
            }
        }
    }

    /// @notice True for types whose encoding has a length: texts and arrays.
    function isDynamic(IERCAgentTool.ParamType paramType) internal pure returns (bool) {
        return
            paramType == IERCAgentTool.ParamType.STRING || paramType >= IERCAgentTool.ParamType.STRING_ARRAY;
    }

    /// @notice True if the bytes are what `abi.encode` makes of some value of the type.
    function isCanonical(IERCAgentTool.ParamType paramType, bytes memory value) internal pure returns (bool) {
        if (!isDynamic(paramType)) return value.length == 32 && wordAt(value, 0) <= maxWord(paramType);
        if (value.length < 64 || wordAt(value, 0) != 32) return false;
        if (paramType == IERCAgentTool.ParamType.STRING) return textEnd(value, 32) == value.length;
        uint256 count = wordAt(value, 32);
        // Every element has a word of its own; this also keeps the sums below small.
        if (count > (value.length - 64) / 32) return false;
        if (paramType == IERCAgentTool.ParamType.STRING_ARRAY) return _isTexts(value, count);
        if (value.length != 64 + 32 * count) return false;
        uint256 most = maxWord(elementType(paramType));
        for (uint256 i; i < count; ++i) {
            if (wordAt(value, 64 + 32 * i) > most) return false;
        }
        return true;
    }

    /// @notice Type of an array's elements.
    function elementType(IERCAgentTool.ParamType array) internal pure returns (IERCAgentTool.ParamType) {
        return IERCAgentTool.ParamType(uint8(array) - uint8(IERCAgentTool.ParamType.STRING_ARRAY));
    }

    /// @notice The word that starts at a byte of a value.
    function wordAt(bytes memory value, uint256 position) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(add(value, 32), position))
        }
    }

    /// @notice Largest word of a type that is one word.
    function maxWord(IERCAgentTool.ParamType paramType) internal pure returns (uint256) {
        if (paramType == IERCAgentTool.ParamType.ADDRESS) return type(uint160).max;
        return paramType == IERCAgentTool.ParamType.BOOL ? 1 : type(uint256).max;
    }

    /// @notice Where a text ends whose length is at a byte, padding included.
    /// @return end NOWHERE if it is not inside the value, or padded with anything but zeros
    function textEnd(bytes memory value, uint256 position) internal pure returns (uint256 end) {
        if (position + 32 > value.length) return NOWHERE;
        uint256 length = wordAt(value, position);
        if (length > value.length) return NOWHERE;
        end = position + 32 + (length + 31) / 32 * 32;
        if (end > value.length) return NOWHERE;
        uint256 used = length % 32;
        if (used != 0 && wordAt(value, end - 32) << (8 * used) != 0) return NOWHERE;
    }

    /// @dev Offsets of the texts, then the texts, one behind the other.
    function _isTexts(bytes memory value, uint256 count) private pure returns (bool) {
        uint256 end = 64 + 32 * count;
        for (uint256 i; i < count; ++i) {
            if (wordAt(value, 64 + 32 * i) != end - 64) return false;
            end = textEnd(value, end);
            if (end == NOWHERE) return false;
        }
        return end == value.length;
    }
}
