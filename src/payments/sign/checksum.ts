import { type Address, getAddress } from 'viem'

/** Returns the address in mixed case, with its checksum (EIP-55). */
export function checksum(address: Address): Address {
  return getAddress(address)
}
