// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {domainSeparator} from "./Erc3009Types.sol";
import {FiatTokenReceive} from "./FiatTokenReceive.sol";
import {recoverOrRevert} from "./Signatures.sol";

/// Circle's token of 2021. It accepts only signatures by an account's key, even
/// if the account has code, and computes its domain separator once, at the start.
contract FiatTokenV2_1 is FiatTokenReceive {
    bytes32 private separator;

    function DOMAIN_SEPARATOR() public view override returns (bytes32) {
        return separator;
    }

    function _initialized() internal override {
        super._initialized();
        separator = domainSeparator(address(this), name, "2");
    }

    function _isSignedBy(address account, bytes32 digest, bytes memory signature)
        internal
        pure
        override
        returns (bool)
    {
        return recoverOrRevert(digest, signature) == account;
    }

    function _checkSpending(address account, address spender)
        internal
        view
        override
        notBlacklisted(account)
        notBlacklisted(spender)
    {}
}
