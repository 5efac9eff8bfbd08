import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/facilitator'
import type { Abi } from 'viem'
import { sampleConfig } from './channelSamples.js'

/**
 * The ABI of the channel contract as x402's own package has it. The package
 * does not export it, so this takes it from a read that its facilitator makes.
 */
export async function stockChannelAbi(): Promise<Abi> {
  const abis: Abi[] = []
  const signer = {
    getAddresses: () => [sampleConfig.receiver],
    readContract: async ({ abi }: { abi: Abi }) => {
      abis.push(abi)
      return [0n, 0n]
    },
  }
  const facilitator = new BatchSettlementEvmScheme(signer as never)
  const { receiver, token } = sampleConfig
  const requirements = {
    scheme: 'batch-settlement',
    network: 'eip155:8453',
    asset: token,
    amount: '0',
    payTo: receiver,
    maxTimeoutSeconds: 0,
    extra: {},
  }
  await facilitator.settle(
    {
      x402Version: 2,
      payload: { type: 'settle', receiver, token },
      accepted: requirements,
    } as never,
    requirements as never,
  )
  const [abi] = abis
  if (!abi) throw new Error('the facilitator of x402 read no contract')
  return abi
}
