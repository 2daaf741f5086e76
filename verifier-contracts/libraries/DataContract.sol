// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Bytes as the code of a contract, behind a STOP byte so that nobody can run them. The same bytes of the same
/// creator have the same address.
library DataContract {
    /// @param data at most 24,575 bytes
    function initCode(bytes calldata data) internal pure returns (bytes memory) {
        return bytes.concat(prefix(data.length), data);
    }

    /// @notice Init code of so many bytes, without them.
    /// @dev It returns what follows its ten bytes (RETURNDATASIZE is a cheap 0): PUSH2 size, DUP1, PUSH1 10,
    /// RETURNDATASIZE, CODECOPY, RETURNDATASIZE, RETURN; then STOP and the bytes.
    function prefix(uint256 length) internal pure returns (bytes memory) {
        return abi.encodePacked(hex"61", uint16(length + 1), hex"80600a3d393df3", hex"00");
    }

    /// @notice Where this contract creates them, or has.
    function addressOf(bytes memory init) internal view returns (address) {
        bytes32 digest = keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), keccak256(init)));
        return address(uint160(uint256(digest)));
    }

    /// @return created false if there was too little gas, about 200 a byte: only the creation failed then
    function create(bytes memory init, address pointer) internal returns (bool created) {
        address made;
        assembly ("memory-safe") {
            made := create2(0, add(init, 0x20), mload(init), 0)
        }
        return made == pointer;
    }
}
