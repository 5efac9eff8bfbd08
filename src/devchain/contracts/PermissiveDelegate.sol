// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC1271_MAGIC, tryRecover} from "./Signatures.sol";

/// Code that an account delegates to (EIP-7702). Accepts plain signatures by the
/// account's own key.
contract PermissiveDelegate {
    receive() external payable {}

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        return tryRecover(digest, signature) == address(this) ? ERC1271_MAGIC : bytes4(0xffffffff);
    }
}
