// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// Runs a list of calls in one `eth_call`. A state override puts this code at an
/// account, so that the calls come from that account.
///
/// Input:  mode (1 byte: 0 returns the answer, 1 reverts with it and so undoes
///         what the calls did), then for each call: target (20 bytes), gas
///         (4 bytes), length (3 bytes), data.
/// Output: a fixed word, block number, block time, chain id, base fee (a word
///         each), then for each call: success, gas used, code size of the
///         target, length of the answer (a word each), the answer.
///
/// To run several calls and undo them, call this account itself with such an
/// input in mode 1. The revert also makes the storage slots cold again that the
/// calls made warm (EIP-2929).
contract Executor {
    fallback() external payable {
        assembly {
            let p := 0
            mstore(p, "countersign executor, answer 1")
            mstore(add(p, 0x20), number())
            mstore(add(p, 0x40), timestamp())
            mstore(add(p, 0x60), chainid())
            mstore(add(p, 0x80), basefee())
            p := 0xa0

            let i := 1
            for {} lt(i, calldatasize()) {} {
                let head := calldataload(i)
                let target := shr(96, head)
                let limit := and(shr(64, head), 0xffffffff)
                let size := and(shr(40, head), 0xffffff)
                calldatacopy(p, add(i, 27), size)
                i := add(i, add(27, size))

                let before := gas()
                let ok := call(limit, target, 0, p, size, 0, 0)
                let used := sub(before, gas())

                mstore(p, ok)
                mstore(add(p, 0x20), used)
                mstore(add(p, 0x40), extcodesize(target))
                mstore(add(p, 0x60), returndatasize())
                returndatacopy(add(p, 0x80), 0, returndatasize())
                p := add(p, add(0x80, returndatasize()))
            }

            if byte(0, calldataload(0)) { revert(0, p) }
            return(0, p)
        }
    }
}
