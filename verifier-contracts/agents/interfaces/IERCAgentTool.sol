// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.20;

import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @title A tool that an agent may use to look something up or to act
/// @notice A tool is a contract that says in words what it does and which typed inputs it takes, so that a
/// language model can choose it and fill them in. An agent is a tool as well.
/// @dev ERC-165 id 0x5450da3a. Declarations follow the ERC text on agents and tools (CC0); `supportsInterface` is
/// inherited, not declared again, so it is not part of the id.
interface IERCAgentTool is IERC165 {
    /// @notice Types of a parameter. INT is int256, UINT is uint256. The spelling of BOOL_ARAY is the text's own.
    enum ParamType {
        STRING,
        ADDRESS,
        BOOL,
        INT,
        UINT,
        STRING_ARRAY,
        ADDRESS_ARRAY,
        BOOL_ARAY,
        INT_ARRAY,
        UINT_ARRAY
    }

    /// @notice All parameters that a tool takes, in order.
    struct InputDescription {
        ParamDescription[] paramDescriptions;
    }

    /// @notice One parameter. @param name and @param description are what an agent reads to fill it in
    struct ParamDescription {
        ParamType paramType;
        string name;
        string description;
    }

    /// @notice One value. @param value its ABI encoding alone, `abi.encode(v)`
    struct ParamValue {
        ParamType paramType;
        bytes value;
    }

    /// @notice The values of one use of a tool.
    /// @param params the values one by one, in the order of the description, for guards and overrides
    /// @param abiEncodedParams the same values encoded together, `abi.encode(v0, v1, …)`
    struct Input {
        ParamValue[] params;
        bytes abiEncodedParams;
    }

    /// @notice Short name, unique among the tools of an agent.
    function name() external view returns (string memory);

    /// @notice What the tool does and when to use it.
    function description() external view returns (string memory);

    /// @notice The parameters that `run` takes.
    function inputDescription() external view returns (InputDescription memory);

    /// @notice Runs the tool, at once or later. A caller can tell only by the runId.
    /// @param input values that match `inputDescription`
    /// @param resultHandler an `IERCAgentClient` that takes the result if it comes later
    /// @return runId -1 if `result` holds the result; else the id, 0 or more, that the handler will be given
    /// @return result the result if runId is -1, otherwise not to be used
    function run(Input memory input, address resultHandler)
        external
        returns (int256 runId, string memory result);
}
