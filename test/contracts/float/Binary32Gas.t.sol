// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {Binary32} from "verifier-contracts/libraries/Binary32.sol";

/// @notice Gas of one operation inside a contract, on random normal operands: the most of 256 each.
contract Binary32GasTest is Test {
    function test_add_gas_succeeds() public view {
        _check("add", Binary32.add, 850);
    }

    function test_mul_gas_succeeds() public view {
        _check("mul", Binary32.mul, 800);
    }

    function test_div_gas_succeeds() public view {
        _check("div", Binary32.div, 850);
    }

    function test_sqrt_gas_succeeds() public view {
        _check("sqrt", _sqrt, 500);
    }

    function test_scaledNearest_gas_succeeds() public view {
        _check("scaledNearest", _scaledNearest, 1050);
    }

    function _sqrt(uint256 a, uint256) private pure returns (uint256) {
        return Binary32.sqrt(a & 0x7FFFFFFF);
    }

    function _scaledNearest(uint256 a, uint256 b) private pure returns (uint256) {
        int256 acc = int256(int32(uint32(a))) >> (b & 15);
        // Scales of 2^-1 to 2^-16: no result is 0 or saturated only.
        return uint256(Binary32.scaledNearest(acc, (b & 0x7FFFFF) | ((111 + (a & 15)) << 23)));
    }

    function _check(
        string memory name,
        function(uint256, uint256) internal pure returns (uint256) operation,
        uint256 limit
    ) private view {
        uint256 most;
        uint256 seed = 1;
        for (uint256 i = 0; i < 256; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            uint256 a = _number(seed);
            uint256 b = _number(seed >> 64);
            uint256 before = gasleft();
            operation(a, b);
            uint256 used = before - gasleft();
            if (used > most) most = used;
        }
        assertLe(most, limit, name);
    }

    /// @dev 2^-12 to 2^13, either sign.
    function _number(uint256 random) private pure returns (uint256) {
        return (random & 0x807FFFFF) | ((115 + ((random >> 40) % 25)) << 23);
    }
}
