// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// The members of a transfer message, in the order in which EIP-3009 hashes them.
struct TransferMessage {
    address from;
    address to;
    uint256 value;
    uint256 validAfter;
    uint256 validBefore;
    bytes32 nonce;
}

bytes32 constant DOMAIN_TYPEHASH =
    keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
bytes32 constant TRANSFER_TYPEHASH = keccak256(
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
);
bytes32 constant RECEIVE_TYPEHASH = keccak256(
    "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
);
bytes32 constant CANCEL_TYPEHASH = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

function domainSeparator(address token, string memory name, string memory version) view returns (bytes32) {
    bytes32 nameHash = keccak256(bytes(name));
    return keccak256(abi.encode(DOMAIN_TYPEHASH, nameHash, keccak256(bytes(version)), block.chainid, token));
}

function typedDataDigest(bytes32 separator, bytes memory encoded) pure returns (bytes32) {
    return keccak256(abi.encodePacked(hex"1901", separator, keccak256(encoded)));
}

interface Erc3009Events {
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
}
