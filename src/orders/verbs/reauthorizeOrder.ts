import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import type {
  AttemptRecord,
  OrderRecord,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { clientOf } from '../evidence/clientOf.js'
import { applyTaken, rulesOf } from '../model/apply.js'
import { writeChanges } from '../model/changes.js'
import { checkChainClock } from '../model/checkChainClock.js'
import { lastSecondOf } from '../model/endsOf.js'
import { OrdersSetupError } from '../model/errors.js'
import { signedKindOf } from '../model/kindOf.js'
import { loadOrder } from '../model/loadOrders.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import { isDead, mayRenew } from '../model/refusals.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { ReauthorizeVerdict } from '../model/types.js'
import { getKindToken } from './getCeilingFacts.js'
import {
  newAttempt,
  parseWindow,
  windowFrom,
  withOwnNonce,
} from './newAttempt.js'
import { chooseSubmitter } from './planDraft.js'

/** Parameters of `reauthorize`: the order to sign again. */
export type ReauthorizeOrderParameters = {
  orderId: string
  /**
   * Seconds from now until the payment expires; more than
   * `policy.safetyMargin`. @default `policy.window`
   */
  window?: bigint | undefined
}

const members: MembersOf<ReauthorizeOrderParameters> = {
  orderId: true,
  window: true,
}

type Window = Pick<AttemptRecord, 'validAfter' | 'validBefore'>

/** What the buyer signs again, and which account submits the payment. */
type Renewal = Window &
  Pick<AttemptRecord, 'terms'> &
  Partial<Pick<OrderRecord, 'submitter'>>

/** Implements `reauthorize` of `DestinationOrders`. */
export async function reauthorizeOrder(
  context: OrdersContext,
  parameters: ReauthorizeOrderParameters,
): Promise<ReauthorizeVerdict> {
  const { orderId } = parameters
  checkMembers(parameters, members)
  const seconds = parseWindow(context.policy, parameters.window)
  const known = await context.store.read((tables) =>
    loadOrder(tables, context, orderId),
  )
  if (!mayRenew(known)) return refuse(known)
  const time = await getChainTime(context, known.order.chainId)
  const window = windowFrom(time, seconds)
  const renewed = await getNewTerms(context, known.order)
  return writeAgain(context, async (tables) => {
    const found = await loadOrder(tables, context, orderId)
    if (!mayRenew(found)) return refuse(found)
    return renew(context, tables, found, { ...window, ...renewed })
  })
}

/**
 * Gets the operator and terms of a payment to sign again. Reads the payer's
 * permit nonce again, because other permits of the payer change it.
 */
async function getNewTerms(
  context: OrdersContext,
  order: OrderRecord,
): Promise<Omit<Renewal, keyof Window>> {
  const kind = signedKindOf(context, order)
  const { total, token, payer } = order
  if (total === 'amount' || !payer) return { terms: undefined }
  const client = clientOf(context, order)
  const found = await getKindToken(client, kind, { token, payer })
  const submitter = chooseSubmitter(context, order)
  const { permitNonce } = found
  const terms = kind.drawTerms({ operator: submitter, permitNonce })
  return { submitter, terms }
}

function refuse(found: StoredOrder): ReauthorizeVerdict {
  return { ok: false, reason: 'notOpen', order: showOrder(found) }
}

/**
 * Offers the next attempt if the newest one can no longer be paid; otherwise
 * the newest one with another window.
 */
async function renew(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
  { submitter = found.order.submitter, ...renewal }: Renewal,
): Promise<ReauthorizeVerdict> {
  const isNext = isDead(found)
  const attempt = withOwnNonce(
    context,
    found.order,
    isNext ? nextAttempt(found, renewal) : sameAttempt(found, renewal),
  )
  const rules = rulesOf(context)
  const input = { kind: 'reauthorize', attempt, submitter } as const
  const changes = applyTaken(found, input, rules)
  if (isNext) {
    const { version, ...row } = attempt
    await tables.attempts.insert([row])
  }
  const [order = found.order] = await writeChanges(tables, changes, rules.at)
  const others = found.attempts.filter(({ number }) => number < attempt.number)
  const renewed = { ...found, order, attempt, attempts: [...others, attempt] }
  const payment = draftedPaymentOf(context, order, attempt)
  return { ok: true, order: showOrder(renewed), payment }
}

function nextAttempt(
  { order: { payer }, attempt }: StoredOrder,
  renewal: Omit<Renewal, 'submitter'>,
): AttemptRecord {
  const { orderId, number, chainId, token, value } = attempt
  const fields = { orderId, chainId, token, value, payer, ...renewal }
  return { ...newAttempt({ ...fields, number: number + 1 }), version: 1 }
}

function sameAttempt(
  { attempt }: StoredOrder,
  { terms, ...window }: Omit<Renewal, 'submitter'>,
): AttemptRecord {
  return {
    ...attempt,
    ...otherThanSigned(window, attempt),
    terms,
    // The buyer may have signed the old offer without sending it to us, so its
    // window still counts.
    spendableUntil: lastSecondOf(attempt),
  }
}

/**
 * If the new window equals the signed one, starts it a second later, so that
 * the two can be told apart.
 */
function otherThanSigned(
  { validAfter, validBefore }: Window,
  { signedAfter, signedBefore }: AttemptRecord,
): Window {
  const isSigned = validAfter === signedAfter && validBefore === signedBefore
  return { validAfter: isSigned ? validAfter - 1n : validAfter, validBefore }
}

/**
 * Gets the time of the newest block of an order's chain, in Unix seconds.
 *
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
 * s.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
async function getChainTime(
  context: OrdersContext,
  chainId: number,
): Promise<bigint> {
  const known = context.tokens.find((token) => token.chainId === chainId)
  if (!known)
    throw new OrdersSetupError(
      `have no client for chain ${chainId}: add a token of that chain to tokens`,
    )
  const head = await getBlockHead(known.client, 'latest')
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: 'has no latest block',
    })
  checkChainClock(context, { timestamp: head.timestamp, chainId })
  return head.timestamp
}
