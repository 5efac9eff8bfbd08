// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

bytes4 constant ERC1271_MAGIC = 0x1626ba7e;
uint256 constant HALF_CURVE_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

function splitSignature(bytes memory signature) pure returns (uint8 v, bytes32 r, bytes32 s) {
    assembly {
        r := mload(add(signature, 0x20))
        s := mload(add(signature, 0x40))
        v := byte(0, mload(add(signature, 0x60)))
    }
}

/// Recovers the signer, or returns zero where the form is not the canonical
/// one: 65 bytes, low s, v of 27 or 28.
function tryRecover(bytes32 digest, bytes memory signature) pure returns (address) {
    if (signature.length != 65) return address(0);
    (uint8 v, bytes32 r, bytes32 s) = splitSignature(signature);
    if (uint256(s) > HALF_CURVE_ORDER) return address(0);
    return ecrecover(digest, v, r, s);
}

/// Recovers the signer as Base Account's contracts do: also from 64 bytes
/// (EIP-2098), and with a high s.
function recoverAnyForm(bytes32 digest, bytes memory signature) pure returns (address) {
    if (signature.length != 64 && signature.length != 65) return address(0);
    (uint8 v, bytes32 r, bytes32 s) = splitSignature(signature);
    if (signature.length == 64) {
        v = uint8(uint256(s) >> 255) + 27;
        s = bytes32(uint256(s) & (type(uint256).max >> 1));
    }
    return ecrecover(digest, v, r, s);
}

/// Recovers the signer with the checks, their order and the reasons of
/// Circle's tokens.
function recoverOrRevert(bytes32 digest, bytes memory signature) pure returns (address signer) {
    require(signature.length == 65, "ECRecover: invalid signature length");
    (uint8 v, bytes32 r, bytes32 s) = splitSignature(signature);
    require(uint256(s) <= HALF_CURVE_ORDER, "ECRecover: invalid signature 's' value");
    require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
    signer = ecrecover(digest, v, r, s);
    require(signer != address(0), "ECRecover: invalid signature");
}

/// Asks the account. A revert, a short answer or anything after the four magic
/// bytes counts as a refusal.
function isErc1271Signature(address account, bytes32 digest, bytes memory signature) view returns (bool) {
    (bool ok, bytes memory answer) =
        account.staticcall(abi.encodeWithSelector(ERC1271_MAGIC, digest, signature));
    return ok && answer.length >= 32 && abi.decode(answer, (bytes32)) == bytes32(ERC1271_MAGIC);
}
