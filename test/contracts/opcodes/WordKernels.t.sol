// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Prices} from "../../../verifier-contracts/opcodes/codecs/Prices.sol";
import {Test} from "../support/Test.sol";

/// @notice Kernels that work on several elements a word, against loops over single ones.
contract WordKernelsTest is Test {
    /// @dev Prices around each other, so that returns are near the clamp, at the cap, zero and anything.
    function testFuzz_prices_equalsLoop_succeeds(uint256 seed, uint256 n) public pure {
        n = bound(n, 2, 40);
        uint256[] memory prices = new uint256[](3 * n);
        for (uint256 i = 0; i < 3 * n; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            uint256 kind = (seed >> 128) & 1 == 0 ? 0 : random & 15;
            prices[i] = 1000 + (random >> 32) % 50;
            if (kind == 1) prices[i] = 0;
            if (kind == 2) prices[i] = random;
            if (kind == 3) prices[i] = type(uint128).max - ((random >> 8) & 1);
            if (kind == 4) prices[i] = 2500 + (random >> 32) % 4000;
            if (kind == 5) prices[i] = 1 << 128;
        }
        _check(prices, n);
    }

    /// @dev Prices above the cap whose lower 128 bits are all zero.
    function test_prices_multiplesOfTheCap_succeeds() public pure {
        for (uint256 seed = 0; seed < 64; ++seed) {
            uint256[] memory prices = new uint256[](6);
            for (uint256 i = 0; i < 6; ++i) {
                prices[i] = (1 + ((seed >> i) & 1)) << 128;
            }
            _check(prices, 2);
        }
    }

    function _check(uint256[] memory prices, uint256 n) private pure {
        bytes memory out = new bytes(12 * (n - 1) + 32);
        for (uint256 i = 0; i < out.length; ++i) {
            out[i] = 0xAA;
        }
        uint256 first;
        uint256 target;
        assembly ("memory-safe") {
            first := add(prices, 32)
            target := add(out, 32)
        }
        Prices.write(first, first + 32 * n, first + 64 * n, n, target, 4 * (n - 1));
        for (uint256 i = 0; i + 1 < n; ++i) {
            int256 close = _capped(prices[i + 1]);
            int256 before = _capped(prices[i]);
            int256 range = _capped(prices[n + i + 1]) - _capped(prices[2 * n + i + 1]);
            assertEq(_element(out, i), _return(close - before, before), "rise");
            assertEq(_element(out, n - 1 + i), _return(range, close), "range");
            assertEq(_element(out, 2 * (n - 1) + i), _return(_capped(prices[n - 1]) - close, close), "rest");
        }
        // What is behind the rows stays.
        for (uint256 i = 12 * (n - 1); i < out.length; ++i) {
            assertEq(uint8(out[i]), 0xAA, "behind");
        }
    }

    function _capped(uint256 price) private pure returns (int256) {
        return int256(price > type(uint128).max ? type(uint128).max : price);
    }

    function _return(int256 difference, int256 divisor) private pure returns (int256 quotient) {
        if (divisor == 0) return 0;
        quotient = difference * 10_000 / divisor;
        if (quotient > 32_767) quotient = 32_767;
        if (quotient < -32_767) quotient = -32_767;
    }

    function _element(bytes memory out, uint256 i) private pure returns (int256) {
        uint256 word;
        assembly ("memory-safe") {
            word := mload(add(add(out, 32), mul(4, i)))
        }
        return int32(uint32(word >> 224));
    }
}
