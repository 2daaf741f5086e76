// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";
import {AgentInput} from "./libraries/AgentInput.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @title A synchronous tool written in Solidity
/// @notice Holds the metadata, which never change, and takes only inputs that match them. A tool is this and `_use`.
abstract contract TypedTool is IERCAgentTool, ERC165 {
    string private _name;
    string private _description;
    ParamDescription[] private _params;

    constructor(string memory name_, string memory description_, ParamDescription[] memory params) {
        _name = name_;
        _description = description_;
        for (uint256 i; i < params.length; ++i) {
            _params.push(params[i]);
        }
    }

    /// @inheritdoc IERCAgentTool
    function name() external view returns (string memory) {
        return _name;
    }

    /// @inheritdoc IERCAgentTool
    function description() external view returns (string memory) {
        return _description;
    }

    /// @inheritdoc IERCAgentTool
    function inputDescription() public view returns (InputDescription memory) {
        return InputDescription(_params);
    }

    /// @inheritdoc IERCAgentTool
    function run(Input memory input, address) external returns (int256, string memory) {
        AgentInput.requireMatches(inputDescription(), input);
        return (-1, _use(input.abiEncodedParams));
    }

    /// @inheritdoc IERC165
    function supportsInterface(bytes4 id) public view virtual override(ERC165, IERC165) returns (bool) {
        return id == type(IERCAgentTool).interfaceId || super.supportsInterface(id);
    }

    /// @param values what `abi.encode` makes of all values
    function _use(bytes memory values) internal virtual returns (string memory result);

    function _one(ParamDescription memory a) internal pure returns (ParamDescription[] memory list) {
        list = new ParamDescription[](1);
        list[0] = a;
    }
}
