// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @title The lending criteria, in plain language, and those who change them by vote
/// @notice Members are named once. A proposal with votes of more than half of them passes at once. The text is data
/// to whoever reads it: no contract acts on its words.
contract CriteriaDao {
    event Proposed(uint256 indexed proposalId, address indexed member, string text);
    event Voted(uint256 indexed proposalId, address indexed member);
    event CriteriaChanged(uint256 indexed version, string text);

    /// @notice Thrown when somebody who is no member proposes or votes.
    error NotMember(address sender);
    /// @notice Thrown for a proposal that was never made.
    error UnknownProposal(uint256 proposalId);
    /// @notice Thrown for a second vote of a member on a proposal.
    error HasVoted(uint256 proposalId, address member);
    /// @notice Thrown for a vote on a proposal that has passed.
    error HasPassed(uint256 proposalId);
    /// @notice Thrown for criteria that are empty or longer than a prompt bears.
    error LengthInvalid(uint256 length, uint256 most);

    struct Proposal {
        string text;
        uint256 votes;
        bool passed;
    }

    uint256 public constant MAX_LENGTH = 2_000;

    uint256 public immutable memberCount;
    mapping(address => bool) public isMember;
    mapping(uint256 proposalId => mapping(address member => bool)) public hasVoted;
    Proposal[] private _proposals;
    string private _criteria;
    uint256 public version;

    constructor(address[] memory members, string memory criteria_) {
        for (uint256 i; i < members.length; ++i) {
            // A member named twice would count twice in the majority.
            if (isMember[members[i]]) continue;
            isMember[members[i]] = true;
            ++memberCount;
        }
        _setCriteria(criteria_);
    }

    /// @notice Proposes a text and votes for it.
    function propose(string calldata text) external returns (uint256 proposalId) {
        _requireLength(text);
        proposalId = _proposals.length;
        _proposals.push(Proposal(text, 0, false));
        emit Proposed(proposalId, msg.sender, text);
        vote(proposalId);
    }

    function vote(uint256 proposalId) public {
        if (!isMember[msg.sender]) revert NotMember(msg.sender);
        if (proposalId >= _proposals.length) revert UnknownProposal(proposalId);
        Proposal storage proposal = _proposals[proposalId];
        if (proposal.passed) revert HasPassed(proposalId);
        if (hasVoted[proposalId][msg.sender]) revert HasVoted(proposalId, msg.sender);
        hasVoted[proposalId][msg.sender] = true;
        emit Voted(proposalId, msg.sender);
        if (2 * ++proposal.votes <= memberCount) return;
        proposal.passed = true;
        _setCriteria(proposal.text);
    }

    /// @notice The criteria as they are now.
    function criteria() external view returns (string memory) {
        return _criteria;
    }

    function _setCriteria(string memory text) private {
        _requireLength(text);
        _criteria = text;
        emit CriteriaChanged(++version, text);
    }

    function _requireLength(string memory text) private pure {
        uint256 length = bytes(text).length;
        if (length == 0 || length > MAX_LENGTH) revert LengthInvalid(length, MAX_LENGTH);
    }
}
