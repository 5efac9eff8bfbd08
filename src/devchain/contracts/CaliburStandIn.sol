// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC1271_MAGIC, tryRecover} from "./Signatures.sol";

/// A stand-in for Uniswap's Calibur 1.0.0, which no npm package carries: the
/// same interface for batches of the account itself, and none of its keys, hooks
/// and user operations. As there, a call that fails leaves no log, and a target
/// of zero is the account.
contract CaliburStandIn {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    struct BatchedCall {
        Call[] calls;
        bool revertOnFailure;
    }

    error Unauthorized();
    error UnsupportedExecutionMode();
    error CallFailed(bytes reason);

    receive() external payable {}

    function execute(bytes32 mode, bytes calldata executionData) external payable {
        if (msg.sender != address(this)) revert Unauthorized();
        bool isTry = mode == bytes32(uint256(0x0101) << 240);
        if (!isTry && mode != bytes32(uint256(0x0100) << 240)) revert UnsupportedExecutionMode();
        run(abi.decode(executionData, (Call[])), !isTry);
    }

    function execute(BatchedCall calldata batch) external payable {
        if (msg.sender != address(this)) revert Unauthorized();
        run(batch.calls, batch.revertOnFailure);
    }

    function run(Call[] memory calls, bool revertOnFailure) private {
        for (uint256 i = 0; i < calls.length; i++) {
            Call memory one = calls[i];
            address to = one.to == address(0) ? address(this) : one.to;
            (bool ok, bytes memory answer) = to.call{value: one.value}(one.data);
            if (!ok && revertOnFailure) revert CallFailed(answer);
        }
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        return tryRecover(digest, signature) == address(this) ? ERC1271_MAGIC : bytes4(0xffffffff);
    }
}
