import type { Address, Client } from 'viem'
import { runCalls } from '../../chain/state/runCalls.js'
import { runCreated } from '../../chain/state/runCreated.js'
import { checkMembers } from '../../core/checkMembers.js'
import { parseAddress } from '../../core/fields.js'
import { word } from '../../core/words.js'
import { neutralCaller } from '../../payments/verify/rehearse.js'
import { channelContract } from './channelDomain.js'
import {
  type ChannelBlock,
  type ChannelReadAt,
  parseChannelBlock,
  readWords,
} from './getChannel.js'

/** Receiver, token and block of {@link getSettled}. */
export type GetSettledParameters = ChannelBlock & {
  receiver: Address
  /** Address of the token contract. */
  token: Address
}

/** What a receiver has claimed of a token in all its channels. */
export type SettledState = {
  /** Total claimed, in base units. */
  claimed: bigint
  /** Total moved to the receiver, in base units. The rest waits for `settle`. */
  settled: bigint
  at: ChannelReadAt
}

/** Selector of `receivers(address,address)`. */
const receiversSelector = '21ff6389'

/** Most gas that the view may use: it reads one slot. */
const viewGas = 50_000

/**
 * Reads what a receiver has claimed and settled of a token, in one request.
 *
 * @throws {@link InvalidFieldError} when an address or the block is malformed.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed, or the chain has
 * no channel contract.
 *
 * @example
 * ```ts
 * import { getSettled } from 'countersign/channels'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 *
 * export async function leftToSettle(receiver: `0x${string}`) {
 *   const { claimed, settled } = await getSettled(client, {
 *     receiver,
 *     token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *   })
 *   return claimed - settled
 * }
 * ```
 */
export async function getSettled(
  client: Client,
  parameters: GetSettledParameters,
): Promise<SettledState> {
  checkMembers(parameters, ['receiver', 'token', 'blockTag', 'blockNumber'])
  const given: GetSettledParameters = Object(parameters)
  const receiver = parseAddress(given.receiver, 'receiver')
  const token = parseAddress(given.token, 'token')
  const { head, calls } = await runCalls(client, {
    from: neutralCaller,
    calls: {
      totals: {
        target: channelContract,
        data: receiversSelector + word(receiver) + word(token),
        gas: viewGas,
      },
    },
    block: parseChannelBlock(given),
    fallback: runCreated,
  })
  const { ok, data } = calls.totals
  const [claimed = 0n, settled = 0n] = readWords(ok ? data : undefined, 2)
  const at = { blockNumber: head.number, blockTime: head.timestamp }
  return { claimed, settled, at }
}
