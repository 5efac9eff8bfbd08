// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {
    CANCEL_TYPEHASH,
    Erc3009Events,
    TRANSFER_TYPEHASH,
    TransferMessage,
    typedDataDigest
} from "./Erc3009Types.sol";
import {FiatTokenErc20} from "./FiatTokenErc20.sol";

enum AuthorizationState {
    Unused,
    Used,
    Canceled
}

/// EIP-3009 and EIP-2612 as every version of Circle's tokens has them.
abstract contract FiatTokenAuthorizations is FiatTokenErc20, Erc3009Events {
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = TRANSFER_TYPEHASH;
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH = CANCEL_TYPEHASH;
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    mapping(address authorizer => mapping(bytes32 nonce => AuthorizationState)) internal states;
    mapping(address owner => uint256) public nonces;

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        TransferMessage memory message = TransferMessage(from, to, value, validAfter, validBefore, nonce);
        _transferWithAuthorization(message, abi.encodePacked(r, s, v));
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        _cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    function permit(
        address account,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _permit(account, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    function DOMAIN_SEPARATOR() public view virtual returns (bytes32);

    /// True if the account signed the digest. Each version of the token decides
    /// which forms of signatures it accepts.
    function _isSignedBy(address account, bytes32 digest, bytes memory signature)
        internal
        view
        virtual
        returns (bool);

    function _isExpired(uint256 deadline) internal view virtual returns (bool) {
        return deadline < block.timestamp;
    }

    function _transferWithAuthorization(TransferMessage memory message, bytes memory signature)
        internal
        whenNotPaused
        notBlacklisted(message.from)
        notBlacklisted(message.to)
    {
        _settle(TRANSFER_TYPEHASH, message, signature);
    }

    function _settle(bytes32 typehash, TransferMessage memory message, bytes memory signature) internal {
        _useAuthorization(typehash, message, signature);
        _transfer(message.from, message.to, message.value);
    }

    function _useAuthorization(bytes32 typehash, TransferMessage memory message, bytes memory signature) internal {
        require(block.timestamp > message.validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < message.validBefore, "FiatTokenV2: authorization is expired");
        _consume(message.from, message.nonce, AuthorizationState.Used, abi.encode(typehash, message), signature);
        emit AuthorizationUsed(message.from, message.nonce);
    }

    function _cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) internal whenNotPaused {
        bytes memory encoded = abi.encode(CANCEL_TYPEHASH, authorizer, nonce);
        _consume(authorizer, nonce, AuthorizationState.Canceled, encoded, signature);
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _permit(address account, address spender, uint256 value, uint256 deadline, bytes memory signature)
        internal
        whenNotPaused
    {
        _checkSpending(account, spender);
        require(!_isExpired(deadline), "FiatTokenV2: permit is expired");
        bytes memory encoded = abi.encode(PERMIT_TYPEHASH, account, spender, value, nonces[account]++, deadline);
        bytes32 digest = typedDataDigest(DOMAIN_SEPARATOR(), encoded);
        require(_isSignedBy(account, digest, signature), "EIP2612: invalid signature");
        _approve(account, spender, value);
    }

    function _consume(
        address authorizer,
        bytes32 nonce,
        AuthorizationState state,
        bytes memory encoded,
        bytes memory signature
    ) private {
        require(
            states[authorizer][nonce] == AuthorizationState.Unused,
            "FiatTokenV2: authorization is used or canceled"
        );
        bytes32 digest = typedDataDigest(DOMAIN_SEPARATOR(), encoded);
        require(_isSignedBy(authorizer, digest, signature), "FiatTokenV2: invalid signature");
        states[authorizer][nonce] = state;
    }
}
