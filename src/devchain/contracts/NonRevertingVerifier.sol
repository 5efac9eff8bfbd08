// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// A substitute for the contract that makes the call in a wrapped signature
/// (ERC-6492) for the validator. Anybody can choose that call, so its caller must
/// be a contract without rights anywhere.
contract NonRevertingVerifier {
    function prepare(address factory, bytes calldata preparation) external returns (bool ok) {
        (ok,) = factory.call(preparation);
    }
}
