// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IJudge} from "../interfaces/IJudge.sol";
import {Memory} from "../libraries/Memory.sol";
import {Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {RecordHead} from "../libraries/RecordHead.sol";
import {Scan} from "../libraries/Scan.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {
    CODEC_CLAIMED,
    INPUT_INT16S,
    INPUT_PRICES,
    INPUT_TEXT,
    OP_CODEC,
    ProgramField
} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice CODEC: calldata, or the claimed output, to a tensor, which is judged whole (opcodes/codecs; docs/EXACT.md, section 3).
library Codec {
    /// @dev A tensor that is judged whole has at most 2^12 leaves.
    uint256 private constant MAX_WHOLE_HEIGHT = 12;
    uint256 private constant MATRIX = 2;
    /// @dev Of a text: tokens, ids of a token, rows of the table that they name (row 0 is none of them).
    uint256 private constant MAX_TOKENS = 64;
    uint256 private constant MAX_TOKEN_IDS = 16;
    uint256 private constant MIN_TABLE_ROWS = 2;
    uint256 private constant MAX_TABLE_ROWS = 2 ** 24;
    /// @dev Of prices: returns of closes, highs and lows, one fewer than the prices.
    uint256 private constant PRICE_ROWS = 3;
    /// @dev The version of the judge that has the variant of the claimed output.
    uint256 private constant CLAIMED_VERSION = 2;

    /// @dev No element of it is judged by itself.
    function judge(Trial memory t, Opening[] calldata) internal pure returns (uint256) {
        revert IJudge.WrongOpcode(t.out.index, OP_CODEC);
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        unchecked {
            StepRules.none(s, 0);
            StepRules.none(s, 1);
            StepRules.none(s, 2);
            uint256 height = s.own.height();
            if (height > MAX_WHOLE_HEIGHT) StepRules.fail(s, ProgramField.SIZE, 1 << height);
            if (s.head.variant() == CODEC_CLAIMED) return _claimedRules(s);
            if (s.head.variant() != s.inputCodec) {
                StepRules.fail(s, ProgramField.VARIANT, s.head.variant());
            }
            uint256 k = s.head.attribute();
            uint256 rank = s.head.outputRank();
            uint256 rows = s.own.rows();
            uint256 last = s.own.last();
            if (s.inputCodec == INPUT_TEXT) {
                StepRules.outputType(s, StepRules.S32);
                if (rank != MATRIX || rows > MAX_TOKENS || last > MAX_TOKEN_IDS) {
                    StepRules.fail(s, ProgramField.DIMS, s.shape);
                }
                if (k < MIN_TABLE_ROWS || k > MAX_TABLE_ROWS) StepRules.fail(s, ProgramField.K, k);
            } else if (s.inputCodec == INPUT_PRICES) {
                StepRules.outputType(s, StepRules.S32);
                if (rank != MATRIX || rows != PRICE_ROWS || last != s.inputSize - 1) {
                    StepRules.fail(s, ProgramField.DIMS, s.shape);
                }
                StepRules.noAttribute(s);
            } else if (s.inputCodec == INPUT_INT16S) {
                StepRules.outputType(s, StepRules.S32);
                if (k + rows * last > s.inputSize) StepRules.fail(s, ProgramField.K, k);
            } else if (k + rows * last * Shapes.elementBytes(s.own.code()) > s.inputSize) {
                StepRules.fail(s, ProgramField.K, k);
            }
        }
    }

    /// @dev It is the last step's tensor.
    function _claimedRules(Scan memory s) private pure {
        StepRules.outputType(s, StepRules.BYTES | StepRules.S32);
        unchecked {
            uint256 pointer = s.records + ProgramReader.RECORD_BYTES * (s.steps - 1);
            uint256 code = RecordHead.wrap(Memory.load(pointer)).outputType();
            if (s.own.code() != code) StepRules.fail(s, ProgramField.TYPE, s.own.code());
            if (s.shape != Memory.load(pointer + 32)) StepRules.fail(s, ProgramField.DIMS, s.shape);
        }
        StepRules.noAttribute(s);
        s.needs(CLAIMED_VERSION);
        StepRules.withoutKernel(s);
    }
}
