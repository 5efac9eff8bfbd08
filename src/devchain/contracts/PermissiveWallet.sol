// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC1271_MAGIC} from "./Signatures.sol";

/// A contract wallet that accepts every signature.
contract PermissiveWallet {
    receive() external payable {}

    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return ERC1271_MAGIC;
    }
}
