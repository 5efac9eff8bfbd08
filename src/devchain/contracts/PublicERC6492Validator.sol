// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {isErc1271Signature, tryRecover} from "./Signatures.sol";

/// A stand-in for the validator of Base Account. It takes plain signatures,
/// those of contract wallets, and wrapped ones (ERC-6492), for which it calls
/// the named factory itself, so that the factory sees a caller without a role.
contract PublicERC6492Validator {
    bytes32 private constant WRAPPED = 0x6492649264926492649264926492649264926492649264926492649264926492;

    function isValidSignatureNowAllowSideEffects(address account, bytes32 hash, bytes calldata signature)
        external
        returns (bool)
    {
        uint256 length = signature.length;
        if (length < 32 || bytes32(signature[length - 32:]) != WRAPPED) return isValid(account, hash, signature);

        (address factory, bytes memory preparation, bytes memory inner) =
            abi.decode(signature[:length - 32], (address, bytes, bytes));
        if (account.code.length == 0) {
            (bool deployed,) = factory.call(preparation);
            if (!deployed) return false;
        }
        if (isValid(account, hash, inner)) return true;

        // A wallet that exists already may still need the preparation.
        (bool prepared,) = factory.call(preparation);
        return prepared && isValid(account, hash, inner);
    }

    function isValid(address account, bytes32 hash, bytes memory signature) private view returns (bool) {
        if (account.code.length > 0) return isErc1271Signature(account, hash, signature);
        return account != address(0) && tryRecover(hash, signature) == account;
    }
}
