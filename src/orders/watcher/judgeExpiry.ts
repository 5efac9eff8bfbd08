import type { Address } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { inTime } from '../../core/wait.js'
import type { OrderRecord, OrderState } from '../../store/types.js'
import { findEvidence } from '../evidence/findEvidence.js'
import { findOpen } from '../evidence/findOpen.js'
import { lastSecondOf } from '../model/endsOf.js'
import {
  type HasKinds,
  hasTokenNonce,
  kindOf,
  knowsKind,
  unknownKind,
} from '../model/kindOf.js'
import type { Evidence } from '../model/settleOrder.js'
import { lookAgain } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { Apart } from './tryStep.js'
import type { SureHeads, TokenMemory, TokenWatch } from './watchState.js'

/** What a poll knows when it decides about orders that are due for a check. */
export type DueWatch = TokenWatch & {
  sure: SureHeads
  /** Recipients whose payments are all in the store, up to the newest block. */
  read: ReadonlySet<Address>
  /** Single orders that failed; each waits for its own next try. */
  parts: Apart
}

/** States of orders that no longer wait for their payment. */
const ended: readonly OrderState[] = ['expired', 'voided']

/** Returns the account whose payment nonce the attempt uses, if known. */
export function payerOf({
  order,
  attempt,
}: Pick<StoredOrder, 'order' | 'attempt'>): Address | undefined {
  return attempt.payer ?? order.payer
}

/** True once every payment that was signed for the attempt has expired. */
export function isOver(
  { attempt }: Pick<StoredOrder, 'attempt'>,
  time: bigint,
): boolean {
  return lastSecondOf(attempt) <= time
}

export type Judged = { order: OrderRecord; evidence: Evidence | undefined }

/**
 * Finds what the newest block shows about orders that are due for a check. The
 * node must also return that block by its number. A nonce that is unused in the
 * newest block was unused in every earlier one, so this needs no archive node.
 *
 * @throws {@link UnsupportedTokenError} when the token cannot tell whether a
 * nonce was used.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function judgeExpiry(
  context: HasKinds,
  { client, chainId, token, heads, sure, read, parts, tokenMemory }: DueWatch,
  due: readonly StoredOrder[],
): Promise<Judged[]> {
  const { latest, confirm } = heads
  const aboutOf = ({ order }: StoredOrder) => ({
    destination: order,
    due: latest.timestamp + lookAgain,
  })
  const over = due.filter((stored) => {
    if (!isOver(stored, latest.timestamp)) return false
    if (knowsKind(context, stored.order)) return true
    parts.put(stored.order.id, unknownKind(stored.order), aboutOf(stored))
    return false
  })
  const [{ spent, unused }] = await Promise.all([
    findOpen(context, client, { chainId, token }, over, latest.number),
    confirm(),
  ])
  const { finalized } = sure
  const isFinallyOver = (stored: StoredOrder): boolean =>
    finalized !== undefined && isOver(stored, finalized.timestamp)
  const explain = async (
    stored: StoredOrder,
    isCharge = false,
  ): Promise<Evidence | undefined> => {
    try {
      const block = latest.number
      const asked = { ...stored, kinds: context.kinds, block }
      const evidence = await (isCharge
        ? askBeside(tokenMemory, stored, () => findEvidence(client, asked))
        : findEvidence(client, asked))
      if (evidence?.kind !== 'expired') return evidence
      // The node's answers contradict each other: one shows the nonce as used,
      // the next as unused. A later poll decides.
      if (!isCharge && hasTokenNonce(kindOf(context, stored.order)))
        return undefined
      // A long search may have checked a block below the one that is final now.
      // Then it does not show that the nonce is unused at the final block.
      const isFinal =
        finalized &&
        isFinallyOver(stored) &&
        evidence.blockNumber >= finalized.number
      return isFinal ? expiredAt(finalized, true) : evidence
    } catch (error) {
      // An order that fails must not stop the checks of others.
      parts.put(stored.order.id, error, aboutOf(stored))
      return undefined
    }
  }
  const judge = async (stored: StoredOrder): Promise<Evidence | undefined> => {
    const { order, attempt } = stored
    if (kindOf(context, order).settling) {
      // A search reads all blocks of the order's lifetime. For an order that
      // has ended, search again only once its end is final.
      const waits = ended.includes(order.state) && !isFinallyOver(stored)
      return waits ? undefined : explain(stored, true)
    }
    if (spent.has(attempt.nonce)) return explain(stored)
    // Without a known payer, there is no account whose nonce could be checked.
    // Then only the transfers to the recipient can show a payment.
    if (!payerOf(stored))
      return read.has(order.recipient) &&
        isStillUnpaid(tokenMemory, order, latest.timestamp)
        ? expiredAt(latest, true)
        : undefined
    const answered = unused.get(attempt.nonce)
    if (answered === undefined) return undefined
    // The node may answer from an older block than the requested one.
    const isOlder = answered < latest.timestamp
    const timestamp = isOlder ? answered : latest.timestamp
    const isFinal =
      finalized !== undefined &&
      finalized.timestamp <= timestamp &&
      isOver(stored, finalized.timestamp)
    if (isFinal) return expiredAt(finalized, true)
    return isOver(stored, timestamp)
      ? expiredAt({ number: latest.number, timestamp }, false)
      : undefined
  }
  return Promise.all(
    due.map(async (stored) => ({
      order: stored.order,
      evidence: over.includes(stored) ? await judge(stored) : undefined,
    })),
  )
}

/**
 * Milliseconds that a poll waits for a search; the search then continues in the
 * background.
 */
const patience = 500

/**
 * Searches in the background. A search through many blocks continues after this
 * poll, and the next check of the order gets its result.
 * @throws {@link NodeAnswerError} while the search is not finished.
 */
async function askBeside(
  { searches }: TokenMemory,
  { order: { id, state } }: StoredOrder,
  search: () => Promise<Evidence | undefined>,
): Promise<Evidence | undefined> {
  // An order that changed its state needs another search.
  const key = `${id} ${state}`
  const searching = searches.get(key) ?? search()
  searches.set(key, searching)
  const isDone = () => true
  await inTime(searching.then(isDone, isDone), patience, throwUnfinished)
  searches.delete(key)
  return searching
}

function throwUnfinished(): never {
  throw new NodeAnswerError({
    method: 'eth_getLogs',
    problem: 'takes long; the search for the payment continues',
  })
}

/**
 * True when an earlier poll, at an earlier block, found no payment either. With
 * one poll alone, a node that once omits a log would make a paid draft expire.
 */
function isStillUnpaid(
  { unpaid }: TokenMemory,
  { id }: OrderRecord,
  time: bigint,
): boolean {
  const before = unpaid.get(id)
  if (before === undefined) unpaid.set(id, time)
  return before !== undefined && before < time
}

function expiredAt(
  { number, timestamp }: { number: bigint; timestamp: bigint },
  final: boolean,
): Evidence {
  return { kind: 'expired', blockNumber: number, blockTime: timestamp, final }
}
