// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice A tool that says as much as a test tells it, of itself and as a result, and changes that at any time.
contract WordyTool is IERCAgentTool, ERC165 {
    enum Part {
        NAME,
        DESCRIPTION,
        PARAMS,
        RESULT
    }

    enum Manner {
        TEXT,
        REVERT,
        BURN
    }

    string private _ownName;
    mapping(Part => uint256) public sizeOf;
    mapping(Part => Manner) public mannerOf;
    bytes private _error;

    constructor(string memory ownName) {
        _ownName = ownName;
    }

    /// @param size bytes of text, or of what it reverts with
    function say(Part part, Manner manner, uint256 size) external {
        (mannerOf[part], sizeOf[part]) = (manner, size);
    }

    /// @notice What it reverts with instead of so many bytes.
    function setError(bytes calldata data) external {
        _error = data;
    }

    function name() external view returns (string memory) {
        return _text(Part.NAME, _ownName);
    }

    function description() external view returns (string memory) {
        return _text(Part.DESCRIPTION, "says a lot");
    }

    function inputDescription() external view returns (InputDescription memory d) {
        d.paramDescriptions = new ParamDescription[](1);
        d.paramDescriptions[0] = ParamDescription(ParamType.UINT, _text(Part.PARAMS, "number"), "a number");
    }

    function run(Input memory, address) external view returns (int256, string memory) {
        return (-1, _text(Part.RESULT, "said"));
    }

    function supportsInterface(bytes4 id) public view override(ERC165, IERC165) returns (bool) {
        return id == type(IERCAgentTool).interfaceId || super.supportsInterface(id);
    }

    function _text(Part part, string memory short) private view returns (string memory) {
        uint256 size = sizeOf[part];
        if (mannerOf[part] == Manner.BURN) while (true) {}
        if (mannerOf[part] == Manner.REVERT) {
            bytes memory data = _error;
            if (data.length != 0) {
                assembly ("memory-safe") {
                    revert(add(data, 32), mload(data))
                }
            }
            assembly ("memory-safe") {
                revert(0, size)
            }
        }
        return size == 0 ? short : string(new bytes(size));
    }
}
