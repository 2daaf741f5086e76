// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

struct TokenPermissions {
    address token;
    uint256 amount;
}

struct PermitTransferFrom {
    TokenPermissions permitted;
    uint256 nonce;
    uint256 deadline;
}

struct SignatureTransferDetails {
    address to;
    uint256 requestedAmount;
}

/// @notice Transfers by signature with a witness, as the contract of that name makes them on public chains, for local
/// chains that have none. It has no constants of its own, so that its code works at any address.
contract Permit2 {
    using SafeERC20 for IERC20;

    /// @notice Thrown after the deadline.
    error SignatureExpired(uint256 deadline);
    /// @notice Thrown for more than was signed.
    error InvalidAmount(uint256 maxAmount);
    /// @notice Thrown for a nonce that was used.
    error InvalidNonce();
    /// @notice Thrown for a signature that is not the owner's.
    error InvalidSigner();

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
    bytes32 private constant PERMISSIONS = keccak256("TokenPermissions(address token,uint256 amount)");
    string private constant PERMIT =
        "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,";

    mapping(address owner => mapping(uint256 word => uint256)) public nonceBitmap;

    /// @notice Moves the owner's tokens once, up to what the owner signed for the sender and the witness.
    /// @param witnessTypeString how the type's string goes on after `deadline`
    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata details,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external {
        if (block.timestamp > permit.deadline) {
            revert SignatureExpired(permit.deadline);
        }
        if (details.requestedAmount > permit.permitted.amount) revert InvalidAmount(permit.permitted.amount);
        _use(owner, permit.nonce);
        bytes32 permissions =
            keccak256(abi.encode(PERMISSIONS, permit.permitted.token, permit.permitted.amount));
        bytes32 message = keccak256(
            abi.encode(
                keccak256(abi.encodePacked(PERMIT, witnessTypeString)),
                permissions,
                msg.sender,
                permit.nonce,
                permit.deadline,
                witness
            )
        );
        bytes32 domain = keccak256(abi.encode(DOMAIN, keccak256("Permit2"), block.chainid, address(this)));
        bytes32 digest = MessageHashUtils.toTypedDataHash(domain, message);
        if (!SignatureChecker.isValidSignatureNow(owner, digest, signature)) revert InvalidSigner();
        IERC20(permit.permitted.token).safeTransferFrom(owner, details.to, details.requestedAmount);
    }

    function _use(address owner, uint256 nonce) private {
        uint256 bit = 1 << (nonce & 0xff);
        uint256 used = nonceBitmap[owner][nonce >> 8];
        if (used & bit != 0) revert InvalidNonce();
        nonceBitmap[owner][nonce >> 8] = used | bit;
    }
}
