// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

/// @notice The part of Arbitrum's precompile that is about prices, with prices that a test sets.
contract ArbGasInfo {
    /// @notice Thrown by every read while `setFails(true)` holds.
    error GasInfoFails();

    uint256 private constant UNITS_PER_BYTE = 16;
    uint256 private constant BYTES_OF_SIMPLE_TRANSACTION = 140;

    /// @notice Wei of a unit of L1 calldata; a byte has 16 units.
    uint256 public pricePerUnit;
    bool public fails;

    function setPricePerUnit(uint256 price) external {
        pricePerUnit = price;
    }

    function setFails(bool value) external {
        fails = value;
    }

    /// @return Wei of a transaction without calldata, of a byte of calldata, of a word of storage; wei of a unit of gas:
    ///         its least, what congestion adds, both.
    function getPricesInWei() external view returns (uint256, uint256, uint256, uint256, uint256, uint256) {
        if (fails) revert GasInfoFails();
        uint256 perByte = pricePerUnit * UNITS_PER_BYTE;
        return (
            perByte * BYTES_OF_SIMPLE_TRANSACTION,
            perByte,
            block.basefee * 20_000,
            block.basefee,
            0,
            block.basefee
        );
    }

    function getL1BaseFeeEstimate() external view returns (uint256) {
        if (fails) revert GasInfoFails();
        return pricePerUnit;
    }

    function getCurrentTxL1GasFees() external view returns (uint256) {
        if (fails) revert GasInfoFails();
        return 0;
    }
}
