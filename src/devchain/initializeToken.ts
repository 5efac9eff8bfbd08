import type { Address } from 'viem'
import { fiatTokenV2_2Artifact } from './contracts/FiatTokenV2_2.generated.js'
import { sendAs } from './sendAs.js'
import type { DevClients } from './types.js'

/** Account that has every role of a development token. Nobody has its key. */
export const devAuthority: Address =
  '0x00000000000000000000000000000000c0de5165'

/** All four roles of a token, in the order of `initialize`. */
export const devRoles: readonly Address[] = [
  devAuthority,
  devAuthority,
  devAuthority,
  devAuthority,
]

/** A token at an address and how it describes itself. */
export type InitializeTokenParameters = {
  token: Address
  name: string
  symbol: string
  decimals: number
}

/** Initializes the token whose code is at an address. */
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
