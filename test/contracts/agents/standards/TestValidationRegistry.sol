// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {
    IValidationRegistry
} from "../../../../verifier-contracts/agents/standards/interfaces/IValidationRegistry.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// @notice The text's identity registry, as far as it gives an agent an owner.
contract TestIdentityRegistry is ERC721("Agents", "AGENT") {
    uint256 private _count;

    function register() external returns (uint256 agentId) {
        agentId = ++_count;
        _mint(msg.sender, agentId);
    }

    function mayManage(address account, uint256 agentId) external view returns (bool) {
        return _isAuthorized(ownerOf(agentId), account, agentId);
    }
}

/// @notice A validation registry by the rules of ERC-8004's text: who may ask, who may answer, what is kept.
contract TestValidationRegistry is IValidationRegistry {
    struct Status {
        address validator;
        uint256 agentId;
        uint8 response;
        bytes32 responseHash;
        string tag;
        uint256 lastUpdate;
    }

    TestIdentityRegistry private immutable _IDENTITY;
    mapping(bytes32 requestHash => Status) private _status;

    constructor(TestIdentityRegistry identity) {
        _IDENTITY = identity;
    }

    function getIdentityRegistry() external view returns (address) {
        return address(_IDENTITY);
    }

    function validationRequest(address validator, uint256 agentId, string calldata uri, bytes32 hash)
        external
    {
        require(_IDENTITY.mayManage(msg.sender, agentId), "not owner or operator");
        require(_status[hash].validator == address(0), "asked already");
        _status[hash].validator = validator;
        _status[hash].agentId = agentId;
        _status[hash].lastUpdate = block.timestamp;
        emit ValidationRequest(validator, agentId, uri, hash);
    }

    function validationResponse(
        bytes32 hash,
        uint8 response,
        string calldata uri,
        bytes32 responseHash,
        string calldata tag
    ) external {
        Status storage s = _status[hash];
        require(msg.sender == s.validator, "not the validator");
        require(response <= 100, "response above 100");
        (s.response, s.responseHash, s.tag, s.lastUpdate) = (response, responseHash, tag, block.timestamp);
        emit ValidationResponse(msg.sender, s.agentId, hash, response, uri, responseHash, tag);
    }

    function getValidationStatus(bytes32 hash)
        external
        view
        returns (address, uint256, uint8, bytes32, string memory, uint256)
    {
        Status storage s = _status[hash];
        return (s.validator, s.agentId, s.response, s.responseHash, s.tag, s.lastUpdate);
    }
}
