// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token for local chains
contract LocalToken is ERC20 {
    constructor(string memory name_, string memory symbol_, address holder, uint256 supply)
        ERC20(name_, symbol_)
    {
        _mint(holder, supply);
    }
}
