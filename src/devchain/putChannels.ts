import type { Address, Hex } from 'viem'
import { setCode } from 'viem/actions'
import { channelsStandInArtifact } from './contracts/ChannelsStandIn.generated.js'
import { depositCollectorStandInArtifact } from './contracts/DepositCollectorStandIn.generated.js'
import { putMulticall } from './putBatches.js'
import type { DevClients } from './types.js'

/** Contract codes, with the addresses that x402 publishes for all chains. */
const published: readonly (readonly [Address, Hex])[] = [
  [
    '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003',
    channelsStandInArtifact.deployedBytecode,
  ],
  [
    '0x4020806089470a89826cb9fb1f4059150b550004',
    depositCollectorStandInArtifact.deployedBytecode,
  ],
]

/**
 * Puts substitutes for the contracts of x402's `batch-settlement` scheme at
 * their published addresses: the contract of the channels and the collector of
 * deposits by EIP-3009. Also puts Multicall3, which facilitators need. Sets
 * their code directly, without transactions, so no account nonce changes.
 */
export async function putChannels({
  test,
}: Pick<DevClients, 'test'>): Promise<void> {
  await putMulticall(test)
  for (const [address, bytecode] of published)
    await setCode(test, { address, bytecode })
}
