import { type DevChain, startDevChain } from 'countersign/devchain'
import { erc20Abi } from 'viem'
import { writeContract } from 'viem/actions'
import { afterAll, beforeAll } from 'vitest'
import { mined } from './desk.js'

/** The chain of one test file: it starts with the file and stops after it. */
export let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 8 })
})
afterAll(() => chain.stop())

export const nothing = {
  captured: 0,
  canceled: 0,
  consumed: 0,
  unexpected: 0,
  overpaid: 0,
  unmatched: 0,
}

export const transfer = (value: bigint) =>
  mined(
    chain,
    writeContract(chain.clients.payer, {
      address: chain.token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [chain.clients.merchant.account.address, value],
    }),
  )
