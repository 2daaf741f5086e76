// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine} from "../../libraries/Machine.sol";
import {Memory} from "../../libraries/Memory.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {CODEC_CLAIMED, OP_CODEC, Record, UnknownVariant} from "../../types/Program.sol";

/// @notice CODEC: the tensor that the calldata of a run make.
library CodecRows {
    /// @notice Asks the codec judge: the tensor is the one that it would commit to.
    function run(Machine memory m, uint256 record, RecordHead head, Flat out)
        internal
        view
        returns (Flat flat)
    {
        if (head.variant() == CODEC_CLAIMED) revert UnknownVariant(OP_CODEC, CODEC_CLAIMED);
        Record memory r;
        bytes calldata input;
        (uint256 offset, uint256 length) = (m.inputOffset, m.inputLength);
        assembly ("memory-safe") {
            mcopy(r, record, 0x80)
            input.offset := offset
            input.length := length
        }
        bytes memory stored = m.codecJudge.inputElements(m.word, r, input);
        assembly ("memory-safe") {
            flat := or(out, add(stored, 0x20))
        }
        Memory.reserve(0); // room behind it
    }
}
