// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAgentResults} from "./IAgentResults.sol";

/// @title Results that k of n independent executors agree on, byte for byte
/// @notice A round: somebody asks and pays; executors commit to their answers while nobody sees any; then they reveal.
/// k equal answers are the result. Who answered otherwise stands recorded for good; where the agent is a model of Assay,
/// anybody can show that an answer is not the model's, which takes the executor's bond, and, before the result is
/// final, the result. Without a model there is no judge: the result is worth what k of these executors are.
interface IRedundantResults is IAgentResults {
    event Requested(bytes32 indexed roundId, bytes32 indexed inputHash, uint40 commitEnd, bytes data);
    event Committed(bytes32 indexed roundId, address indexed executor);
    event Revealed(bytes32 indexed roundId, address indexed executor, bytes32 indexed outputHash);
    event Agreed(bytes32 indexed roundId, bytes32 indexed outputHash, uint40 finalAt, bytes output);
    /// @notice An executor's answer is another one than that which was agreed on.
    event Dissented(bytes32 indexed roundId, address indexed executor, bytes32 indexed outputHash);
    event Convicted(bytes32 indexed roundId, address indexed executor, address indexed by, uint256 bond);
    event Refunded(bytes32 indexed roundId, address indexed requester);

    /// @notice Thrown when a number of the constructor leaves its range.
    error TermOutOfRange(uint256 value, uint256 min, uint256 max);
    /// @notice Thrown when an address is named twice.
    error ExecutorTwice(address executor);
    /// @notice Thrown when the value sent is not the fee, or not the bond.
    error WrongValue(uint256 value, uint256 required);
    /// @notice Thrown when a round of this input is under way, or its result does not age.
    error RoundNotOver(bytes32 roundId);
    /// @notice Thrown when the sender is none of the executors, or has no bond here.
    error NotExecutor(address sender);
    /// @notice Thrown when a move comes too early or too late. @param from first second @param end first second after
    error OutsidePhase(uint256 time, uint256 from, uint256 end);
    /// @notice Thrown when an executor makes a move twice.
    error MovedAlready(bytes32 roundId, address executor);
    /// @notice Thrown when a reveal is not what was committed.
    error NotCommitted(bytes32 roundId, address executor);
    /// @notice Thrown when an answer is longer than it may be.
    error AnswerTooLong(uint256 length, uint256 max);
    /// @notice Thrown when a round came to an agreement, or was refunded.
    error NothingToRefund(bytes32 roundId);
    /// @notice Thrown when nothing contradicts an answer: it is the truth, or no truth is recorded.
    error NotContradicted(bytes32 roundId, address executor);
    /// @notice Thrown when a bond cannot be taken out yet, or there is none. @param from first second, 0 if it was not
    /// announced
    error BondHeld(address executor, uint256 from);
    /// @notice Thrown when ether could not be sent.
    error TransferFailed(address to, uint256 amount);

    /// @notice Asks for the result of a calldata. The value sent is the fee.
    function request(bytes calldata data) external payable returns (bytes32 roundId);
    /// @param commitment commitmentOf the answer
    function commit(bytes32 roundId, bytes32 commitment) external;
    /// @notice Reveals an answer once nobody can commit any more. The one that makes k equal ones brings the result.
    function reveal(bytes32 roundId, bytes calldata output, bytes32 salt) external;
    /// @notice Gives the fee of a round without agreement back to its requester, to be withdrawn.
    function refund(bytes32 roundId) external;
    /// @notice Shows that an executor's answer is not the model's, which is recorded at `truth`: half of the bond is
    /// the sender's, half is burned.
    function convict(bytes32 roundId, address executor) external;

    /// @notice Puts the sender's bond up.
    function deposit() external payable;
    /// @notice Announces that the sender retires: no more answers, and the bond is free when all its rounds are over.
    function retire() external;
    function takeBond() external;
    /// @notice Sends an account what it is owed, to itself. Anybody may call it.
    function withdraw(address account) external;

    function commitmentOf(bytes32 roundId, address executor, bytes32 outputHash, bytes32 salt)
        external
        pure
        returns (bytes32);
    /// @return hash of an executor's answer, 0 if it revealed none
    function answerOf(bytes32 roundId, address executor) external view returns (bytes32);
    /// @notice The newest round of an input, 0 if there was none.
    function roundOf(bytes32 inputHash) external view returns (bytes32);
    function executors() external view returns (address[] memory);
}
