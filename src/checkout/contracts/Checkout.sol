// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IToken, TokenCalls} from "./TokenCalls.sol";

interface IReceive {
    function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external;
}

interface IReceiveBytes {
    function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes calldata signature) external;
}

/// Pays a recipient an amount up to a ceiling that the payer signed, once.
///
/// The payer signs `ReceiveWithAuthorization` (EIP-3009) of the ceiling to this
/// contract. Its nonce is the hash of the terms, so the signature is worth
/// nothing under other terms, and the token accepts it once. `capture` pulls
/// the ceiling, pays the amount, and returns the rest in the same transaction.
///
/// No owner, no storage, no allowance, no upgrade. It keeps no token.
contract Checkout is TokenCalls {
    struct Terms {
        address token;
        address payer;
        address recipient;
        /// The only account that can capture.
        address operator;
        uint256 ceiling;
        /// Unix seconds, both exclusive.
        uint256 validAfter;
        uint256 validBefore;
        /// Random, so that equal orders have different terms.
        bytes32 salt;
    }

    event Captured(bytes32 indexed nonce, address indexed payer, address indexed recipient, address token, uint256 amount);

    /// The nonce that the payer signs for these terms.
    function nonceOf(Terms calldata terms) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), terms));
    }

    function capture(Terms calldata terms, uint256 amount, bytes calldata signature) external returns (uint256) {
        address token = terms.token;
        checkCall(terms.operator, token, amount, terms.ceiling);
        bytes32 nonce = nonceOf(terms);
        uint256 balance = balanceHere(token);

        pull(terms, nonce, signature);
        // Some tokens return without a transfer if the nonce is used.
        require(balanceHere(token) == balance + terms.ceiling, "Checkout: the ceiling did not arrive");
        callToken(token, abi.encodeCall(IToken.transfer, (terms.recipient, amount)));
        if (amount < terms.ceiling)
            callToken(token, abi.encodeCall(IToken.transfer, (terms.payer, terms.ceiling - amount)));
        require(balanceHere(token) == balance, "Checkout: the balance changed");

        emit Captured(nonce, terms.payer, terms.recipient, token, amount);
        return amount;
    }

    function pull(Terms calldata terms, bytes32 nonce, bytes calldata signature) private {
        bytes memory data;
        if (signature.length == 65) {
            (uint8 v, bytes32 r, bytes32 s) = split(signature);
            data = abi.encodeCall(
                IReceive.receiveWithAuthorization,
                (terms.payer, address(this), terms.ceiling, terms.validAfter, terms.validBefore, nonce, v, r, s)
            );
        } else {
            data = abi.encodeCall(
                IReceiveBytes.receiveWithAuthorization,
                (terms.payer, address(this), terms.ceiling, terms.validAfter, terms.validBefore, nonce, signature)
            );
        }
        callToken(terms.token, data);
    }
}
