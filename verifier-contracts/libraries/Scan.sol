// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ProgramPart} from "../types/Program.sol";
import {Facts} from "./Facts.sol";
import {RecordHead} from "./RecordHead.sol";

/// @notice A program in memory while it is validated.
/// @param descriptors memory of the first weight descriptor @param records memory of the first record
/// @param facts of the weight tensors, then of the steps so far
/// @param index of the tensor or step at hand @param pointer memory of its record
/// @param head and shape its first two words @param own facts of its tensor
/// @param judgeVersion that the steps so far need @param unexecutable 1 + the first step that no interpreter runs, or 0
struct Scan {
    uint256 weights;
    uint256 steps;
    uint256 inputCodec;
    uint256 outputCodec;
    uint256 inputSize;
    uint256 descriptors;
    uint256 records;
    Facts[] facts;
    ProgramPart part;
    uint256 index;
    uint256 pointer;
    RecordHead head;
    uint256 shape;
    Facts own;
    uint256 judgeVersion;
    uint256 unexecutable;
}

using {keep, kept, needs} for Scan global;

/// @notice `s.facts[index] = facts` of an index that is in it.
function keep(Scan memory s, uint256 index, Facts facts) pure {
    Facts[] memory all = s.facts;
    assembly ("memory-safe") {
        mstore(add(add(all, 0x20), shl(5, index)), facts)
    }
}

/// @notice `s.facts[index]` of an index that is in it.
function kept(Scan memory s, uint256 index) pure returns (Facts facts) {
    Facts[] memory all = s.facts;
    assembly ("memory-safe") {
        facts := mload(add(add(all, 0x20), shl(5, index)))
    }
}

/// @notice The step at hand needs this version of the judge.
function needs(Scan memory s, uint256 version) pure {
    if (s.judgeVersion < version) s.judgeVersion = version;
}
