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

/// Recovers the signer. Returns zero unless the signature has the canonical form:
/// 65 bytes, low s, v of 27 or 28.
function tryRecover(bytes32 digest, bytes memory signature) pure returns (address) {
    if (signature.length != 65) return address(0);
    (uint8 v, bytes32 r, bytes32 s) = splitSignature(signature);
    if (uint256(s) > HALF_CURVE_ORDER) return address(0);
    return ecrecover(digest, v, r, s);
}

/// Recovers the signer as Base Account's contracts do. Also accepts 64 bytes
/// (EIP-2098) and a high s.
function recoverAnyForm(bytes32 digest, bytes memory signature) pure returns (address) {
    if (signature.length != 64 && signature.length != 65) return address(0);
    (uint8 v, bytes32 r, bytes32 s) = splitSignature(signature);
    if (signature.length == 64) {
        v = uint8(uint256(s) >> 255) + 27;
        s = bytes32(uint256(s) & (type(uint256).max >> 1));
    }
    return ecrecover(digest, v, r, s);
}

/// Recovers the signer, or reverts. Makes the same checks as Circle's tokens, in
/// the same order and with the same texts.
function recoverOrRevert(bytes32 digest, bytes memory signature) pure returns (address signer) {
    require(signature.length == 65, "ECRecover: invalid signature length");
    (uint8 v, bytes32 r, bytes32 s) = splitSignature(signature);
    require(uint256(s) <= HALF_CURVE_ORDER, "ECRecover: invalid signature 's' value");
    require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
    signer = ecrecover(digest, v, r, s);
    require(signer != address(0), "ECRecover: invalid signature");
}

/// Asks the account whether a signature is valid. If the call reverts, or the
/// first 32 bytes of the answer are not the four magic bytes and zeros, it is not.
function isErc1271Signature(address account, bytes32 digest, bytes memory signature) view returns (bool) {
    (bool ok, bytes memory answer) =
        account.staticcall(abi.encodeWithSelector(ERC1271_MAGIC, digest, signature));
    return ok && answer.length >= 32 && abi.decode(answer, (bytes32)) == bytes32(ERC1271_MAGIC);
}
