// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Rows} from "../../../../verifier-contracts/execution/compiled/Rows.sol";
import {Test} from "../../support/Test.sol";

/// @dev What the builder finds out of a row, against the plainest loop: where it is wrong, a layer may still run right by
/// chance, since few activations reach a lane's limit.
contract RowsTest is Test {
    /// @dev Any bytes, few kinds of bytes, or one; what stands behind the row is none of it.
    function _row(uint256 seed) private pure returns (uint256[31] memory words) {
        uint256 style = seed % 4;
        for (uint256 i = 0; i < 31; ++i) {
            uint256 word = uint256(keccak256(abi.encode(seed, i)));
            if (style == 1) word &= 0xFF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00;
            if (style == 2) word |= 0xFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEFE;
            if (style == 3) word = (seed >> 8) % 256 * (type(uint256).max / 255);
            words[i] = word;
        }
    }

    /// forge-config: default.fuzz.runs = 2000
    function testFuzz_roomOf_plainLoop_succeeds(uint256 seed, uint256 length, uint256 offset) public pure {
        length = bound(length, 1, 992);
        offset = seed & 256 == 0 ? 128 : bound(offset, 0, 300);
        uint256[31] memory words = _row(seed);
        uint256 above = 0;
        uint256 below = 0;
        for (uint256 i = 0; i < length; ++i) {
            uint256 weight = (words[i / 32] >> (8 * (i % 32))) & 0xFF;
            if (weight > offset) above += weight - offset;
            else below += offset - weight;
        }
        uint256 most = 255 * (above > below ? above : below);
        uint256 room = offset > 255 || most >= 1 << 23 ? 0 : (1 << 23) - most;
        uint256 place;
        assembly ("memory-safe") {
            place := words
        }
        assertEq(Rows.roomOf(place, length, offset), room);
    }
}
