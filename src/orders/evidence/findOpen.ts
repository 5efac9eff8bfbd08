import type { Client, Hex } from 'viem'
import {
  NodeAnswerError,
  UnsupportedTokenError,
} from '../../chain/rpc/errors.js'
import { isTrue, isWord } from '../../chain/state/executor.js'
import { prober } from '../../chain/state/getToken.js'
import { runCalls } from '../../chain/state/runCalls.js'
import { runPlainCalls } from '../../chain/state/runPlainCalls.js'
import type { Call } from '../../chain/state/types.js'
import type { Destination } from '../../store/types.js'
import { type HasKinds, kindOf } from '../model/kindOf.js'
import { paymentOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'

/** Most nonces in one request, because nodes limit the gas of a call. */
const chunkSize = 150

/**
 * Finds which payment nonces were used at a block. For each unused one, returns
 * the time of the block that showed this. Sends one request per 150 nonces.
 * Leaves out attempts without a payer.
 *
 * To find which transaction used a nonce, call `findEvidence`.
 *
 * @throws {@link UnsupportedTokenError} when the token cannot tell whether a
 * nonce was used.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or answers for another chain.
 */
export async function findOpen(
  context: HasKinds,
  client: Client,
  destination: Pick<Destination, 'chainId' | 'token'>,
  storedOrders: readonly Pick<StoredOrder, 'order' | 'attempt'>[],
  block: bigint,
): Promise<{
  spent: ReadonlySet<Hex>
  /**
   * Unused nonces, with the time (Unix seconds) of the block that showed this.
   */
  unused: ReadonlyMap<Hex, bigint>
}> {
  const asked = storedOrders.flatMap(({ order, attempt }) => {
    const payer = attempt.payer ?? order.payer
    const kind = kindOf(context, order)
    if (!payer || kind.settling) return []
    const call = kind.spentCall(paymentOf(context, order, attempt))
    return [{ nonce: attempt.nonce, call }]
  })
  const chunks = Array.from(
    { length: Math.ceil(asked.length / chunkSize) },
    (_, at) => asked.slice(at * chunkSize, (at + 1) * chunkSize),
  )
  const answers = await Promise.all(
    chunks.map((chunk) => askChunk(client, destination, chunk, block)),
  )
  const unused = answers.flatMap((answer) => answer.unused)
  return {
    spent: new Set(answers.flatMap((answer) => answer.spent)),
    unused: new Map(unused),
  }
}

type Asked = { nonce: Hex; call: Call }

async function askChunk(
  client: Client,
  { chainId, token }: Pick<Destination, 'chainId' | 'token'>,
  asked: readonly Asked[],
  block: bigint,
): Promise<{ spent: Hex[]; unused: [Hex, bigint][] }> {
  const { head, calls } = await runCalls(client, {
    from: prober,
    fallback: runPlainCalls,
    calls: Object.fromEntries(asked.map(({ nonce, call }) => [nonce, call])),
    block,
  })
  if (head.chainId !== chainId)
    throw new NodeAnswerError({
      method: 'eth_call',
      problem: `is of chain ${head.chainId}, and not ${chainId}`,
    })
  // While the checkout contract is not deployed, no payment through it can have
  // been captured, so its nonces are unused.
  const isAbsent = ({ nonce, call }: Asked) =>
    call.target !== token && !(calls[nonce] ?? noAnswer).hasCode
  const isOdd = (one: Asked) =>
    !isWord(calls[one.nonce] ?? noAnswer) && !isAbsent(one)
  if (asked.some(isOdd))
    throw new UnsupportedTokenError({
      token,
      problem: 'has no authorizationState',
    })
  const nonces = asked.map(({ nonce }) => nonce)
  const isSpent = (nonce: Hex) => isTrue(calls[nonce] ?? noAnswer)
  return {
    spent: nonces.filter(isSpent),
    unused: nonces
      .filter((nonce) => !isSpent(nonce))
      .map((nonce) => [nonce, head.timestamp]),
  }
}

const noAnswer = { ok: false, data: '0x', hasCode: false } as const
