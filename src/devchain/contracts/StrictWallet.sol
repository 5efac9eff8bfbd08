// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC1271_MAGIC, tryRecover} from "./Signatures.sol";

/// A contract wallet that accepts only its owner's plain signature of the digest.
contract StrictWallet {
    address public immutable owner;

    constructor(address walletOwner) {
        owner = walletOwner;
    }

    receive() external payable {}

    function isValidSignature(bytes32 digest, bytes calldata signature) public view virtual returns (bytes4) {
        address signer = tryRecover(digest, signature);
        return signer != address(0) && signer == owner ? ERC1271_MAGIC : bytes4(0xffffffff);
    }
}
