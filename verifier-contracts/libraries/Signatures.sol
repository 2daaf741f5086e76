// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPromisesErrors} from "../interfaces/IPromisesErrors.sol";

/// @notice ECDSA over secp256k1, in the one form that cannot be changed into another.
library Signatures {
    uint256 private constant BYTES = 65;
    uint256 private constant V_AT = 64;
    /// @dev Half of the group's order, rounded down.
    bytes32 private constant MAX_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    /// @notice The key's address. Code at that address has no say.
    /// @param signature r, s and v, which is 27 or 28
    function recover(bytes32 digest, bytes calldata signature) internal pure returns (address key) {
        if (signature.length != BYTES) revert IPromisesErrors.SignatureLengthWrong(signature.length, BYTES);
        bytes32 r = bytes32(signature);
        bytes32 s = bytes32(signature[32:]);
        uint8 v = uint8(signature[V_AT]);
        if (s > MAX_S) revert IPromisesErrors.SignatureMalleable(s, MAX_S);
        key = ecrecover(digest, v, r, s);
        if (key == address(0)) revert IPromisesErrors.SignatureInvalid(v);
    }
}
