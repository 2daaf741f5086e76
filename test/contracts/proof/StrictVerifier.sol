// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice A verifier that says yes to calldata as a standard encoder writes them, and to nothing else.
contract StrictVerifier {
    function verifyProof(bytes calldata proof, uint256[] calldata instances) external pure returns (bool) {
        bytes memory standard = abi.encodeWithSelector(this.verifyProof.selector, proof, instances);
        return keccak256(msg.data) == keccak256(standard);
    }
}
