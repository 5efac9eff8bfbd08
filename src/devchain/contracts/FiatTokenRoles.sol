// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// The roles of Circle's tokens: who may mint, pause, and change the block list.
abstract contract FiatTokenRoles {
    address public owner;
    address public masterMinter;
    address public pauser;
    address public blacklister;
    bool public paused;

    mapping(address account => bool) internal blacklisted;
    mapping(address minter => bool) internal minters;
    mapping(address minter => uint256) internal minterAllowed;

    event Pause();
    event Unpause();
    event Blacklisted(address indexed _account);
    event UnBlacklisted(address indexed _account);
    event MinterConfigured(address indexed minter, uint256 minterAllowedAmount);

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notBlacklisted(address account) {
        require(!blacklisted[account], "Blacklistable: account is blacklisted");
        _;
    }

    modifier onlyPauser() {
        require(msg.sender == pauser, "Pausable: caller is not the pauser");
        _;
    }

    modifier onlyBlacklister() {
        require(msg.sender == blacklister, "Blacklistable: caller is not the blacklister");
        _;
    }

    function pause() external onlyPauser {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyPauser {
        paused = false;
        emit Unpause();
    }

    function blacklist(address account) external onlyBlacklister {
        blacklisted[account] = true;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyBlacklister {
        blacklisted[account] = false;
        emit UnBlacklisted(account);
    }

    function isBlacklisted(address account) external view returns (bool) {
        return blacklisted[account];
    }

    function configureMinter(address minter, uint256 allowedAmount) external whenNotPaused returns (bool) {
        require(msg.sender == masterMinter, "FiatToken: caller is not the masterMinter");
        minters[minter] = true;
        minterAllowed[minter] = allowedAmount;
        emit MinterConfigured(minter, allowedAmount);
        return true;
    }

    function isMinter(address account) external view returns (bool) {
        return minters[account];
    }

    function minterAllowance(address minter) external view returns (uint256) {
        return minterAllowed[minter];
    }
}
