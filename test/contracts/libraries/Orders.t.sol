// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Order, Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {Test} from "../support/Test.sol";

/// @notice Two readers of an order, the books' and the proofs'.
contract OrdersTest is Test {
    function readHash(bytes calldata filed) external view returns (bytes32 inputHash) {
        Order o = Orders.readFiled(ModelId.wrap(0), filed);
        assembly ("memory-safe") {
            inputHash := mload(add(o, 128))
        }
    }

    function inputHashOf(bytes calldata filed) external pure returns (bytes32) {
        return keccak256(Orders.inputOf(filed));
    }

    function testFuzz_inputOf_asRead_succeeds(bytes memory filed, uint8 parts) public view {
        if (filed.length > 20) filed[20] = bytes1(parts % 16);
        (bool read, bytes memory found) = address(this).staticcall(abi.encodeCall(this.readHash, (filed)));
        (bool taken, bytes memory input) = address(this).staticcall(abi.encodeCall(this.inputHashOf, (filed)));
        assertEq(read, taken, "one refuses");
        assertEq(found, input, "another input, or another reason");
    }
}
