// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {
    IValidationRegistry
} from "../../../../verifier-contracts/agents/standards/interfaces/IValidationRegistry.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// @notice The text's identity registry as the deployed ones behave (version 2.0.0 of erc-8004-contracts), as far as
/// validations touch it: agents are counted from 0, the wallet is the owner at first and cleared by a transfer.
/// @dev The wallet's signature, which is between the wallet and the registry, is left out.
contract TestIdentityRegistry is ERC721("AgentIdentity", "AGENT") {
    uint256 private _count;
    mapping(uint256 agentId => address) private _wallet;

    function register() external returns (uint256 agentId) {
        agentId = _count++;
        _wallet[agentId] = msg.sender;
        _safeMint(msg.sender, agentId);
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        return _wallet[agentId];
    }

    function setAgentWallet(uint256 agentId, address wallet) external {
        require(mayManage(msg.sender, agentId), "Not authorized");
        require(wallet != address(0), "bad wallet");
        _wallet[agentId] = wallet;
    }

    function mayManage(address account, uint256 agentId) public view returns (bool) {
        return _isAuthorized(ownerOf(agentId), account, agentId);
    }

    function _update(address to, uint256 agentId, address auth) internal override returns (address) {
        if (_ownerOf(agentId) != address(0)) delete _wallet[agentId];
        return super._update(to, agentId, auth);
    }
}

/// @notice A validation registry as the deployed ones behave: one table of hashes for all agents, in which the first
/// to file a hash has it for good; who may ask, who may answer, what is kept and summed up, and the reasons of refusals.
contract TestValidationRegistry is IValidationRegistry {
    struct Status {
        address validator;
        uint256 agentId;
        uint8 response;
        bytes32 responseHash;
        string tag;
        uint256 lastUpdate;
        bool isAnswered;
    }

    TestIdentityRegistry private immutable _IDENTITY;
    mapping(bytes32 requestHash => Status) private _status;
    mapping(uint256 agentId => bytes32[]) private _hashesOf;

    constructor(TestIdentityRegistry identity) {
        _IDENTITY = identity;
    }

    function getIdentityRegistry() external view returns (address) {
        return address(_IDENTITY);
    }

    function validationRequest(address validator, uint256 agentId, string calldata uri, bytes32 hash)
        external
    {
        require(validator != address(0), "bad validator");
        require(_status[hash].validator == address(0), "exists");
        require(_IDENTITY.mayManage(msg.sender, agentId), "Not authorized");
        _status[hash].validator = validator;
        _status[hash].agentId = agentId;
        _status[hash].lastUpdate = block.timestamp;
        _hashesOf[agentId].push(hash);
        emit ValidationRequest(validator, agentId, uri, hash);
    }

    function validationResponse(
        bytes32 hash,
        uint8 response,
        string calldata uri,
        bytes32 responseHash,
        string calldata tag
    ) external {
        Status storage s = _known(hash);
        require(msg.sender == s.validator, "not validator");
        require(response <= 100, "resp>100");
        (s.response, s.responseHash, s.tag, s.lastUpdate) = (response, responseHash, tag, block.timestamp);
        s.isAnswered = true;
        emit ValidationResponse(msg.sender, s.agentId, hash, response, uri, responseHash, tag);
    }

    function getValidationStatus(bytes32 hash)
        external
        view
        returns (address, uint256, uint8, bytes32, string memory, uint256)
    {
        Status storage s = _known(hash);
        return (s.validator, s.agentId, s.response, s.responseHash, s.tag, s.lastUpdate);
    }

    /// @notice Count and average of an agent's answers by one of the validators, of a tag; none and "" are all.
    function getSummary(uint256 agentId, address[] calldata validators, string calldata tag)
        external
        view
        returns (uint64 count, uint8 average)
    {
        uint256 sum;
        for (uint256 i; i < _hashesOf[agentId].length; ++i) {
            Status storage s = _status[_hashesOf[agentId][i]];
            bool counts = bytes(tag).length == 0 || keccak256(bytes(s.tag)) == keccak256(bytes(tag));
            if (!s.isAnswered || !counts || !_isOneOf(s.validator, validators)) continue;
            sum += s.response;
            ++count;
        }
        // forge-lint: disable-next-line(unsafe-typecast)
        if (count > 0) average = uint8(sum / count);
    }

    function _isOneOf(address validator, address[] calldata validators) private pure returns (bool) {
        for (uint256 i; i < validators.length; ++i) {
            if (validators[i] == validator) return true;
        }
        return validators.length == 0;
    }

    function _known(bytes32 hash) private view returns (Status storage s) {
        s = _status[hash];
        require(s.validator != address(0), "unknown");
    }
}
