import type { Client, Hash } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import {
  type BlockSelector,
  getBlockHead,
} from '../../chain/rpc/requestNode.js'
import { readSpent } from '../../chain/state/getAuthorizationState.js'
import { getPaymentOutcome } from '../../chain/state/getPaymentOutcome.js'
import type { Call } from '../../chain/state/types.js'
import { CountersignError } from '../../core/CountersignError.js'
import type { Settling } from '../../payments/kind.js'
import { lastSecondOf } from '../model/endsOf.js'
import { type HasKinds, kindOf } from '../model/kindOf.js'
import { paymentOf } from '../model/paymentOf.js'
import type { Evidence } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { getProof } from './getProof.js'

/**
 * Finds out what the chain shows about an attempt at one block. Returns
 * `undefined` while the payment nonce is unused and the window open, and if the
 * payer is unknown.
 *
 * A payment proves the capture, whichever window the signature had. Until its
 * block is final, a reorganization can undo it.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, its answers contradict each other, or its logs lack the transaction
 * that used the nonce.
 */
export async function findEvidence(
  client: Client,
  parameters: Pick<StoredOrder, 'order' | 'attempt'> &
    HasKinds & {
      /** Block at which to check. @default 'latest' */
      block?: BlockSelector | undefined
      /**
       * A transaction that may have used the nonce. It is checked first,
       * because that saves a search.
       */
      hash?: Hash | undefined
      /**
       * True when the block is final. @default `true` only for `'finalized'`
       */
      final?: boolean | undefined
    },
): Promise<Evidence | undefined> {
  const { order, attempt, block = 'latest', hash } = parameters
  const { final = block === 'finalized' } = parameters
  const payer = attempt.payer ?? order.payer
  if (payer === undefined) return undefined
  const kind = kindOf(parameters, order)
  const payment = paymentOf(parameters, order, attempt)
  const number = await pinBlock(client, block)
  if (kind.settling)
    return findSettled(client, parameters, kind.settling, {
      block: number,
      final,
    })
  // Payments of this kind take their nonces from a counter of the payer.
  // Without a stored signature, another payment of the payer could be taken for
  // this one.
  if (kind.permit && attempt.signatureHash === undefined) {
    const head = await getBlockHead(client, number)
    return head && findEnd(attempt, head, final)
  }
  const spentCall = kind.spentCall(payment)
  const { consumed, head } = await readSpent(client, spentCall, number)
  const judged = { number, timestamp: head.timestamp }
  if (!consumed) return findEnd(attempt, judged, final)

  const outcome = await getPaymentOutcome(client, {
    payment,
    kind,
    hash,
    block: number,
    since: order.createdAt,
  })
  if (outcome.status === 'captured') {
    const { transactionHash } = outcome.proof
    const evidence = await getProof(client, parameters, transactionHash)
    const isLater =
      kind.permit !== undefined &&
      evidence?.kind === 'capture' &&
      evidence.proof.blockTime >= lastSecondOf(attempt)
    // The capture that was found is a later payment of the payer with the same
    // nonce, so it does not pay this order.
    return isLater ? findEnd(attempt, judged, final) : evidence
  }
  if (outcome.status === 'canceled')
    return getProof(client, parameters, outcome.transactionHash)
  if (outcome.status === 'unknown' && kind.permit) {
    const capturedCall = kind.permit.capturedCall(payment)
    const captured = await readSpent(client, capturedCall, number)
    if (!captured.consumed)
      return findWithdrawn(client, { attempt, spentCall, judged, final })
  }
  // The merchant created this random nonce for the order, so logs since then
  // must show its use. The node's logs are incomplete.
  if (outcome.status === 'unknown')
    throw new NodeAnswerError({
      method: 'eth_getLogs',
      problem: 'lacks the transaction that used a payment nonce',
    })
  if (outcome.status !== 'consumed') return undefined
  const { transactionHash, blockNumber } = outcome
  return { kind: 'consumed', transactionHash, blockNumber }
}

/**
 * Like {@link findEvidence}, for a kind without payment nonces, such as charges
 * of subscriptions. While its transaction is in flight, such a payment does not
 * expire, because it could still be mined.
 */
async function findSettled(
  client: Client,
  parameters: Pick<StoredOrder, 'order' | 'attempt'> & HasKinds,
  settling: Settling,
  { block: toBlock, final }: { block: bigint; final: boolean },
): Promise<Evidence | undefined> {
  const { order, attempt } = parameters
  const payment = paymentOf(parameters, order, attempt)
  const { validAfter } = attempt
  const since = validAfter < order.createdAt ? validAfter : order.createdAt
  const hash = await settling.find(client, payment, { since, toBlock })
  if (hash !== undefined) return getProof(client, parameters, hash)
  const isSent = order.state === 'capturing' || order.state === 'canceling'
  const head = isSent ? undefined : await getBlockHead(client, toBlock)
  return head && findEnd(attempt, head, final)
}

function findEnd(
  attempt: StoredOrder['attempt'],
  { number: blockNumber, timestamp: blockTime }: Judged,
  final: boolean,
): Evidence | undefined {
  if (blockTime < lastSecondOf(attempt)) return undefined
  return { kind: 'expired', blockNumber, blockTime, final }
}

/** The block at which the payment was checked, and its time in Unix seconds. */
type Judged = { number: bigint; timestamp: bigint }

/**
 * Explains a payment that the payer ended without a log. It counts as
 * `withdrawn` only once a final block shows that, because without a receipt we
 * could not notice a reorganization.
 */
async function findWithdrawn(
  client: Client,
  {
    attempt,
    spentCall,
    judged,
    final,
  }: {
    attempt: StoredOrder['attempt']
    spentCall: Call
    judged: Judged
    final: boolean
  },
): Promise<Evidence | undefined> {
  const finalized = await readSpent(client, spentCall, 'finalized').catch(
    (error: unknown) => {
      // Some nodes have no final block, or no longer its state. Then nothing is
      // proved.
      if (error instanceof CountersignError) return undefined
      throw error
    },
  )
  if (finalized?.consumed)
    return { kind: 'withdrawn', blockNumber: finalized.head.number }
  return findEnd(attempt, judged, final)
}

/**
 * Returns the number of the block that a tag such as `latest` means now, so
 * that all later answers are about the same block.
 */
async function pinBlock(client: Client, block: BlockSelector): Promise<bigint> {
  if (typeof block === 'bigint') return block
  const head = await getBlockHead(client, block)
  if (head) return head.number
  throw new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: `has no ${block} block`,
  })
}
