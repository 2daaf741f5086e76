// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelWord} from "../libraries/ModelWord.sol";
import {ModelId, Opening} from "../types/Types.sol";

/// @notice Judges single elements, codec steps and outputs of a committed trace. Views: they hold no state or money.
interface IJudge {
    /// @notice Thrown when the model has no such step.
    error StepOutOfRange(uint256 step, uint256 steps);
    /// @notice Thrown when the step's tensor has no such element.
    error ElementOutOfRange(uint256 element, uint256 elements);
    /// @notice Thrown when judgeElement is asked for a CODEC step, or judgeCodec for another.
    error WrongOpcode(uint256 step, uint256 opcode);
    /// @notice Thrown when there are more or fewer openings than the element's opcode and operands ask for.
    error WrongOpeningCount(uint256 openings, uint256 required);
    /// @notice Thrown when an opening, or the output, has another number of words than its place in the tree.
    error WrongWordCount(uint256 words, uint256 required);
    /// @notice Thrown when a path has another number of siblings than its place in the tree.
    error WrongPathLength(uint256 length, uint256 required);
    /// @notice Thrown when an opening does not fold to the trace root or the weights root.
    error WrongRoot(bytes32 folded, bytes32 required);
    /// @notice Thrown when judgeCodec is given calldata that no request, or an output that no claim can hold.
    error InputNotCanonical();

    /// @notice Computes the stored bytes of one element of a step's tensor from opened operands.
    /// Reverts if an opening does not fold to the trace root or the weights root, never because of what the opened
    /// words say.
    /// @param element row-major index of the element
    /// @param openings in the order of docs/PROTOCOL.md, section 4; the first is the output's word
    /// @return expected the right stored bytes, right-aligned @return claimed the trace's stored bytes
    function judgeElement(
        ModelId modelId,
        bytes32 traceRoot,
        uint256 step,
        uint256 element,
        Opening[] calldata openings
    ) external view returns (uint256 expected, uint256 claimed);

    /// @notice Recomputes the tensor of a CODEC step from calldata, or of a step of variant claimed from the claimed
    /// output. Whose bytes they are is the caller's to check, by the second value.
    /// @param input calldata, or return data @param path siblings from the claimed tensor root to the trace root
    /// @return expectedRoot the right tensor root; reverts if tensorRoot is not in the trace
    /// @return isOutput true if input has to be the claimed output
    function judgeCodec(
        ModelId modelId,
        bytes32 traceRoot,
        uint256 step,
        bytes calldata input,
        bytes32 tensorRoot,
        bytes32[] calldata path
    ) external view returns (bytes32 expectedRoot, bool isOutput);

    /// @notice Encodes one element of the last step's tensor as the return data has it, and reads it from the output.
    /// An output whose form is wrong (length, ABI words, padding) is a fault by itself: it takes no openings, and
    /// element does not count.
    /// @param output return data, as they are claimed
    /// @param element row-major index in the last step's tensor @param openings the word that holds it
    /// @return expected the element encoded: an int256 of words, 2 bytes of lanes, the element's bytes of raw,
    /// right-aligned; 1 where the form is wrong
    /// @return claimed what the output holds there; 0 where the form is wrong
    function judgeOutput(
        ModelId modelId,
        bytes32 traceRoot,
        bytes calldata output,
        uint256 element,
        Opening[] calldata openings
    ) external view returns (uint256 expected, uint256 claimed);

    /// @notice Checks that calldata is the canonical encoding that the model's input codec takes.
    function isCanonicalInput(ModelWord modelWord, bytes calldata input) external view returns (bool);
}
