import type { Address, Client } from 'viem'
import { prober } from './getToken.js'
import { runCalls } from './runCalls.js'
import { runPlainCalls } from './runPlainCalls.js'

/**
 * Returns those of the addresses that have code: contracts, and accounts that
 * delegate to one (EIP-7702). Sends one request if the node supports state
 * overrides.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function findContracts(
  client: Client,
  addresses: Iterable<Address>,
): Promise<ReadonlySet<Address>> {
  const all = [...new Set(addresses)]
  const { calls } = await runCalls(client, {
    from: prober,
    fallback: runPlainCalls,
    calls: Object.fromEntries(
      all.map((target) => [target, { target, data: '', gas: 0 }]),
    ),
    block: 'latest',
  })
  return new Set(all.filter((one) => calls[one]?.hasCode))
}
