// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";

/// @notice Versions of tools and agents under names, and whether they still say what they said.
/// @dev Nothing here forwards calls: a client reads the latest version, and whatever it has begun with an older one
/// ends there. Whoever publishes a name first alone publishes its later versions.
contract ToolRegistry {
    /// @param metadataHash of name, description and parameters on the day it was published
    struct Release {
        IERCAgentTool tool;
        string version;
        bytes32 metadataHash;
    }

    event Published(
        string indexed nameHash, string name, IERCAgentTool indexed tool, string version, bytes32 metadataHash
    );

    /// @notice Thrown when somebody else than a name's publisher publishes under it.
    error NotPublisher(address sender, address publisher);
    /// @notice Thrown when a version text is empty, or that of the release before.
    error SameVersion(string version);
    /// @notice Thrown when nothing was published under a name.
    error UnknownName(string name);

    mapping(string name => address) public publisherOf;
    mapping(string name => Release[]) private _releases;

    /// @notice Publishes the next release under a name.
    /// @param version semantic version; `version()` of the tool where it has one
    function publish(string calldata name, IERCAgentTool tool, string calldata version) external {
        address publisher = publisherOf[name];
        if (publisher == address(0)) publisherOf[name] = msg.sender;
        else if (publisher != msg.sender) revert NotPublisher(msg.sender, publisher);
        Release[] storage releases = _releases[name];
        if (
            bytes(version).length == 0
                || (releases.length != 0
                    && keccak256(bytes(releases[releases.length - 1].version)) == keccak256(bytes(version)))
        ) revert SameVersion(version);
        bytes32 metadataHash = metadataHashOf(tool);
        releases.push(Release(tool, version, metadataHash));
        emit Published(name, name, tool, version, metadataHash);
    }

    function latest(string calldata name) external view returns (Release memory) {
        uint256 count = _releases[name].length;
        if (count == 0) revert UnknownName(name);
        return _releases[name][count - 1];
    }

    function releaseOf(string calldata name, uint256 index) external view returns (Release memory) {
        return _releases[name][index];
    }

    function releaseCount(string calldata name) external view returns (uint256) {
        return _releases[name].length;
    }

    /// @notice True while a release's tool says the same as on the day it was published.
    function isUnchanged(string calldata name, uint256 index) external view returns (bool) {
        Release storage release = _releases[name][index];
        return metadataHashOf(release.tool) == release.metadataHash;
    }

    /// @notice Hash of what a tool says of itself now.
    function metadataHashOf(IERCAgentTool tool) public view returns (bytes32) {
        return keccak256(abi.encode(tool.name(), tool.description(), tool.inputDescription()));
    }
}
