// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {domainSeparator, TransferMessage} from "./Erc3009Types.sol";
import {AuthorizationState, FiatTokenAuthorizations} from "./FiatTokenAuthorizations.sol";
import {recoverOrRevert} from "./Signatures.sol";

/// Circle's token of 2020. It has no receiveWithAuthorization and no version(),
/// an authorization has three states, and only signatures by keys are accepted.
contract FiatTokenV2_0 is FiatTokenAuthorizations {
    bytes32 public constant APPROVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ApproveWithAuthorization(address owner,address spender,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant INCREASE_ALLOWANCE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "IncreaseAllowanceWithAuthorization(address owner,address spender,uint256 increment,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant DECREASE_ALLOWANCE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "DecreaseAllowanceWithAuthorization(address owner,address spender,uint256 decrement,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    bytes32 private separator;

    function DOMAIN_SEPARATOR() public view override returns (bytes32) {
        return separator;
    }

    function authorizationState(address authorizer, bytes32 nonce) external view returns (AuthorizationState) {
        return states[authorizer][nonce];
    }

    function approveWithAuthorization(
        address account,
        address spender,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        TransferMessage memory message = TransferMessage(account, spender, value, validAfter, validBefore, nonce);
        _useForSpending(APPROVE_WITH_AUTHORIZATION_TYPEHASH, message, abi.encodePacked(r, s, v));
        _approve(message.from, message.to, message.value);
    }

    function increaseAllowanceWithAuthorization(
        address account,
        address spender,
        uint256 increment,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        TransferMessage memory message = TransferMessage(account, spender, increment, validAfter, validBefore, nonce);
        _useForSpending(INCREASE_ALLOWANCE_WITH_AUTHORIZATION_TYPEHASH, message, abi.encodePacked(r, s, v));
        _increaseAllowance(message.from, message.to, message.value);
    }

    function decreaseAllowanceWithAuthorization(
        address account,
        address spender,
        uint256 decrement,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        TransferMessage memory message = TransferMessage(account, spender, decrement, validAfter, validBefore, nonce);
        _useForSpending(DECREASE_ALLOWANCE_WITH_AUTHORIZATION_TYPEHASH, message, abi.encodePacked(r, s, v));
        _decreaseAllowance(message.from, message.to, message.value);
    }

    function _initialized() internal override {
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

    /// Handles the three messages about allowances. Their members are those of a
    /// transfer under other names, so TransferMessage encodes them all.
    function _useForSpending(bytes32 typehash, TransferMessage memory message, bytes memory signature)
        private
        whenNotPaused
    {
        _checkSpending(message.from, message.to);
        _useAuthorization(typehash, message, signature);
    }
}
