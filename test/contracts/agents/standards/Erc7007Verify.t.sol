// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Erc7007Verify} from "../../../../verifier-contracts/agents/standards/Erc7007Verify.sol";
import {FinalityTerms} from "../../../../verifier-contracts/agents/standards/Finality.sol";
import {IAssay} from "../../../../verifier-contracts/interfaces/IAssay.sol";
import {Claim, ModelId, Request} from "../../../../verifier-contracts/types/Types.sol";
import {StandardsFixture} from "./StandardsFixture.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// @notice What a token does with it: the text's `mint`, for whom asked for the inference.
contract GeneratedToken is ERC721, Erc7007Verify {
    error NotVerified();
    error NotRequester(address sender);

    event Mint(
        address indexed to,
        uint256 indexed tokenId,
        bytes indexed prompt,
        bytes aigcData,
        string uri,
        bytes proof
    );

    constructor(IAssay assay_, ModelId model_, FinalityTerms memory terms)
        ERC721("Generated", "GEN")
        Erc7007Verify(assay_, model_, terms)
    {}

    function mint(
        address to,
        bytes calldata prompt,
        bytes calldata aigcData,
        string calldata uri,
        bytes calldata proof
    ) external returns (uint256 tokenId) {
        (Request memory r,) = abi.decode(proof, (Request, Claim));
        if (msg.sender != r.requester) revert NotRequester(msg.sender);
        if (!verify(prompt, aigcData, proof)) revert NotVerified();
        tokenId = uint256(keccak256(prompt));
        _mint(to, tokenId);
        emit Mint(to, tokenId, prompt, aigcData, uri, proof);
    }
}

/// @dev ERC-7007, sections "Specification" and "`verify` interface".
contract Erc7007VerifyTest is StandardsFixture {
    GeneratedToken private token;

    function setUp() public override {
        super.setUp();
        token = new GeneratedToken(assay, MODEL, _anyLane());
    }

    function test_verify_onlyWhenFinal_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        bytes memory proof = abi.encode(r, c);
        skip(WINDOW - 1);
        assertFalse(token.verify(_input(), _right(), proof), "the challenge period is not over");
        skip(1);
        assertTrue(token.verify(_input(), _right(), proof));
        assertFalse(token.verify(_input(), _wrong(), proof), "content");
        assertFalse(token.verify(abi.encodePacked(_input(), uint8(0)), _right(), proof), "prompt");
    }

    function test_verify_otherModel_succeeds() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Erc7007Verify other = new Erc7007Verify(assay, ModelId.wrap(keccak256("another")), _anyLane());
        assertFalse(other.verify(_input(), _right(), abi.encode(r, c)));
    }

    function test_verify_byExecution_succeeds() public {
        (Request memory r, Claim memory none) = _settled();
        assertTrue(token.verify(_input(), _right(), abi.encode(r, none)));
        assertFalse(token.verify(_input(), _wrong(), abi.encode(r, none)));
    }

    function test_mint_once_succeeds() public {
        (Request memory r, Claim memory c) = _finalClaim();
        bytes memory proof = abi.encode(r, c);
        vm.prank(requester);
        uint256 tokenId = token.mint(requester, _input(), _right(), "", proof);
        assertEq(tokenId, uint256(keccak256(_input())));
        assertEq(token.ownerOf(tokenId), requester);
        vm.prank(requester);
        vm.expectRevert(abi.encodeWithSignature("ERC721InvalidSender(address)", address(0)));
        token.mint(requester, _input(), _right(), "", proof);
    }

    function test_mint_notFinal_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        vm.prank(requester);
        vm.expectRevert(GeneratedToken.NotVerified.selector);
        token.mint(requester, _input(), _right(), "", abi.encode(r, c));
    }

    /// @dev Attack: whoever sees the mint coming sends it first, to himself.
    function test_mint_frontRun_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(GeneratedToken.NotRequester.selector, stranger));
        token.mint(stranger, _input(), _right(), "", abi.encode(r, c));
    }
}
