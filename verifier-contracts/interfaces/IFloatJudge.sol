// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice The binary32 part of a judge, in a contract of its own because of the 24,576-byte limit.
/// Values are stored bytes, right-aligned (docs/EXACT.md, section 1). Total: never reverts.
interface IFloatJudge {
    /// @notice One element of a FLOAT step whose record is valid.
    /// @param variant 0 to 14
    /// @param outputType type code of the output
    /// @param aType type code of the first operand
    /// @param a first operand @param b second, 0 where the variant names none @param c third, likewise
    /// @return stored the output element
    function compute(uint256 variant, uint256 outputType, uint256 aType, uint256 a, uint256 b, uint256 c)
        external
        pure
        returns (uint256 stored);

    /// @notice q of the binary32 form of requantization: `roundHalfEven(f32(f32(acc) * scale))`, NaN gives 0,
    /// saturated to s32.
    /// @param acc within s32 @param scale binary32 bits, any
    function requantize(int256 acc, uint256 scale) external pure returns (int256 q);

    /// @notice A whole FLOAT step: `compute` element by element.
    /// @param count elements, at least 1
    /// @param operands packed elements of a, of one byte or four as aType says, then those of b and of c, of four bytes,
    /// as far as the variant names them
    /// @return stored packed elements
    function computeAll(
        uint256 variant,
        uint256 outputType,
        uint256 aType,
        uint256 count,
        bytes calldata operands
    ) external pure returns (bytes memory stored);

    /// @notice The binary32 form of requantization of many elements, clamps included.
    /// @param accs packed s32, bias′ in them
    /// @param parameters parameter words, one a channel; element i is of channel i modulo their number
    /// @return stored a byte for each
    function requantizeAll(bytes calldata accs, bytes calldata parameters)
        external
        pure
        returns (bytes memory stored);
}
