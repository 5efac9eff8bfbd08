// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {StrictWallet} from "./StrictWallet.sol";

/// A contract wallet that accepts signatures in a simulation, where gas is free,
/// and uses up all its gas in a block.
contract LyingWallet is StrictWallet {
    constructor(address walletOwner) StrictWallet(walletOwner) {}

    function isValidSignature(bytes32 digest, bytes calldata signature) public view override returns (bytes4) {
        if (tx.gasprice > 0) {
            assembly {
                invalid()
            }
        }
        return super.isValidSignature(digest, signature);
    }
}
