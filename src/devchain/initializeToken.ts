import type { Address } from 'viem'
import { fiatTokenV2_2Artifact } from './contracts/FiatTokenV2_2.generated.js'
import { sendAs } from './sendAs.js'
import type { DevClients } from './types.js'

/**
 * Account that has every role of a development token, such as minter and
 * pauser. Nobody has its private key; the node sends its transactions without
 * one (impersonation).
 */
export const devAuthority: Address =
  '0x00000000000000000000000000000000c0de5165'

/**
 * Accounts for the four roles that the token's `initialize` takes, in its
 * order.
 */
export const devRoles: readonly Address[] = [
  devAuthority,
  devAuthority,
  devAuthority,
  devAuthority,
]

/** The address of a token, and the name, symbol and decimals to give it. */
export type InitializeTokenParameters = {
  token: Address
  name: string
  symbol: string
  decimals: number
}

/** Calls `initialize` of a token whose code is already at its address. */
export async function initializeToken(
  clients: Pick<DevClients, 'public' | 'test'>,
  { token, name, symbol, decimals }: InitializeTokenParameters,
): Promise<void> {
  const call = {
    address: token,
    abi: fiatTokenV2_2Artifact.abi,
    functionName: 'initialize',
    args: [name, symbol, 'USD', decimals, ...devRoles],
  }
  await sendAs(clients, { from: devAuthority, calls: [call] })
}
