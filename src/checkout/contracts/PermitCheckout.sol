// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IToken, TokenCalls} from "./TokenCalls.sol";

interface IPermit {
    function DOMAIN_SEPARATOR() external view returns (bytes32);
    function nonces(address owner) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external;
}

interface IPermitBytes {
    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes calldata signature) external;
}

interface IWallet {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// Pays one recipient an amount up to a ceiling that the payer signed, once.
///
/// For tokens without EIP-3009: the payer signs a permit (EIP-2612) of the
/// ceiling to this contract. Its address follows from recipient and operator,
/// so the signature binds both. Each permit nonce of a payer captures once.
///
/// No owner, no upgrade. It never holds a token, and uses an allowance only
/// with a permit that the payer signed.
contract PermitCheckout is TokenCalls {
    struct Permit {
        address token;
        address payer;
        uint256 ceiling;
        uint256 nonce;
        /// Unix seconds, inclusive.
        uint256 deadline;
    }

    event Captured(address indexed payer, address indexed token, uint256 indexed nonce, address recipient, uint256 amount);

    address public immutable recipient;
    /// The only account that can capture.
    address public immutable operator;
    mapping(address token => mapping(address payer => mapping(uint256 nonce => bool))) public captured;

    constructor(address recipient_, address operator_) {
        recipient = recipient_;
        operator = operator_;
    }

    function capture(Permit calldata permit, uint256 amount, bytes calldata signature) external returns (uint256) {
        address token = permit.token;
        checkCall(operator, token, amount, permit.ceiling);
        require(block.timestamp <= permit.deadline, "Checkout: the permit is expired");
        require(!captured[token][permit.payer][permit.nonce], "Checkout: the permit is used");
        captured[token][permit.payer][permit.nonce] = true;
        require(isSigned(permit, signature), "Checkout: invalid signature");

        uint256 balance = balanceHere(token);
        submit(permit, signature);
        require(
            IPermit(token).nonces(permit.payer) == permit.nonce + 1,
            "Checkout: the permit nonce is used or not the next"
        );
        uint256 received = IToken(token).balanceOf(recipient);
        callToken(token, abi.encodeCall(IToken.transferFrom, (permit.payer, recipient, amount)));
        // A token that takes a fee delivers less than the event would say.
        require(IToken(token).balanceOf(recipient) == received + amount, "Checkout: the amount did not arrive");
        require(balanceHere(token) == balance, "Checkout: the balance changed");

        emit Captured(permit.payer, token, permit.nonce, recipient, amount);
        return amount;
    }

    /// True when a permit cannot be captured any more: it was, the payer used a
    /// later nonce, or used this one and allows nothing.
    function isSpent(address token, address payer, uint256 nonce) external view returns (bool) {
        uint256 next = IPermit(token).nonces(payer);
        if (captured[token][payer][nonce] || next > nonce + 1) return true;
        return next == nonce + 1 && IPermit(token).allowance(payer, address(this)) == 0;
    }

    /// Submits the permit and ignores a failure: anyone may have submitted it
    /// before, and `capture` has verified the signature. Then `capture` checks
    /// that this is the payer's latest permit: a later one, also one that
    /// cancels, replaces its allowance.
    function submit(Permit calldata permit, bytes calldata signature) private {
        if (signature.length == 65) {
            (uint8 v, bytes32 r, bytes32 s) = split(signature);
            try IPermit(permit.token).permit(permit.payer, address(this), permit.ceiling, permit.deadline, v, r, s) {} catch {}
        } else {
            try IPermitBytes(permit.token).permit(permit.payer, address(this), permit.ceiling, permit.deadline, signature) {} catch {}
        }
    }

    function isSigned(Permit calldata permit, bytes calldata signature) private view returns (bool) {
        bytes32 struct_ = keccak256(
            abi.encode(
                keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"),
                permit.payer, address(this), permit.ceiling, permit.nonce, permit.deadline
            )
        );
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", IPermit(permit.token).DOMAIN_SEPARATOR(), struct_));
        if (signature.length == 65) {
            (uint8 v, bytes32 r, bytes32 s) = split(signature);
            address signer = ecrecover(digest, v, r, s);
            if (signer != address(0) && signer == permit.payer) return true;
        }
        if (permit.payer.code.length == 0) return false;
        return IWallet(permit.payer).isValidSignature(digest, signature) == IWallet.isValidSignature.selector;
    }
}
