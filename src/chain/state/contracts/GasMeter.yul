// SPDX-License-Identifier: MIT

// Measures what one call leaves of its gas, in one `eth_call` of a node without
// state overrides, as the creation code of a contract, which `eth_call` does not
// keep.
//
// Behind this code follow: the target (20 bytes), the call's data. The answer is
// the gas before the call and after it (a word each). It is revert data, because
// each byte that creation code returns costs gas.
object "GasMeter" {
    code {
        let size := sub(codesize(), datasize("GasMeter"))
        codecopy(0, datasize("GasMeter"), size)
        let target := shr(96, mload(0))

        let before := gas()
        pop(staticcall(before, target, 20, sub(size, 20), 0, 0))
        let left := gas()
        mstore(0, before)
        mstore(32, left)
        revert(0, 64)
    }
}
