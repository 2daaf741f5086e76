// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgent} from "../../agents/IERCAgent.sol";
import {AgentInput} from "../../agents/libraries/AgentInput.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title A lending pool that lends only on the approval of its loan agent
/// @notice Facts come from the applicant and cannot change after that; the credit agent's tool writes the score and
/// the decision tool compares it with the limit. No text decides anything: the agent can only leave steps out, and
/// then there is no approval.
contract LoanPool is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    event Applied(uint256 indexed applicationId, address indexed applicant, uint256 amount);
    event Scored(uint256 indexed applicationId, int256 points);
    event Decided(uint256 indexed applicationId, bool approved, int256 points, int256 limit);
    event Lent(uint256 indexed applicationId, address indexed applicant, uint256 amount);

    /// @notice Thrown when a contract that is not meant for it writes a score or a decision.
    error NotTool(address sender, address tool);
    /// @notice Thrown when anybody but the deployer names the parts, or anybody for a second time.
    error PartsAreSet();
    /// @notice Thrown for an application that does not exist or is not the one under evaluation.
    error WrongApplication(uint256 applicationId, uint256 expected);
    /// @notice Thrown when a score or a decision would be written in another state of the application.
    error WrongState(uint256 applicationId, State state);
    /// @notice Thrown when somebody borrows on the application of another.
    error NotApplicant(address sender, address applicant);
    /// @notice Thrown when the agent's run ended without a decision.
    error NotDecided(uint256 applicationId);

    enum State {
        NONE,
        APPLIED,
        SCORED,
        APPROVED,
        DENIED,
        LENT
    }

    /// @param facts the two words of the credit model's input, 18 facts of 16 bits
    struct Application {
        address applicant;
        State state;
        uint256 amount;
        uint256[2] facts;
        int256 points;
    }

    /// @notice Least points of a loan.
    int256 public immutable limit;
    IERC20 public immutable token;
    address private immutable _deployer;
    IERCAgent public agent;
    address public creditTool;
    address public decisionTool;
    /// @notice Application under evaluation + 1, 0 if there is none.
    uint256 public transient evaluating;
    Application[] private _applications;

    constructor(IERC20 token_, int256 limit_) {
        token = token_;
        limit = limit_;
        _deployer = msg.sender;
    }

    /// @notice Names the agent and the tools that write, once.
    function setParts(IERCAgent agent_, address creditTool_, address decisionTool_) external {
        if (msg.sender != _deployer || address(agent) != address(0)) revert PartsAreSet();
        agent = agent_;
        creditTool = creditTool_;
        decisionTool = decisionTool_;
    }

    function applyForLoan(uint256[2] calldata facts, uint256 amount)
        external
        returns (uint256 applicationId)
    {
        applicationId = _applications.length;
        _applications.push(Application(msg.sender, State.APPLIED, amount, facts, 0));
        emit Applied(applicationId, msg.sender, amount);
    }

    /// @notice Has the agent evaluate an application. Anybody may ask.
    function evaluate(uint256 applicationId) external nonReentrant returns (string memory answer) {
        Application storage a = _applicationOf(applicationId);
        if (a.state != State.APPLIED) revert WrongState(applicationId, a.state);
        evaluating = applicationId + 1;
        string memory number = Strings.toString(applicationId);
        (, answer) = agent.run(
            AgentInput.prompt(
                string.concat(
                    "Evaluate loan application ",
                    number,
                    " and ask the credit agent \"score application ",
                    number,
                    "\""
                )
            ),
            address(0)
        );
        evaluating = 0;
        if (a.state != State.APPROVED && a.state != State.DENIED) revert NotDecided(applicationId);
    }

    /// @notice Writes the points of the application under evaluation. Only the credit tool may call it.
    function recordScore(uint256 applicationId, int256 points) external {
        if (msg.sender != creditTool) revert NotTool(msg.sender, creditTool);
        Application storage a = _underEvaluation(applicationId, State.APPLIED);
        (a.state, a.points) = (State.SCORED, points);
        emit Scored(applicationId, points);
    }

    /// @notice Decides by the limit. Only the decision tool may call it.
    function decide(uint256 applicationId) external returns (bool approved, int256 points) {
        if (msg.sender != decisionTool) revert NotTool(msg.sender, decisionTool);
        Application storage a = _underEvaluation(applicationId, State.SCORED);
        points = a.points;
        approved = points >= limit;
        a.state = approved ? State.APPROVED : State.DENIED;
        emit Decided(applicationId, approved, points, limit);
    }

    /// @notice Pays out an approved loan to its applicant, once.
    function borrow(uint256 applicationId) external nonReentrant {
        Application storage a = _applicationOf(applicationId);
        if (msg.sender != a.applicant) revert NotApplicant(msg.sender, a.applicant);
        if (a.state != State.APPROVED) revert WrongState(applicationId, a.state);
        a.state = State.LENT;
        emit Lent(applicationId, a.applicant, a.amount);
        token.safeTransfer(a.applicant, a.amount);
    }

    function application(uint256 applicationId) external view returns (Application memory) {
        return _applicationOf(applicationId);
    }

    function _applicationOf(uint256 applicationId) private view returns (Application storage) {
        if (applicationId >= _applications.length) {
            revert WrongApplication(applicationId, _applications.length);
        }
        return _applications[applicationId];
    }

    function _underEvaluation(uint256 applicationId, State state)
        private
        view
        returns (Application storage a)
    {
        if (evaluating != applicationId + 1) {
            revert WrongApplication(applicationId, evaluating);
        }
        a = _applications[applicationId];
        if (a.state != state) revert WrongState(applicationId, a.state);
    }
}
