// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {FiatTokenRoles} from "./FiatTokenRoles.sol";

/// The ERC-20 functions of Circle's tokens. They revert with the same texts.
abstract contract FiatTokenErc20 is FiatTokenRoles {
    string public name;
    string public symbol;
    string public currency;
    uint8 public decimals;
    uint256 public totalSupply;

    mapping(address account => uint256) internal balances;
    mapping(address account => mapping(address spender => uint256)) internal allowances;
    bool private initialized;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Mint(address indexed minter, address indexed to, uint256 amount);

    /// A function and not a constructor: a development chain puts code at an
    /// address without deploying it. Accepts any number of decimals.
    function initialize(
        string calldata tokenName,
        string calldata tokenSymbol,
        string calldata tokenCurrency,
        uint8 tokenDecimals,
        address newMasterMinter,
        address newPauser,
        address newBlacklister,
        address newOwner
    ) external {
        require(!initialized, "FiatToken: contract is already initialized");
        initialized = true;
        name = tokenName;
        symbol = tokenSymbol;
        currency = tokenCurrency;
        decimals = tokenDecimals;
        masterMinter = newMasterMinter;
        pauser = newPauser;
        blacklister = newBlacklister;
        owner = newOwner;
        _initialized();
    }

    /// For tests of a renamed token. Circle's tokens have no such function: they
    /// change their name with a new implementation.
    function updateName(string calldata newName) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        name = newName;
    }

    function mint(address to, uint256 amount)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        require(minters[msg.sender], "FiatToken: caller is not a minter");
        require(to != address(0), "FiatToken: mint to the zero address");
        require(amount > 0, "FiatToken: mint amount not greater than 0");
        require(amount <= minterAllowed[msg.sender], "FiatToken: mint amount exceeds minterAllowance");
        minterAllowed[msg.sender] -= amount;
        totalSupply += amount;
        _setBalance(to, balances[to] + amount);
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
        return true;
    }

    function balanceOf(address account) external view returns (uint256) {
        return balances[account];
    }

    function allowance(address account, address spender) external view returns (uint256) {
        return allowances[account][spender];
    }

    function transfer(address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(from)
        notBlacklisted(to)
        returns (bool)
    {
        require(value <= allowances[from][msg.sender], "ERC20: transfer amount exceeds allowance");
        _transfer(from, to, value);
        allowances[from][msg.sender] -= value;
        return true;
    }

    function approve(address spender, uint256 value) external whenNotPaused returns (bool) {
        _checkSpending(msg.sender, spender);
        _approve(msg.sender, spender, value);
        return true;
    }

    function increaseAllowance(address spender, uint256 increment) external whenNotPaused returns (bool) {
        _checkSpending(msg.sender, spender);
        _increaseAllowance(msg.sender, spender, increment);
        return true;
    }

    function decreaseAllowance(address spender, uint256 decrement) external whenNotPaused returns (bool) {
        _checkSpending(msg.sender, spender);
        _decreaseAllowance(msg.sender, spender, decrement);
        return true;
    }

    function _transfer(address from, address to, uint256 value) internal {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balances[from], "ERC20: transfer amount exceeds balance");
        _setBalance(from, balances[from] - value);
        _setBalance(to, balances[to] + value);
        emit Transfer(from, to, value);
    }

    function _approve(address account, address spender, uint256 value) internal {
        require(account != address(0), "ERC20: approve from the zero address");
        require(spender != address(0), "ERC20: approve to the zero address");
        allowances[account][spender] = value;
        emit Approval(account, spender, value);
    }

    function _increaseAllowance(address account, address spender, uint256 increment) internal {
        _approve(account, spender, allowances[account][spender] + increment);
    }

    function _decreaseAllowance(address account, address spender, uint256 decrement) internal {
        uint256 current = allowances[account][spender];
        require(decrement <= current, "ERC20: decreased allowance below zero");
        _approve(account, spender, current - decrement);
    }

    function _setBalance(address account, uint256 balance) internal virtual {
        balances[account] = balance;
    }

    function _initialized() internal virtual {}

    /// Reverts if the account or the spender of an approval or permit is on the
    /// block list, in versions of the token that check this.
    function _checkSpending(address account, address spender) internal view virtual;
}
