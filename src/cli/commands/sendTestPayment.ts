import type { Address, PrivateKeyAccount } from 'viem'
import { getHeads } from '../../chain/state/getHeads.js'
import { getToken, type Token } from '../../chain/state/getToken.js'
import { getTokenBalance } from '../../chain/state/getTokenBalance.js'
import { formatAmount } from '../../core/amount.js'
import type { Payment, PrimaryType, SignedPayment } from '../../core/types.js'
import { wait } from '../../core/wait.js'
import {
  clientOf,
  contextOf,
  draftTestOrder,
  type OrdersContext,
  paidBy,
  writeCaptureRequests,
} from '../../orders/engine.js'
import type {
  AnyDraftedPayment,
  DraftedOrder,
  Order,
} from '../../orders/index.js'
import { signPayment } from '../../payments/sign/signPayment.js'
import type { Destination } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { fail, ok, tryCheck } from '../checks/findings.js'
import type { CheckFinding } from '../checks/types.js'
import { describeFailure } from '../terminal/describeFailure.js'
import { UsageError } from '../terminal/errors.js'
import { countOf } from '../terminal/formats.js'
import type { OpenedShop } from '../terminal/openShop.js'
import { openStatus } from '../terminal/progress.js'
import type { CliIo } from '../terminal/types.js'
import { testSubject as subject, voidTest } from './clearTests.js'

export type TestPlan = {
  /** The account that signs and pays. */
  account: PrivateKeyAccount
  /**
   * Chain, token and recipient to pay. Each may be left out if the others
   * already select one destination of the shop.
   */
  choice: {
    chainId: number | undefined
    token: Address | undefined
    recipient: Address | undefined
  }
  /** Seconds within which a worker must capture the payment. */
  limit: number
}

export type SentTest = {
  findings: readonly CheckFinding[]
  /** Absent if no order was drafted. */
  order: Order | undefined
}

/** Milliseconds between two polls of the order. */
const lookEvery = 250

/**
 * Pays one smallest unit of a token as a buyer would, and waits until a running
 * worker has captured it. Sends no transaction itself. Voids the order if no
 * worker captures it in time, or when the user interrupts.
 *
 * The order is a test order: it is never fulfilled, and no webhook reports it.
 */
export async function sendTestPayment(
  shop: OpenedShop,
  destination: Destination,
  plan: TestPlan,
  io: CliIo,
): Promise<SentTest> {
  const payer = await tryCheck(subject, 'Check the node.', () =>
    checkPayer(shop.context, destination, plan),
  )
  const findings = [...payer]
  if (payer.some(({ level }) => level === 'fail'))
    return { findings, order: undefined }
  const interrupted = new AbortController()
  void io.untilInterrupted().then(() => interrupted.abort())
  const { signal } = interrupted
  const test: Test = { shop, plan, io, findings, signal, order: undefined }
  const watched = await runTest(test, destination).catch((error: unknown) => {
    const { text, code } = describeFailure(error)
    const toDo = 'Repair this, then try again.'
    findings.push({ ...fail(subject, text, toDo), isAway: code === 3 })
    return undefined
  })
  // Voids the order before it finds out why it was not captured. Otherwise a
  // worker could capture it during those requests.
  const voided = await giveUp(test)
  if (test.order?.state === 'captured') findings.push(captured(test.order))
  else if (watched) findings.push(await judge(test, watched))
  findings.push(...voided)
  return { findings, order: test.order }
}

/** State of a test payment in progress. */
type Test = {
  shop: OpenedShop
  plan: TestPlan
  io: CliIo
  findings: CheckFinding[]
  /** Aborts when the user interrupts. */
  signal: AbortSignal
  /** The order as last loaded. */
  order: Order | undefined
}

/**
 * Finds the destination that a test payment goes to.
 *
 * @throws {@link UsageError} when no destination fits, or several do.
 */
export function destinationOfPlan(
  { destinations }: OrdersContext,
  { choice }: TestPlan,
): Destination {
  const { chainId, token, recipient } = choice
  const [only, ...others] = destinations.filter(
    (one) =>
      (chainId === undefined || one.chainId === chainId) &&
      (token === undefined || one.token === token) &&
      (recipient === undefined || one.recipient === recipient),
  )
  if (only && others.length === 0) return only
  throw new UsageError(
    only
      ? 'This shop is paid in several places: choose one with --chain, --token and --recipient.'
      : 'This shop has no such chain, token and recipient: npx countersign health lists them.',
  )
}

/** Checks that the payer can pay, before an order is written. */
async function checkPayer(
  context: OrdersContext,
  destination: Destination,
  { account }: TestPlan,
): Promise<CheckFinding> {
  const { token, recipient } = destination
  const payer = lower(account.address)
  if (payer === recipient)
    return fail(
      subject,
      'this key belongs to the recipient, which cannot pay itself',
      'Give the private key of another account, such as a buyer has. Nothing was stored.',
    )
  const client = clientOf(context, destination)
  const { decimals } = await getToken(client, { token })
  const { latest } = await getHeads(client, context.policy)
  const holder = { token, recipient: payer }
  const balance = await getTokenBalance(client, holder, latest.number)
  if (balance === 0n)
    return fail(
      subject,
      `this key belongs to ${payer}, which holds none of the token ${token}`,
      `Send that account at least ${formatAmount(1n, decimals)} of the token, or check that it is the right key. Nothing was stored.`,
    )
  return ok(
    subject,
    `this key belongs to ${payer}, which holds ${formatAmount(balance, decimals)}`,
  )
}

/**
 * Drafts the order, signs and accepts its payment, requests the capture, and
 * waits until a worker captures it.
 *
 * @returns the order after the wait; `undefined` if its payment was refused.
 */
async function runTest(
  test: Test,
  destination: Destination,
): Promise<Order | undefined> {
  const { shop, plan, findings } = test
  const { orders, context } = shop
  const client = clientOf(context, destination)
  const token = await getToken(client, { token: destination.token })
  const drafted = await draft(shop, destination, { ...plan, token })
  const { id: orderId, amount } = drafted.order
  test.order = drafted.order
  findings.push(
    ok(
      subject,
      `order ${orderId} over ${amount} to ${destination.recipient} is drafted, and marked: it is never fulfilled, and no webhook reports it`,
    ),
  )
  const payment = await sign(drafted, { ...plan, token })
  const verdict = await orders.accept({ orderId, payment })
  if (!verdict.ok) {
    findings.push(
      fail(
        subject,
        `the payment is refused: ${verdict.reason}`,
        'Look the reason up in docs/errors.md.',
      ),
    )
    return undefined
  }
  test.order = verdict.order
  findings.push(ok(subject, 'the payment is signed, verified and stored'))
  await writeAgain(context, (tables) =>
    writeCaptureRequests(context, tables, [orderId]),
  )
  findings.push(ok(subject, 'its capture is requested'))
  return watchCapture(test, orderId)
}

/** The account that pays, and the token. */
type Paid = Pick<TestPlan, 'account'> & { token: Token }

async function draft(
  { orders, context }: OpenedShop,
  { chainId, token, recipient }: Destination,
  { account, token: { decimals, capabilities } }: Paid,
): Promise<DraftedOrder<AnyDraftedPayment>> {
  const isOwn = context.wallets.some(
    (wallet) =>
      wallet.submitter.chainId === chainId && paidBy(wallet) === recipient,
  )
  const primaryType: PrimaryType =
    isOwn && capabilities.receive
      ? 'ReceiveWithAuthorization'
      : 'TransferWithAuthorization'
  await contextOf(orders).instance.openSealed()
  return draftTestOrder(context, {
    chainId,
    token,
    recipient,
    amount: formatAmount(1n, decimals),
    payer: account.address,
    primaryType,
  })
}

/**
 * Signs the test payment. First compares it with the order, as a checkout page
 * does.
 */
function sign(
  { order, payment: drafted }: DraftedOrder<AnyDraftedPayment>,
  { account, token: { decimals } }: Paid,
): Promise<SignedPayment> {
  const { chainId, token, recipient: to, amount } = order
  const { primaryType, domain } = drafted
  if (primaryType === 'Permit')
    throw new UsageError('A test payment needs a token with EIP-3009.')
  const message = { ...drafted.message, from: lower(account.address) }
  const payment: Payment = { primaryType, domain, message }
  const wallet = { account, request: async () => undefined }
  return signPayment(wallet, {
    payment,
    expect: { chainId, token, to, amount, decimals, primaryType },
    now: order.createdAt,
  })
}

/**
 * Loads the order repeatedly until a worker has captured or rejected it, or
 * until the time is over.
 */
async function watchCapture(test: Test, orderId: string): Promise<Order> {
  const { shop, io, plan, signal } = test
  const { limit } = plan
  const begun = performance.now()
  const status = openStatus(io)
  try {
    for (;;) {
      const order = await shop.orders.get({ orderId })
      test.order = order
      const passed = performance.now() - begun
      const left = limit * 1000 - passed
      if (isOver(order) || signal.aborted || left <= 0) return order
      status.show(
        `${waitingFor(order)}: ${Math.floor(passed / 1000)} s of ${limit} s`,
      )
      await wait(Math.min(lookEvery, left), signal)
    }
  } finally {
    status.end()
  }
}

/** True when no worker will change the order any more. */
function isOver({ state, requested }: Order): boolean {
  if (state === 'stored') return requested === undefined
  return state !== 'capturing' && state !== 'canceling'
}

function waitingFor({ state }: Order): string {
  return state === 'capturing'
    ? 'A worker sent it, waiting for the block'
    : 'Waiting for a worker'
}

function captured({ capture }: Order): CheckFinding {
  return ok(
    subject,
    capture
      ? `a worker captured it in transaction ${capture.transactionHash}, block ${capture.blockNumber}, and the chain proves it`
      : 'a worker captured it',
  )
}

/**
 * Says what a worker did with the order, or what the order waits for and what
 * to do about it.
 */
async function judge(
  { shop, plan, signal }: Test,
  order: Order,
): Promise<CheckFinding> {
  const { id, state, reason } = order
  if (signal.aborted && !isOver(order))
    return fail(subject, `was interrupted while ${state}`, 'Try again.')
  const late = `within ${countOf(plan.limit, 'second')}`
  if (state === 'capturing')
    return fail(
      subject,
      `hangs in the state capturing: a worker sent it, but the chain did not show it ${late}`,
      `Look at npx countersign inspect ${id} and at the fees of the chain, or wait longer with --timeout.`,
    )
  if (!isOver(order))
    return (await isWorked(shop, order))
      ? fail(
          subject,
          `hangs in the state ${state}: a worker runs, but did not send it ${late}`,
          'Look at npx countersign health: it shows what failed and waits.',
        )
      : fail(
          subject,
          `hangs in the state ${state}: no worker took it ${late}`,
          'Start a server that calls orders.run on this database, then try again.',
        )
  return fail(
    subject,
    reason === undefined
      ? `ended in the state ${state}`
      : `was not captured: ${reason}`,
    reason === undefined
      ? `Look at npx countersign inspect ${id}.`
      : 'Look the reason up in docs/errors.md.',
  )
}

/**
 * True when a worker holds the lease of a sending account on this chain. Also
 * true when that cannot be known: the report has no accounts of relayers.
 */
async function isWorked(
  { orders }: OpenedShop,
  { chainId }: Order,
): Promise<boolean> {
  const health = await orders.health().catch(() => undefined)
  const here = health?.submitters.filter((one) => one.chainId === chainId)
  return !here?.length || here.some(({ lease }) => lease !== undefined)
}

/** Voids an order that is not captured, so that no worker captures it later. */
async function giveUp(test: Test): Promise<readonly CheckFinding[]> {
  const { shop, order } = test
  if (!order || order.state === 'captured') return []
  const { findings, order: last } = await voidTest(shop, order.id)
  test.order = last ?? order
  return findings
}

function lower(address: Address): Address {
  return address.toLowerCase() as Address
}
