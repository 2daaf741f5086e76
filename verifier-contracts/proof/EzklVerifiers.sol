// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IEzklVerifiers} from "../interfaces/IEzklVerifiers.sol";

/// @notice Creates verifier contracts at addresses that follow from their code. Anybody may; nobody owns this. Nothing
/// trusts it: what counts of a verifier is the hash of its code.
contract EzklVerifiers is IEzklVerifiers {
    /// @inheritdoc IEzklVerifiers
    function create(bytes memory initCode) external returns (address verifier) {
        verifier = addressOf(keccak256(initCode));
        if (verifier.code.length != 0) return verifier;
        address created;
        assembly ("memory-safe") {
            created := create2(0, add(initCode, 0x20), mload(initCode), 0)
        }
        // Where nothing was created it is address 0, which has none.
        if (created.code.length == 0) revert VerifierNotCreated(initCode.length);
    }

    /// @inheritdoc IEzklVerifiers
    function addressOf(bytes32 initCodeHash) public view returns (address) {
        bytes32 digest = keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), initCodeHash));
        return address(uint160(uint256(digest)));
    }
}
