// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {
    CANCEL_TYPEHASH,
    domainSeparator,
    Erc3009Events,
    RECEIVE_TYPEHASH,
    TRANSFER_TYPEHASH,
    TransferMessage,
    typedDataDigest
} from "./Erc3009Types.sol";
import {isErc1271Signature, tryRecover} from "./Signatures.sol";

/// Behaves like the tokens of Paxos (PYUSD, USDP, USDG): it reverts with custom
/// errors, has domain version "1" without a function that returns it, and does
/// not revert for a spent nonce. One admin has all of their roles.
contract PaxosToken is Erc3009Events {
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = TRANSFER_TYPEHASH;
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = RECEIVE_TYPEHASH;
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH = CANCEL_TYPEHASH;

    string public name;
    string public symbol;
    uint8 public decimals;
    address public admin;
    bool public paused;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => bool) public isFrozen;
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationAlreadyUsed(address indexed authorizer, bytes32 indexed nonce);

    error ZeroAddress();
    error ContractPaused();
    error AddressFrozen();
    error InvalidSignature();
    error InsufficientFunds();
    error CallerMustBePayee();
    error AuthorizationInvalid();
    error AuthorizationExpired();
    error InvalidPermission();

    modifier onlyAdmin() {
        if (msg.sender != admin) revert InvalidPermission();
        _;
    }

    constructor(string memory tokenName, string memory tokenSymbol, uint8 tokenDecimals) {
        (name, symbol, decimals, admin) = (tokenName, tokenSymbol, tokenDecimals, msg.sender);
    }

    function pause() external onlyAdmin {
        paused = true;
    }

    function unpause() external onlyAdmin {
        paused = false;
    }

    function freeze(address account) external onlyAdmin {
        isFrozen[account] = true;
    }

    function unfreeze(address account) external onlyAdmin {
        isFrozen[account] = false;
    }

    function mint(address to, uint256 amount) external onlyAdmin {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _checkNotPaused();
        _transfer(msg.sender, to, value);
        return true;
    }

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
        _settle(TRANSFER_TYPEHASH, message, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        TransferMessage memory message = TransferMessage(from, to, value, validAfter, validBefore, nonce);
        _settle(TRANSFER_TYPEHASH, message, signature);
    }

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
        _settle(RECEIVE_TYPEHASH, message, abi.encodePacked(r, s, v));
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
        TransferMessage memory message = TransferMessage(from, to, value, validAfter, validBefore, nonce);
        _settle(RECEIVE_TYPEHASH, message, signature);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        _cancel(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        _cancel(authorizer, nonce, signature);
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return domainSeparator(address(this), name, "1");
    }

    function _settle(bytes32 typehash, TransferMessage memory message, bytes memory signature) private {
        _checkNotPaused();
        if (typehash == RECEIVE_TYPEHASH && message.to != msg.sender) revert CallerMustBePayee();
        if (block.timestamp <= message.validAfter) revert AuthorizationInvalid();
        if (block.timestamp >= message.validBefore) revert AuthorizationExpired();
        if (!_consume(message.from, message.nonce, abi.encode(typehash, message), signature)) return;
        emit AuthorizationUsed(message.from, message.nonce);
        _transfer(message.from, message.to, message.value);
    }

    function _cancel(address authorizer, bytes32 nonce, bytes memory signature) private {
        _checkNotPaused();
        if (isFrozen[authorizer]) revert AddressFrozen();
        if (!_consume(authorizer, nonce, abi.encode(CANCEL_TYPEHASH, authorizer, nonce), signature)) return;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    /// Returns false for a nonce that is spent. Callers then succeed without any
    /// effect, as in the tokens of Paxos.
    function _consume(address authorizer, bytes32 nonce, bytes memory encoded, bytes memory signature)
        private
        returns (bool)
    {
        if (authorizationState[authorizer][nonce]) {
            emit AuthorizationAlreadyUsed(authorizer, nonce);
            return false;
        }
        bytes32 digest = typedDataDigest(DOMAIN_SEPARATOR(), encoded);
        // Tries the account's own key first, so an account with delegated code
        // (EIP-7702) can still sign with it.
        bool valid = authorizer != address(0) && tryRecover(digest, signature) == authorizer;
        if (!valid && !isErc1271Signature(authorizer, digest, signature)) revert InvalidSignature();
        authorizationState[authorizer][nonce] = true;
        return true;
    }

    function _transfer(address from, address to, uint256 value) private {
        if (to == address(0)) revert ZeroAddress();
        if (isFrozen[to] || isFrozen[from]) revert AddressFrozen();
        if (value > balanceOf[from]) revert InsufficientFunds();
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    function _checkNotPaused() private view {
        if (paused) revert ContractPaused();
    }
}
