// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {
    MODEL_INPUT_CODEC,
    MODEL_INPUT_SIZE,
    MODEL_OUTPUT_CODEC,
    MODEL_OUTPUT_LENGTH,
    MODEL_SELECTOR,
    ModelWord,
    newModelWord
} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {LeavesHarness} from "../support/LeavesHarness.sol";
import {Test} from "../support/Test.sol";
import {Dice, Dices} from "./Dice.sol";
import {PlainBatch} from "./PlainBatch.sol";

/// @notice The root in one pass, and the leaves, against the plain ones (PlainBatch): every codec with every other,
/// counts around powers of two and the limits, lengths from 0 to the limit, data cut off or with more behind.
/// forge test --match-path test/contracts/fuzz/Batches.t.sol -vv prints what was compared; BATCH_CASES says how much.
contract BatchesTest is Test {
    using Dices for Dice;

    uint256 private constant MOST_BYTES = 8_000;
    uint16[27] private _counts = [
        1,
        2,
        3,
        4,
        5,
        7,
        8,
        9,
        15,
        16,
        17,
        31,
        32,
        33,
        63,
        64,
        65,
        127,
        128,
        129,
        255,
        256,
        257,
        511,
        513,
        1023,
        1024
    ];

    LeavesHarness private _harness;
    uint256[5] private _inputs;
    uint256[4] private _outputs;
    uint256 private _compared;
    uint256 private _refused;
    uint256 private _leaves;

    event log_named_uint(string key, uint256 val);

    function setUp() public {
        _harness = new LeavesHarness();
    }

    function _model(Dice memory d) private pure returns (ModelWord word) {
        uint256 codec = d.range(1, 4);
        uint256 most = codec == 2 ? 256 : codec == 4 ? 3000 : 4096;
        uint256 size = d.once(6) ? most : d.dim(most);
        if (codec == 2 && size < 2) size = 2;
        word = newModelWord().with(MODEL_INPUT_CODEC, codec).with(MODEL_INPUT_SIZE, size);
        codec = d.range(1, 3);
        size = 32 * d.range(1, 8) + (codec == 1 ? 0 : 64);
        word = word.with(MODEL_OUTPUT_CODEC, codec).with(MODEL_OUTPUT_LENGTH, size);
        word = word.with(MODEL_SELECTOR, uint32(d.next()));
    }

    /// @dev Random bytes of the right length; a text's length may be 0, the limit, or anything between.
    function _leaf(Dice memory d, ModelWord word) private pure returns (bytes memory leaf) {
        if (word.inputCodec() != 1) return _textOf(d, word, 0);
        uint256 most = word.inputSize();
        return _textOf(d, word, d.once(3) ? most : d.once(3) ? 0 : d.range(0, most));
    }

    /// @param text bytes of the text, 0 if the codec is another
    function _textOf(Dice memory d, ModelWord word, uint256 text) private pure returns (bytes memory leaf) {
        leaf = new bytes(PlainBatch.inputBytes(word) + PlainBatch.outputBytes(word) + text);
        bool isHostile = d.once(3);
        for (uint256 i; i < leaf.length; i += 32) {
            // All ones, or anything.
            bytes32 some = isHostile ? bytes32(type(uint256).max) : bytes32(d.next());
            for (uint256 k = i; k < i + 32 && k < leaf.length; k++) {
                leaf[k] = some[k - i];
            }
        }
        if (word.inputCodec() == 1) (leaf[0], leaf[1]) = (bytes1(uint8(text >> 8)), bytes1(uint8(text)));
    }

    function _join(bytes[] memory leaves) private pure returns (bytes memory data) {
        uint256 size;
        for (uint256 i; i < leaves.length; i++) {
            size += leaves[i].length;
        }
        data = new bytes(size);
        uint256 at;
        for (uint256 i; i < leaves.length; i++) {
            bytes memory leaf = leaves[i];
            assembly {
                mcopy(add(add(data, 32), at), add(leaf, 32), mload(leaf))
            }
            at += leaf.length;
        }
    }

    /// @dev What plain code says of the data: root and count, or the refusal.
    function plainRoot(ModelWord word, bytes memory data)
        external
        pure
        returns (bytes32 root, uint256 count)
    {
        bytes[] memory leaves = PlainBatch.split(word, data);
        return (PlainBatch.tree(leaves)[1], leaves.length);
    }

    function _compare(ModelWord word, bytes memory data) private {
        (bool plainDone, bytes memory plain) =
            address(this).call(abi.encodeCall(this.plainRoot, (word, data)));
        (bool done, bytes memory found) =
            address(_harness).call(abi.encodeCall(_harness.rootOf, (word, data)));
        assertEq(done, plainDone, "refused");
        assertEq(found, plain, "root");
        _compared++;
        if (!done) _refused++;
    }

    /// @dev One case: a model, leaves, and the data as they are, cut off, with more behind, with a byte changed.
    function play(uint256 seed) external {
        Dice memory d = Dice(seed);
        ModelWord word = _model(d);
        _inputs[word.inputCodec()]++;
        _outputs[word.outputCodec()]++;
        uint256 count = d.once(5) ? d.range(1, 1024) : _counts[d.below(_counts.length)];
        uint256 most = (d.once(8) ? 5 : 1) * MOST_BYTES
            / (PlainBatch.inputBytes(word) + PlainBatch.outputBytes(word)) + 1;
        if (count > most) count = d.range(1, most);
        bytes[] memory leaves = new bytes[](count);
        for (uint256 i; i < count; i++) {
            leaves[i] = _leaf(d, word);
        }
        _leaves += count;
        bytes memory data = _join(leaves);
        _compare(word, data);
        _compare(word, PlainBatch.part(data, 0, d.below(data.length)));
        _compare(word, PlainBatch.part(data, 0, data.length - 1));
        if (word.inputCodec() == 1) {
            _compare(word, bytes.concat(data, _textOf(d, word, word.inputSize() + 1)));
        }
        _compare(word, bytes.concat(data, _leaf(d, word)));
        _compare(word, bytes.concat(data, bytes1(uint8(d.next()))));
        data[d.below(data.length)] ^= bytes1(uint8(d.range(1, 255)));
        _compare(word, data);
        _readLeaves(d, word, leaves);
    }

    function _readLeaves(Dice memory d, ModelWord word, bytes[] memory leaves) private view {
        bytes32[] memory nodes = PlainBatch.tree(leaves);
        for (uint256 i; i < 3; i++) {
            uint256 index = d.below(leaves.length);
            bytes memory leaf = leaves[index];
            bytes32[] memory path = PlainBatch.path(nodes, index);
            _harness.requireIn(nodes[1], leaves.length, index, leaf, path);
            (bytes memory input, bytes memory output) = _harness.contentOf(word, leaf);
            assertEq(input, PlainBatch.inputOf(word, leaf), "input");
            assertEq(output, PlainBatch.outputOf(word, leaf), "output");
            assertTrue(_harness.isCanonical(word, input), "canonical");
            assertEq(output.length, word.outputLength(), "output length");
            // Another index, a byte changed, a sibling changed, and a node for a leaf.
            if (leaves.length > 1) _refuses(nodes[1], leaves, (index + 1) % leaves.length, leaf, path);
            if (path.length != 0) {
                bytes32[] memory shorter = PlainBatch.path(nodes, index);
                assembly {
                    mstore(shorter, sub(mload(shorter), 1))
                }
                bytes memory node = index % 2 == 0
                    ? bytes.concat(keccak256(leaf), path[0])
                    : bytes.concat(path[0], keccak256(leaf));
                _refuses(nodes[1], leaves, index / 2, node, _tail(path));
                _refuses(nodes[1], leaves, index, leaf, shorter);
                path[d.below(path.length)] ^= bytes32(uint256(1) << d.below(256));
                _refuses(nodes[1], leaves, index, leaf, path);
            }
        }
    }

    function _tail(bytes32[] memory path) private pure returns (bytes32[] memory tail) {
        tail = new bytes32[](path.length - 1);
        for (uint256 i; i < tail.length; i++) {
            tail[i] = path[i + 1];
        }
    }

    function _refuses(
        bytes32 root,
        bytes[] memory leaves,
        uint256 index,
        bytes memory leaf,
        bytes32[] memory path
    ) private view {
        // Two leaves of the same bytes are one another's proof where their siblings are equal too.
        if (keccak256(leaves[index]) == keccak256(leaf)) return;
        try _harness.requireIn(root, leaves.length, index, leaf, path) {
            assertTrue(false, "what is no leaf");
        } catch {}
    }

    function test_batches_plain_succeeds() public {
        vm.pauseGasMetering();
        uint256 cases = vm.envOr("BATCH_CASES", 64);
        for (uint256 i; i < cases; i++) {
            try this.play(i) {}
            catch (bytes memory why) {
                assertTrue(false, string.concat("case ", vm.toString(i), " ", string(_text(why))));
            }
        }
        for (uint256 codec = 1; codec < 5; codec++) {
            emit log_named_uint(string.concat("cases of input codec ", vm.toString(codec)), _inputs[codec]);
            assertGt(_inputs[codec], cases / 8);
            if (codec == 4) continue;
            emit log_named_uint(string.concat("cases of output codec ", vm.toString(codec)), _outputs[codec]);
            assertGt(_outputs[codec], cases / 8);
        }
        emit log_named_uint("batches compared", _compared);
        emit log_named_uint("of them refused", _refused);
        emit log_named_uint("leaves", _leaves);
        assertGt(_refused, cases);
    }

    function _text(bytes memory why) private pure returns (bytes memory) {
        return why.length < 4 ? why : PlainBatch.part(why, 4, why.length - 4);
    }

    /// @dev Each count once, of the shortest leaves: a text of nothing, and one word.
    function test_batches_counts_succeeds() public {
        ModelWord word = newModelWord().with(MODEL_INPUT_CODEC, 1).with(MODEL_INPUT_SIZE, 4096)
            .with(MODEL_OUTPUT_CODEC, 1).with(MODEL_OUTPUT_LENGTH, 32);
        Dice memory d = Dice(7);
        for (uint256 k; k < _counts.length; k++) {
            bytes memory data = new bytes(6 * uint256(_counts[k]));
            for (uint256 i; i < data.length; i++) {
                // The lengths stay 0.
                if (i % 6 > 1) data[i] = bytes1(uint8(d.next()));
            }
            _compare(word, data);
        }
        assertEq(_refused, 0);
        _compare(word, new bytes(6 * 1025));
        assertEq(_refused, 1);
    }
}
