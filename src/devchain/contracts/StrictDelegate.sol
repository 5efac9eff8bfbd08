// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// Code an account delegates to (EIP-7702) that refuses every signature, the
/// plain one of the account's own key included.
contract StrictDelegate {
    receive() external payable {}

    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0xffffffff;
    }
}
