// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

/// @notice The part of forge's cheatcodes that the tests use. Signatures are forge's.
interface Vm {
    enum CallerMode {
        None,
        Broadcast,
        RecurrentBroadcast,
        Prank,
        RecurrentPrank
    }

    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    // Callers
    function prank(address sender) external;
    function prank(address sender, address origin) external;
    function startPrank(address sender) external;
    function startPrank(address sender, address origin) external;
    function stopPrank() external;
    function readCallers() external returns (CallerMode mode, address sender, address origin);

    // Chain and accounts
    function deal(address account, uint256 balanceWei) external;
    function warp(uint256 timestamp) external;
    function roll(uint256 blockNumber) external;
    function fee(uint256 baseFee) external;
    function txGasPrice(uint256 gasPrice) external;
    function chainId(uint256 id) external;
    function coinbase(address account) external;
    function prevrandao(bytes32 value) external;
    function blobBaseFee(uint256 baseFee) external;
    function setBlockhash(uint256 blockNumber, bytes32 blockHash) external;
    function getBlockTimestamp() external view returns (uint256);
    function getBlockNumber() external view returns (uint256);
    function etch(address target, bytes calldata runtimeCode) external;
    function store(address target, bytes32 slot, bytes32 value) external;
    function load(address target, bytes32 slot) external view returns (bytes32);
    function getNonce(address account) external view returns (uint64);
    function setNonce(address account, uint64 nonce) external;
    function computeCreateAddress(address deployer, uint256 nonce) external pure returns (address);
    function snapshotState() external returns (uint256 snapshotId);
    function revertToState(uint256 snapshotId) external returns (bool);
    function deployCode(string calldata artifact) external returns (address);
    function deployCode(string calldata artifact, bytes calldata constructorArgs) external returns (address);
    function getCode(string calldata artifact) external view returns (bytes memory creationCode);
    function getDeployedCode(string calldata artifact) external view returns (bytes memory runtimeCode);

    // Keys
    function addr(uint256 privateKey) external pure returns (address);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function label(address account, string calldata name) external;

    // Expectations. Always name the error: a bare expectRevert() is refused by tools/check-names.ts.
    function expectRevert(bytes4 errorSelector) external;
    function expectRevert(bytes calldata revertData) external;
    function expectRevert(bytes4 errorSelector, address reverter) external;
    function expectRevert(bytes calldata revertData, address reverter) external;
    function expectPartialRevert(bytes4 errorSelector) external;
    function expectEmit() external;
    function expectEmit(address emitter) external;
    function expectEmit(bool topic1, bool topic2, bool topic3, bool data) external;
    function expectEmit(bool topic1, bool topic2, bool topic3, bool data, address emitter) external;
    function expectCall(address callee, bytes calldata data) external;
    function expectCall(address callee, bytes calldata data, uint64 count) external;
    function expectCall(address callee, uint256 valueWei, bytes calldata data) external;
    function mockCall(address callee, bytes calldata data, bytes calldata returnData) external;
    function mockCallRevert(address callee, bytes calldata data, bytes calldata revertData) external;
    function clearMockedCalls() external;
    function assume(bool condition) external pure;
    function skip(bool skipTest) external;
    function skip(bool skipTest, string calldata reason) external;

    // Logs and storage accesses
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory logs);
    function record() external;
    function accesses(address target) external returns (bytes32[] memory reads, bytes32[] memory writes);

    // Gas
    function snapshotGasLastCall(string calldata name) external returns (uint256 gasUsed);
    function snapshotGasLastCall(string calldata group, string calldata name)
        external
        returns (uint256 gasUsed);
    function startSnapshotGas(string calldata group, string calldata name) external;
    function stopSnapshotGas() external returns (uint256 gasUsed);
    function snapshotValue(string calldata group, string calldata name, uint256 value) external;
    function pauseGasMetering() external;
    function resumeGasMetering() external;
    function resetGasMetering() external;
    function cool(address target) external;

    // Files: only what foundry.toml lets tests read
    function projectRoot() external view returns (string memory path);
    function readFile(string calldata path) external view returns (string memory data);
    function readFileBinary(string calldata path) external view returns (bytes memory data);
    function readLine(string calldata path) external view returns (string memory line);
    function closeFile(string calldata path) external;
    function exists(string calldata path) external view returns (bool);
    function keyExistsJson(string calldata json, string calldata key) external view returns (bool);
    function parseJson(string calldata json) external pure returns (bytes memory abiEncoded);
    function parseJson(string calldata json, string calldata key)
        external
        pure
        returns (bytes memory abiEncoded);
    function parseJsonKeys(string calldata json, string calldata key) external pure returns (string[] memory);
    function parseJsonBool(string calldata json, string calldata key) external pure returns (bool);
    function parseJsonUint(string calldata json, string calldata key) external pure returns (uint256);
    function parseJsonUintArray(string calldata json, string calldata key)
        external
        pure
        returns (uint256[] memory);
    function parseJsonInt(string calldata json, string calldata key) external pure returns (int256);
    function parseJsonIntArray(string calldata json, string calldata key)
        external
        pure
        returns (int256[] memory);
    function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory);
    function parseJsonBytesArray(string calldata json, string calldata key)
        external
        pure
        returns (bytes[] memory);
    function parseJsonBytes32(string calldata json, string calldata key) external pure returns (bytes32);
    function parseJsonBytes32Array(string calldata json, string calldata key)
        external
        pure
        returns (bytes32[] memory);
    function parseJsonAddress(string calldata json, string calldata key) external pure returns (address);
    function parseJsonString(string calldata json, string calldata key) external pure returns (string memory);
    function parseJsonStringArray(string calldata json, string calldata key)
        external
        pure
        returns (string[] memory);

    // Text
    function toString(address value) external pure returns (string memory);
    function toString(bool value) external pure returns (string memory);
    function toString(uint256 value) external pure returns (string memory);
    function toString(int256 value) external pure returns (string memory);
    function toString(bytes32 value) external pure returns (string memory);
    function toString(bytes calldata value) external pure returns (string memory);

    function parseBytes(string calldata text) external pure returns (bytes memory value);

    // Environment and randomness (fixed by the fuzz seed)
    function envOr(string calldata name, uint256 fallbackValue) external view returns (uint256);
    function randomUint() external view returns (uint256);
    function randomUint(uint256 min, uint256 max) external view returns (uint256);
    function randomBytes(uint256 length) external view returns (bytes memory);

    // Assertions
    function assertTrue(bool condition) external pure;
    function assertTrue(bool condition, string calldata reason) external pure;
    function assertFalse(bool condition) external pure;
    function assertFalse(bool condition, string calldata reason) external pure;
    function assertEq(bool left, bool right) external pure;
    function assertEq(bool left, bool right, string calldata reason) external pure;
    function assertEq(uint256 left, uint256 right) external pure;
    function assertEq(uint256 left, uint256 right, string calldata reason) external pure;
    function assertEq(int256 left, int256 right) external pure;
    function assertEq(int256 left, int256 right, string calldata reason) external pure;
    function assertEq(address left, address right) external pure;
    function assertEq(address left, address right, string calldata reason) external pure;
    function assertEq(bytes32 left, bytes32 right) external pure;
    function assertEq(bytes32 left, bytes32 right, string calldata reason) external pure;
    function assertEq(bytes calldata left, bytes calldata right) external pure;
    function assertEq(bytes calldata left, bytes calldata right, string calldata reason) external pure;
    function assertEq(string calldata left, string calldata right) external pure;
    function assertEq(string calldata left, string calldata right, string calldata reason) external pure;
    function assertNotEq(uint256 left, uint256 right) external pure;
    function assertNotEq(uint256 left, uint256 right, string calldata reason) external pure;
    function assertNotEq(bytes32 left, bytes32 right) external pure;
    function assertNotEq(bytes32 left, bytes32 right, string calldata reason) external pure;
    function assertNotEq(address left, address right) external pure;
    function assertNotEq(bytes calldata left, bytes calldata right) external pure;
    function assertLt(uint256 left, uint256 right) external pure;
    function assertLt(uint256 left, uint256 right, string calldata reason) external pure;
    function assertLe(uint256 left, uint256 right) external pure;
    function assertLe(uint256 left, uint256 right, string calldata reason) external pure;
    function assertGt(uint256 left, uint256 right) external pure;
    function assertGt(uint256 left, uint256 right, string calldata reason) external pure;
    function assertGe(uint256 left, uint256 right) external pure;
    function assertGe(uint256 left, uint256 right, string calldata reason) external pure;
}
