// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice What it costs to bring a model's output to a contract that keeps it, and whether one transaction can pay for
/// it. Figures of words are measured at the limit by test/contracts/agents/DeliveryLimits.t.sol.
library DeliveryGas {
    /// @notice Thrown when a model's output is so long that no transaction could bring it where it is to go.
    /// @param outputLength bytes @param required gas of the transaction @param max gas of any transaction
    error OutputTooLong(uint256 outputLength, uint256 required, uint256 max);

    /// @dev EIP-7825: the most gas of a transaction.
    uint256 private constant TRANSACTION_GAS = 1 << 24;
    /// @dev Booking a result: the run, the length of the output and the event; then each word of the output.
    uint256 private constant STORE_GAS = 90_000;
    uint256 private constant STORE_GAS_PER_WORD = 24_000;
    /// @dev The transaction around it: 21,000, a request and a claim of 23 words, the state of Assay; then each word of
    /// the output: 32 bytes of calldata at 16 gas, its hash, and its copies in Assay and in the courier.
    uint256 private constant TRANSACTION_BASE = 120_000;
    uint256 private constant TRANSACTION_GAS_PER_WORD = 700;
    /// @dev What Assay's courier keeps back.
    uint256 private constant COURIER_RESERVE = 40_000;

    /// @notice Gas to write down an output. @param outputLength bytes
    function store(uint256 outputLength) internal pure returns (uint256) {
        return STORE_GAS + STORE_GAS_PER_WORD * words(outputLength);
    }

    function words(uint256 outputLength) internal pure returns (uint256) {
        return (outputLength + 31) / 32;
    }

    /// @notice Refuses a model whose output no transaction could bring to a callback that needs so much gas: each of two
    /// calls, of the courier and of the callback, hands on 63/64.
    function requireDeliverable(uint256 outputLength, uint256 callbackGas) internal pure {
        uint256 carried = ((callbackGas + COURIER_RESERVE) * 64 / 63 + 1) * 64 / 63 + 1;
        uint256 required = TRANSACTION_BASE + TRANSACTION_GAS_PER_WORD * words(outputLength) + carried;
        if (required > TRANSACTION_GAS) revert OutputTooLong(outputLength, required, TRANSACTION_GAS);
    }

    /// @notice Refuses a model whose output no transaction could write down.
    function requireStorable(uint256 outputLength) internal pure {
        requireDeliverable(outputLength, store(outputLength));
    }
}
