// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Swar} from "../../../verifier-contracts/libraries/Swar.sol";
import {Test} from "../support/Test.sol";

contract SwarTest is Test {
    function _checkQuotients(uint256 x, uint256 y) private pure {
        uint256 place;
        assembly ("memory-safe") {
            place := mload(0x40)
            mstore(place, x)
            mstore(add(place, 0x20), y)
            mstore(0x40, add(place, 0x60))
        }
        Swar.divide(place + 64, place + 96, place, place + 32);
        for (uint256 i = 0; i < 8; ++i) {
            uint256 shift = 32 * i;
            int256 a = int32(uint32(x >> shift));
            int256 b = int32(uint32(y >> shift));
            uint256 q;
            assembly ("memory-safe") {
                q := and(shr(shift, mload(add(place, 64))), 0xFFFFFFFF)
            }
            assertEq(q, uint32(int32(b < 1 ? int256(0) : a / b)));
        }
    }

    function testFuzz_divide_equalsInt32_succeeds(uint256 x, uint256 y) public pure {
        _checkQuotients(x, y);
    }

    /// @dev One power of two in every lane, 0 and −2^31 too, and it in all lanes but one.
    function testFuzz_divide_powersOfTwo_succeeds(uint256 x, uint8 lane) public pure {
        uint256 ones = type(uint256).max / 0xFFFFFFFF;
        for (uint256 power = 0; power <= 32; ++power) {
            uint256 d = (uint256(1) << power) & 0xFFFFFFFF;
            _checkQuotients(x, d * ones);
            _checkQuotients(x, (d * ones) ^ (uint256(1) << lane));
            // Dividends around multiples of the divisor.
            _checkQuotients((d * ones) ^ (x & (3 * ones)), d * ones);
            _checkQuotients(~((d * ones) ^ (x & (3 * ones))), d * ones);
        }
        _checkQuotients(ones << 31, ones);
        _checkQuotients(ones << 31, ones << 30);
    }
}
