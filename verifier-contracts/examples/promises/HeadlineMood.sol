// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPromiseReader} from "../../interfaces/IPromiseReader.sol";
import {Batch} from "../../types/PromiseTypes.sol";
import {LANE_BOND, ModelId, Policy} from "../../types/Types.sol";

/// @notice Mean class of the headlines that somebody asked about: each counts once, when a batch that holds its answer
/// is final. Anybody brings it; nobody can bring anything else.
contract HeadlineMood {
    /// @notice Thrown when nobody asked about this input, or its answer was counted.
    error NotAsked(bytes32 inputHash);

    event Counted(bytes32 indexed inputHash, int256 class);

    IPromiseReader public immutable reader;
    ModelId public immutable modelId;
    /// @notice Least bond that stands for each answer, wei.
    uint96 public immutable minBond;
    uint32 public immutable minWindow;

    mapping(bytes32 inputHash => bool) public asked;
    int256 public sum;
    uint256 public count;

    constructor(IPromiseReader reader_, ModelId modelId_, uint96 minBond_, uint32 minWindow_) {
        (reader, modelId, minBond, minWindow) = (reader_, modelId_, minBond_, minWindow_);
    }

    /// @param inputHash keccak256 of the model's calldata
    function ask(bytes32 inputHash) external {
        asked[inputHash] = true;
    }

    /// @notice Counts an answer. @param payload the leaf's bytes in the batch's data @param path siblings up to the root
    function take(
        Batch calldata batch,
        uint256 index,
        bytes calldata payload,
        bytes32[] calldata path,
        bytes32 inputHash
    ) external {
        if (!asked[inputHash]) revert NotAsked(inputHash);
        Policy memory p = Policy(modelId, inputHash, LANE_BOND, minBond, minWindow);
        bytes memory output = reader.requireFinalLeaf(batch, index, payload, path, p);
        asked[inputHash] = false;
        int256 class = abi.decode(output, (int256));
        (sum, count) = (sum + class, count + 1);
        emit Counted(inputHash, class);
    }
}
