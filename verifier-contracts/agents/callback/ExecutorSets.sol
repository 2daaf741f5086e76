// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {AgentRun, ICallbackAgent} from "../interfaces/ICallbackAgent.sol";
import {AgentIterationResult} from "../interfaces/IERCAgentExecutor.sol";

/// @notice Who may say what a run does next, and when enough of them have said the same.
/// @dev Executors take turns: `threshold` of them are asked first, and after each timeout as many again, until all of
/// the set may post. A set never changes; the owner names a new one, for runs that begin later.
abstract contract ExecutorSets is ICallbackAgent {
    struct ExecutorSet {
        address[] executors;
        uint16 threshold;
    }

    uint256 internal constant MAX_EXECUTORS = 32;

    address public immutable owner;
    ExecutorSet[] internal _sets;
    mapping(int256 runId => mapping(uint16 iteration => mapping(address executor => bool))) private
        _hasPosted;
    mapping(int256 runId => mapping(uint16 iteration => mapping(bytes32 choice => address[]))) private
        _posters;

    constructor(address owner_, address[] memory executors, uint16 threshold) {
        owner = owner_;
        _addSet(executors, threshold);
    }

    /// @inheritdoc ICallbackAgent
    function setExecutors(address[] calldata executors, uint16 threshold) external {
        if (msg.sender != owner) revert NotOwner(msg.sender, owner);
        _addSet(executors, threshold);
    }

    /// @inheritdoc ICallbackAgent
    function executorsOf(uint32 executorSet) external view returns (address[] memory, uint16) {
        ExecutorSet storage set = _sets[executorSet];
        return (set.executors, set.threshold);
    }

    /// @inheritdoc ICallbackAgent
    function admittedOf(int256 runId) public view returns (address[] memory admitted) {
        AgentRun storage r = _runOf(runId);
        address[] memory executors = _sets[r.executorSet].executors;
        // Executors take turns.
        uint256 first = uint256(runId) + r.iteration;
        admitted = new address[](r.admitted);
        for (uint256 i; i < admitted.length; ++i) {
            admitted[i] = executors[(first + i) % executors.length];
        }
    }

    /// @dev Counts the sender's post.
    /// @return agreed those who posted this choice, if they are enough now; else none
    function _post(int256 runId, AgentRun storage r, bytes32 choice)
        internal
        returns (address[] memory agreed)
    {
        address[] memory admitted = admittedOf(runId);
        uint256 i;
        while (i < admitted.length && admitted[i] != msg.sender) ++i;
        if (i == admitted.length) revert NotAdmitted(runId, msg.sender, r.admitted);
        if (r.threshold == 1) {
            agreed = new address[](1);
            agreed[0] = msg.sender;
            return agreed;
        }
        if (_hasPosted[runId][r.iteration][msg.sender]) revert AlreadyPosted(runId, r.iteration, msg.sender);
        _hasPosted[runId][r.iteration][msg.sender] = true;
        address[] storage posters = _posters[runId][r.iteration][choice];
        posters.push(msg.sender);
        if (posters.length == r.threshold) agreed = posters;
    }

    /// @dev What executors must agree on: whether it is over, the answer, the tool and its input.
    function _choiceHash(AgentIterationResult memory result) internal pure returns (bytes32) {
        return keccak256(abi.encode(result.isFinalAnswer, result.finalAnswer, result.tool, result.toolInput));
    }

    function _latestSet() internal view returns (uint32) {
        return uint32(_sets.length - 1);
    }

    function _runOf(int256 runId) internal view virtual returns (AgentRun storage);

    function _addSet(address[] memory executors, uint16 threshold) private {
        bool fits = executors.length <= MAX_EXECUTORS && threshold != 0 && threshold <= executors.length;
        if (!fits) revert WrongExecutors(executors.length, threshold);
        for (uint256 i; i < executors.length; ++i) {
            for (uint256 j; j < i; ++j) {
                if (executors[i] == executors[j]) revert DuplicateExecutor(executors[i]);
            }
        }
        _sets.push(ExecutorSet(executors, threshold));
        emit ExecutorsChanged(_latestSet(), executors, threshold);
    }
}
