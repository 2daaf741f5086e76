// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentClient} from "./interfaces/IERCAgentClient.sol";
import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";
import {IPrepaid} from "./interfaces/IPrepaid.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice Runs tools and agents for its owner and keeps their results: the smallest client of asynchronous tools, and
/// what an account without code needs to use one.
/// @dev Ids are each tool's own, so a result belongs to (sender, runId), and is taken once, for a run of this client
/// only.
contract AgentClient is IERCAgentClient, ERC165 {
    enum Status {
        NONE,
        WAITING,
        ANSWERED
    }

    event Asked(IERCAgentTool indexed tool, int256 indexed runId);
    event Answered(IERCAgentTool indexed tool, int256 indexed runId, string result);

    /// @notice Thrown when somebody else than the owner uses the client.
    error NotOwner(address sender, address owner);
    /// @notice Thrown when a result belongs to no run that this client waits for.
    error NotWaiting(address sender, int256 runId);
    /// @notice Thrown when a tool returns an id that is below -1, or that it has returned before.
    error WrongRunId(IERCAgentTool tool, int256 runId);

    address public immutable owner;
    mapping(IERCAgentTool => mapping(int256 runId => Status)) public statusOf;
    mapping(IERCAgentTool => mapping(int256 runId => string)) public resultOf;

    constructor(address owner_) {
        owner = owner_;
    }

    /// @notice Runs a tool; ether that is sent goes into this client's balance there first.
    /// @return runId -1 if the result is here, else the id under which `resultOf` will hold it
    function ask(IERCAgentTool tool, IERCAgentTool.Input calldata input)
        external
        payable
        returns (int256 runId, string memory result)
    {
        _requireOwner();
        if (msg.value != 0) IPrepaid(address(tool)).depositFor{value: msg.value}(address(this));
        (runId, result) = tool.run(input, address(this));
        if (runId == -1) {
            emit Answered(tool, runId, result);
            return (runId, result);
        }
        if (runId < 0 || statusOf[tool][runId] != Status.NONE) revert WrongRunId(tool, runId);
        statusOf[tool][runId] = Status.WAITING;
        emit Asked(tool, runId);
        return (runId, "");
    }

    /// @inheritdoc IERCAgentClient
    function handleAgentResult(int256 runId, string memory result) external virtual {
        IERCAgentTool tool = IERCAgentTool(msg.sender);
        if (statusOf[tool][runId] != Status.WAITING) revert NotWaiting(msg.sender, runId);
        statusOf[tool][runId] = Status.ANSWERED;
        resultOf[tool][runId] = result;
        emit Answered(tool, runId, result);
    }

    /// @notice Takes ether out of this client's balance at a tool.
    /// @param to not this client, which takes no ether: nothing could bring it out again
    function withdrawFrom(IPrepaid tool, address to, uint256 amount) external {
        _requireOwner();
        tool.withdraw(to, amount);
    }

    /// @inheritdoc IERC165
    function supportsInterface(bytes4 interfaceId)
        public
        view
        virtual
        override(ERC165, IERC165)
        returns (bool)
    {
        return interfaceId == type(IERCAgentClient).interfaceId || super.supportsInterface(interfaceId);
    }

    function _requireOwner() private view {
        if (msg.sender != owner) revert NotOwner(msg.sender, owner);
    }
}
