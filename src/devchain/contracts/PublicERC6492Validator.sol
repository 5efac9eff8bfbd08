// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {NonRevertingVerifier} from "./NonRevertingVerifier.sol";
import {isErc1271Signature, recoverAnyForm} from "./Signatures.sol";

/// A substitute for the validator of Base Account. It accepts plain signatures,
/// those of contract wallets, and wrapped ones (ERC-6492), which name a factory to
/// deploy the wallet with. The verifier makes that call: on a chain without it, no
/// wallet is deployed.
contract PublicERC6492Validator {
    address private constant VERIFIER = 0x0000bc370E4DC924F427d84e2f4B9Ec81626ba7E;
    bytes32 private constant WRAPPED = 0x6492649264926492649264926492649264926492649264926492649264926492;

    function isValidSignatureNowAllowSideEffects(address account, bytes32 hash, bytes calldata signature)
        external
        returns (bool)
    {
        uint256 length = signature.length;
        if (length < 32 || bytes32(signature[length - 32:]) != WRAPPED) return isValid(account, hash, signature);

        (address factory, bytes memory preparation, bytes memory inner) =
            abi.decode(signature[:length - 32], (address, bytes, bytes));
        if (account.code.length == 0 && !prepare(factory, preparation)) return false;
        if (isValid(account, hash, inner)) return true;

        // A wallet that is deployed may still need the call of the wrapped
        // signature, for example to add an owner.
        return prepare(factory, preparation) && isValid(account, hash, inner);
    }

    function prepare(address factory, bytes memory preparation) private returns (bool) {
        (bool ok, bytes memory answer) = VERIFIER.call(abi.encodeCall(NonRevertingVerifier.prepare, (factory, preparation)));
        return ok && answer.length == 32 && abi.decode(answer, (bool));
    }

    function isValid(address account, bytes32 hash, bytes memory signature) private view returns (bool) {
        if (account.code.length > 0) return isErc1271Signature(account, hash, signature);
        return account != address(0) && recoverAnyForm(hash, signature) == account;
    }
}
