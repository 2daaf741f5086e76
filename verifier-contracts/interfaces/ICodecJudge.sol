// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelWord} from "../libraries/ModelWord.sol";
import {Record} from "../types/Program.sol";

/// @notice The codecs (docs/EXACT.md, section 5), in a contract of their own because of the 24,576-byte limit.
/// The caller has checked model word and records against the registry.
interface ICodecJudge {
    /// @notice True if calldata is the canonical encoding that the model's input codec takes, selector included.
    function isCanonicalInput(ModelWord modelWord, bytes calldata input) external view returns (bool);

    /// @notice Root of the tensor that a CODEC step makes of canonical calldata. Reverts for a step of variant claimed.
    function inputRoot(ModelWord modelWord, Record calldata record, bytes calldata input)
        external
        view
        returns (bytes32 tensorRoot);

    /// @notice Root of the tensor that a CODEC step of variant claimed makes of the claimed output. Total.
    /// @param output of the model's output length, whatever it holds
    function claimedRoot(ModelWord modelWord, Record calldata record, bytes calldata output)
        external
        view
        returns (bytes32 tensorRoot);

    /// @notice The tensor of inputRoot whole. @return stored its bytes, row-major, without padding
    function inputElements(ModelWord modelWord, Record calldata record, bytes calldata input)
        external
        view
        returns (bytes memory stored);

    /// @notice True if return data have the form that the output codec gives to the last step's tensor.
    function isCanonicalOutput(ModelWord modelWord, Record calldata record, bytes calldata output)
        external
        view
        returns (bool);

    /// @notice An element of the last step's tensor as return data hold it. @param output canonical
    /// @param element index below the tensor's elements @param stored its bytes, right-aligned
    /// @return expected the stored element, encoded @return claimed what output has there
    function outputElement(
        ModelWord modelWord,
        Record calldata record,
        bytes calldata output,
        uint256 element,
        uint256 stored
    ) external view returns (uint256 expected, uint256 claimed);
}
