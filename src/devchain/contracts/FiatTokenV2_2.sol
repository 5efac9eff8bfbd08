// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {domainSeparator, TransferMessage} from "./Erc3009Types.sol";
import {FiatTokenReceive} from "./FiatTokenReceive.sol";
import {isErc1271Signature, recoverOrRevert} from "./Signatures.sol";

/// Circle's token since 2023. It asks an account with code whether a signature is
/// valid (ERC-1271), and computes its domain separator from the current name and
/// chain id.
contract FiatTokenV2_2 is FiatTokenReceive {
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        _transferWithAuthorization(
            TransferMessage(from, to, value, validAfter, validBefore, nonce),
            signature
        );
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        _receiveWithAuthorization(
            TransferMessage(from, to, value, validAfter, validBefore, nonce),
            signature
        );
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        _cancelAuthorization(authorizer, nonce, signature);
    }

    function permit(address account, address spender, uint256 value, uint256 deadline, bytes memory signature)
        external
    {
        _permit(account, spender, value, deadline, signature);
    }

    function DOMAIN_SEPARATOR() public view override returns (bytes32) {
        return domainSeparator(address(this), name, "2");
    }

    function _isSignedBy(address account, bytes32 digest, bytes memory signature)
        internal
        view
        override
        returns (bool)
    {
        if (account.code.length > 0) return isErc1271Signature(account, digest, signature);
        return recoverOrRevert(digest, signature) == account;
    }

    function _isExpired(uint256 deadline) internal view override returns (bool) {
        return deadline != type(uint256).max && super._isExpired(deadline);
    }

    function _setBalance(address account, uint256 balance) internal override {
        require(balance <= (1 << 255) - 1, "FiatTokenV2_2: Balance exceeds (2^255 - 1)");
        require(!blacklisted[account], "FiatTokenV2_2: Account is blacklisted");
        super._setBalance(account, balance);
    }

    function _checkSpending(address account, address spender) internal view override {}
}
