// SPDX-License-Identifier: MIT

// Runs the executor in one `eth_call` of a node without state overrides, as the
// creation code of a contract, which `eth_call` does not keep.
//
// Behind this code follow: the executor's length (2 bytes), the executor, its
// input. The answer is what the executor returned.
object "Creator" {
    code {
        // Copies deployer, length, executor and input to memory.
        let size := sub(codesize(), dataoffset("Deployer"))
        codecopy(0, dataoffset("Deployer"), size)
        let length := shr(240, mload(datasize("Deployer")))
        let input := add(add(datasize("Deployer"), 2), length)

        let executor := create(0, 0, input)
        // The executor reads its input from call data, which creation code does
        // not have. So it is a contract of its own.
        pop(delegatecall(gas(), executor, input, sub(size, input), 0, 0))
        returndatacopy(0, 0, returndatasize())
        return(0, returndatasize())
    }

    // Creation code of a contract whose code is what follows the length.
    object "Deployer" {
        code {
            let start := add(datasize("Deployer"), 2)
            let length := sub(codesize(), start)
            codecopy(0, start, length)
            return(0, length)
        }
    }
}
