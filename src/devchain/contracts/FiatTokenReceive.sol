// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {RECEIVE_TYPEHASH, TransferMessage} from "./Erc3009Types.sol";
import {AuthorizationState, FiatTokenAuthorizations} from "./FiatTokenAuthorizations.sol";

/// The functions that version 2.1 of Circle's token added. Version 2.2 has them too.
abstract contract FiatTokenReceive is FiatTokenAuthorizations {
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = RECEIVE_TYPEHASH;

    function receiveWithAuthorization(
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
        _receiveWithAuthorization(message, abi.encodePacked(r, s, v));
    }

    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool) {
        return states[authorizer][nonce] != AuthorizationState.Unused;
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    function _receiveWithAuthorization(TransferMessage memory message, bytes memory signature)
        internal
        whenNotPaused
        notBlacklisted(message.from)
        notBlacklisted(message.to)
    {
        require(message.to == msg.sender, "FiatTokenV2: caller must be the payee");
        _settle(RECEIVE_TYPEHASH, message, signature);
    }

    function _initialized() internal virtual override {
        blacklisted[address(this)] = true;
    }
}
