// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Permit2, PermitTransferFrom, SignatureTransferDetails} from "./Permit2.sol";

/// @notice The spender of x402's scheme `upto`, for local chains: only the facilitator that the payer signed may take a
/// payment, and only to whom the payer signed.
contract UptoPermit2Proxy {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    /// @notice Thrown for a sender that the payer did not sign.
    error UnauthorizedFacilitator();
    /// @notice Thrown for more than the payer signed.
    error AmountExceedsPermitted();
    /// @notice Thrown for a payment to nobody.
    error InvalidDestination();
    /// @notice Thrown before the payment is valid.
    error PaymentTooEarly();

    event Settled();

    bytes32 private constant WITNESS =
        keccak256("Witness(address to,address facilitator,uint256 validAfter)");
    string private constant REST =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

    // solhint-disable-next-line func-name-mixedcase
    function PERMIT2() public pure returns (address) {
        return 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    }

    function settle(
        PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        if (msg.sender != witness.facilitator) revert UnauthorizedFacilitator();
        if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
        if (witness.to == address(0)) revert InvalidDestination();
        if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
        bytes32 hash = keccak256(abi.encode(WITNESS, witness.to, witness.facilitator, witness.validAfter));
        Permit2(PERMIT2())
            .permitWitnessTransferFrom(
                permit, SignatureTransferDetails(witness.to, amount), owner, hash, REST, signature
            );
        emit Settled();
    }
}
