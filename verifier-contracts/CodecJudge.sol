// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ICodecJudge} from "./interfaces/ICodecJudge.sol";
import {Merkle} from "./libraries/Merkle.sol";
import {ModelWord} from "./libraries/ModelWord.sol";
import {ProgramReader} from "./libraries/ProgramReader.sol";
import {RecordHead} from "./libraries/RecordHead.sol";
import {Shapes} from "./libraries/Shapes.sol";
import {Claimed} from "./opcodes/codecs/Claimed.sol";
import {Inputs} from "./opcodes/codecs/Inputs.sol";
import {Outputs} from "./opcodes/codecs/Outputs.sol";
import {CODEC_CLAIMED, LAYOUT_PLAIN, OP_CODEC, Record, Tensor, UnknownVariant} from "./types/Program.sol";

/// @notice The codecs for the judge of single elements; holds no state.
contract CodecJudge is ICodecJudge {
    /// @inheritdoc ICodecJudge
    function isCanonicalInput(ModelWord modelWord, bytes calldata input) external pure returns (bool) {
        return Inputs.isCanonical(modelWord, input);
    }

    /// @inheritdoc ICodecJudge
    function inputRoot(ModelWord modelWord, Record calldata record, bytes calldata input)
        external
        pure
        returns (bytes32 tensorRoot)
    {
        unchecked {
            Tensor memory t = _inputTensor(record);
            uint256 pointer = Inputs.allocate(32 * (t.rows * t.words + 1));
            Inputs.write(modelWord, record.head.attribute(), t, Inputs.load(input), pointer);
            return Merkle.tensorRoot(pointer, t.rows, t.words, t.wordBits, t.height);
        }
    }

    /// @inheritdoc ICodecJudge
    function claimedRoot(ModelWord modelWord, Record calldata record, bytes calldata output)
        external
        pure
        returns (bytes32 tensorRoot)
    {
        unchecked {
            Tensor memory t = _tensor(record);
            uint256 content = Inputs.allocate(output.length + 32);
            assembly ("memory-safe") {
                calldatacopy(content, output.offset, output.length)
            }
            uint256 pointer = Inputs.allocate(32 * (t.rows * t.words + 1));
            Claimed.write(modelWord.outputCodec(), t, content, pointer);
            return Merkle.tensorRoot(pointer, t.rows, t.words, t.wordBits, t.height);
        }
    }

    /// @inheritdoc ICodecJudge
    function inputElements(ModelWord modelWord, Record calldata record, bytes calldata input)
        external
        pure
        returns (bytes memory stored)
    {
        unchecked {
            Tensor memory t = _inputTensor(record);
            uint256 size = t.rows * t.last * Shapes.elementBytes(t.code);
            // A word more: what stands behind the last row is written, too.
            stored = new bytes(size + 32);
            uint256 pointer;
            assembly ("memory-safe") {
                mstore(stored, size)
                pointer := add(stored, 0x20)
            }
            Inputs.writePacked(modelWord, record.head.attribute(), t, Inputs.load(input), pointer);
        }
    }

    /// @inheritdoc ICodecJudge
    function isCanonicalOutput(ModelWord modelWord, Record calldata record, bytes calldata output)
        external
        pure
        returns (bool)
    {
        return Outputs.isCanonical(modelWord.outputCodec(), _tensor(record), output);
    }

    /// @inheritdoc ICodecJudge
    function outputElement(
        ModelWord modelWord,
        Record calldata record,
        bytes calldata output,
        uint256 element,
        uint256 stored
    ) external pure returns (uint256 expected, uint256 claimed) {
        uint256 codec = modelWord.outputCodec();
        uint256 code = record.head.outputType();
        return (Outputs.encodeElement(codec, code, stored), Outputs.elementAt(codec, code, output, element));
    }

    /// @dev Of a step that calldata make: they say nothing of the claimed output.
    function _inputTensor(Record calldata record) private pure returns (Tensor memory) {
        if (record.head.variant() == CODEC_CLAIMED) revert UnknownVariant(OP_CODEC, CODEC_CLAIMED);
        return _tensor(record);
    }

    function _tensor(Record calldata record) private pure returns (Tensor memory t) {
        RecordHead head = record.head;
        return Shapes.tensor(LAYOUT_PLAIN, head.outputType(), head.outputRank(), record.shape);
    }
}
