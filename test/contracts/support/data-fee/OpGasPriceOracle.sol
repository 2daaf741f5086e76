// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

/// @notice The interface of the OP stack's predeploy, with prices that a test sets. It goes by the published formulas of
///         Ecotone and Fjord; where Fjord compresses, this one takes the longest that a literal run may become.
contract OpGasPriceOracle {
    /// @notice Thrown by every read while `setFails(true)` holds.
    error OracleFails();
    /// @notice Thrown before Fjord.
    error FjordOnly();

    uint256 private constant SIGNATURE_BYTES = 68;
    int256 private constant INTERCEPT = -42_585_600;
    int256 private constant COEFFICIENT = 836_500;
    int256 private constant LEAST_SIZE = 100_000_000;

    uint256 public l1BaseFee;
    uint256 public blobBaseFee;
    uint256 public baseFeeScalar;
    uint256 public blobBaseFeeScalar;
    bool public isEcotone;
    bool public isFjord;
    bool public fails;
    uint256 public constantFee;

    function setPrices(uint256 baseFee, uint256 blobFee, uint256 scalar, uint256 blobScalar) external {
        (l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar) = (baseFee, blobFee, scalar, blobScalar);
    }

    function setUpgrade(bool fjord) external {
        (isEcotone, isFjord) = (true, fjord);
    }

    function setFails(bool value) external {
        fails = value;
    }

    /// @notice A fee for whatever bytes; 0 goes back to the formulas.
    function setConstantFee(uint256 fee) external {
        constantFee = fee;
    }

    function getL1Fee(bytes calldata unsignedTransaction) external view returns (uint256) {
        if (fails) revert OracleFails();
        if (constantFee != 0) return constantFee;
        uint256 length = unsignedTransaction.length + SIGNATURE_BYTES;
        if (isFjord) return _fjord(length + length / 32 + 1);
        uint256 units = SIGNATURE_BYTES * 16;
        for (uint256 i = 0; i < unsignedTransaction.length; i++) {
            units += unsignedTransaction[i] == 0 ? 4 : 16;
        }
        return units * _scaledPrice() / (16 * 1e6);
    }

    function getL1FeeUpperBound(uint256 unsignedBytes) external view returns (uint256) {
        if (fails) revert OracleFails();
        if (!isFjord) revert FjordOnly();
        uint256 length = unsignedBytes + SIGNATURE_BYTES;
        return _fjord(length + length / 255 + 16);
    }

    function decimals() external pure returns (uint256) {
        return 6;
    }

    function _fjord(uint256 compressed) private view returns (uint256) {
        int256 size = INTERCEPT + COEFFICIENT * int256(compressed);
        if (size < LEAST_SIZE) size = LEAST_SIZE;
        return uint256(size) * _scaledPrice() / 1e12;
    }

    function _scaledPrice() private view returns (uint256) {
        return baseFeeScalar * l1BaseFee * 16 + blobBaseFeeScalar * blobBaseFee;
    }
}
