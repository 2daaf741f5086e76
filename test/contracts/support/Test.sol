// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {InvariantTargets} from "./InvariantTargets.sol";
import {Vm} from "./Vm.sol";

/// @notice Base of every contract test: cheatcodes, assertions with messages, bounds.
abstract contract Test is InvariantTargets {
    /// @dev Where forge answers cheatcodes: the low 20 bytes of keccak256("hevm cheat code").
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    /// @notice The address of a key made from a name, labelled with the name.
    function makeAddr(string memory name) internal returns (address account) {
        (account,) = makeAddrAndKey(name);
    }

    function makeAddrAndKey(string memory name) internal returns (address account, uint256 privateKey) {
        privateKey = uint256(keccak256(bytes(name)));
        account = vm.addr(privateKey);
        vm.label(account, name);
    }

    /// @notice Gives an account ether and makes it the caller of the next call.
    function hoax(address account, uint256 balanceWei) internal {
        vm.deal(account, balanceWei);
        vm.prank(account);
    }

    /// @notice Moves the clock forward.
    function skip(uint256 periodSeconds) internal {
        vm.warp(vm.getBlockTimestamp() + periodSeconds);
    }

    /// @notice Maps any number into [min, max]; numbers inside stay, the smallest and largest four
    ///         numbers map to the edges, so that a fuzzer that likes extremes still tries them.
    function bound(uint256 x, uint256 min, uint256 max) internal pure returns (uint256) {
        require(min <= max, "bound: min > max");
        if (x >= min && x <= max) return x;
        unchecked {
            uint256 size = max - min + 1;
            if (size == 0) return x;
            if (x < 4 && x < size) return min + x;
            uint256 fromTop = type(uint256).max - x;
            if (fromTop < 4 && fromTop < size) return max - fromTop;
            return min + x % size;
        }
    }

    function bound(int256 x, int256 min, int256 max) internal pure returns (int256) {
        require(min <= max, "bound: min > max");
        unchecked {
            uint256 offset = uint256(1) << 255;
            return int256(bound(uint256(x) + offset, uint256(min) + offset, uint256(max) + offset) - offset);
        }
    }

    function assertTrue(bool condition) internal pure {
        vm.assertTrue(condition);
    }

    function assertTrue(bool condition, string memory reason) internal pure {
        vm.assertTrue(condition, reason);
    }

    function assertFalse(bool condition) internal pure {
        vm.assertFalse(condition);
    }

    function assertFalse(bool condition, string memory reason) internal pure {
        vm.assertFalse(condition, reason);
    }

    function assertEq(bool left, bool right) internal pure {
        vm.assertEq(left, right);
    }

    function assertEq(bool left, bool right, string memory reason) internal pure {
        vm.assertEq(left, right, reason);
    }

    function assertEq(uint256 left, uint256 right) internal pure {
        vm.assertEq(left, right);
    }

    function assertEq(uint256 left, uint256 right, string memory reason) internal pure {
        vm.assertEq(left, right, reason);
    }

    function assertEq(int256 left, int256 right) internal pure {
        vm.assertEq(left, right);
    }

    function assertEq(int256 left, int256 right, string memory reason) internal pure {
        vm.assertEq(left, right, reason);
    }

    function assertEq(address left, address right) internal pure {
        vm.assertEq(left, right);
    }

    function assertEq(address left, address right, string memory reason) internal pure {
        vm.assertEq(left, right, reason);
    }

    function assertEq(bytes32 left, bytes32 right) internal pure {
        vm.assertEq(left, right);
    }

    function assertEq(bytes32 left, bytes32 right, string memory reason) internal pure {
        vm.assertEq(left, right, reason);
    }

    function assertEq(bytes memory left, bytes memory right) internal pure {
        vm.assertEq(left, right);
    }

    function assertEq(bytes memory left, bytes memory right, string memory reason) internal pure {
        vm.assertEq(left, right, reason);
    }

    function assertEq(string memory left, string memory right) internal pure {
        vm.assertEq(left, right);
    }

    function assertEq(string memory left, string memory right, string memory reason) internal pure {
        vm.assertEq(left, right, reason);
    }

    function assertNotEq(uint256 left, uint256 right) internal pure {
        vm.assertNotEq(left, right);
    }

    function assertNotEq(uint256 left, uint256 right, string memory reason) internal pure {
        vm.assertNotEq(left, right, reason);
    }

    function assertNotEq(bytes32 left, bytes32 right) internal pure {
        vm.assertNotEq(left, right);
    }

    function assertNotEq(bytes32 left, bytes32 right, string memory reason) internal pure {
        vm.assertNotEq(left, right, reason);
    }

    function assertNotEq(address left, address right) internal pure {
        vm.assertNotEq(left, right);
    }

    function assertNotEq(bytes memory left, bytes memory right) internal pure {
        vm.assertNotEq(left, right);
    }

    function assertLt(uint256 left, uint256 right) internal pure {
        vm.assertLt(left, right);
    }

    function assertLt(uint256 left, uint256 right, string memory reason) internal pure {
        vm.assertLt(left, right, reason);
    }

    function assertLe(uint256 left, uint256 right) internal pure {
        vm.assertLe(left, right);
    }

    function assertLe(uint256 left, uint256 right, string memory reason) internal pure {
        vm.assertLe(left, right, reason);
    }

    function assertGt(uint256 left, uint256 right) internal pure {
        vm.assertGt(left, right);
    }

    function assertGt(uint256 left, uint256 right, string memory reason) internal pure {
        vm.assertGt(left, right, reason);
    }

    function assertGe(uint256 left, uint256 right) internal pure {
        vm.assertGe(left, right);
    }

    function assertGe(uint256 left, uint256 right, string memory reason) internal pure {
        vm.assertGe(left, right, reason);
    }
}
