// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// Code that an account delegates to (EIP-7702). Refuses every signature, also
/// plain ones by the account's own key.
contract StrictDelegate {
    receive() external payable {}

    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0xffffffff;
    }
}
