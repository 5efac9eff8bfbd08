import { setTimeout } from 'node:timers/promises'
import {
  cancelPayment,
  capturePayment,
  type Payment,
  type SignedPayment,
} from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type { Address, Hash } from 'viem'
import { getBlock } from 'viem/actions'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { draft, randomHash, revoke } from './desk.js'
import { recordReceipt } from './recordReceipt.js'
import { fileOf, mineBlocks, orderOf, typesOf, watchOf } from './watching.js'
import { contextOf, putOrder } from './watchRows.js'

/** What a submitter writes. */
const kinds = [
  'capture',
  'gateAnswer',
  'charge',
  'refund',
  'cancellation',
  'consumed',
] as const

/** When blocks are replaced, seen from the submitter's write and the looks. */
type UnseenSchedule = {
  kind: (typeof kinds)[number]
  fulfilAt: 'included' | 'safe'
  /** Blocks on top of the transaction's when they are replaced. */
  above: number
  /** Number of replaced blocks. */
  depth: number
  transactions: 'replayed' | 'dropped'
  /** Looks after the transaction is mined, before it is written. */
  before: number
  /** Looks between the write and the reorganization. */
  between: number
  /** The submitter writes what it read only after the reorganization. */
  isLate: boolean
  /** Looks between the reorganization and a late write. */
  until: number
  /** Blocks that are mined after the reorganization, before the next look. */
  grown: number
}

/** One schedule to play again, as a failure prints it. */
const again = process.env.COUNTERSIGN_FAULTS

/** Schedules that one watcher goes through before the next one begins. */
const perWatcher = 25

/** Schedules of neighbouring seeds are others, however many are drawn. */
const seedStep = 4_099

/**
 * Plays drawn schedules, or the one to play again, one after another. Returns
 * the first that did not end well, if any.
 */
export async function runUnseen(
  chain: DevChain,
  { count, seed }: { count: number; seed: number },
): Promise<unknown[]> {
  const merchant = chain.clients.merchant.account.address
  await chain.mint({ to: merchant, value: 10n ** 15n })
  let world = openWorld(chain)
  for (let place = 0; place < (again ? 1 : count); place++) {
    if (place % perWatcher === 0) world = openWorld(chain)
    const schedule = again
      ? (JSON.parse(again) as UnseenSchedule)
      : drawSchedule(seed * seedStep + place)
    const problems = await playSchedule(world, schedule)
    if (problems.length > 0)
      return [{ place, schedule: JSON.stringify(schedule), problems }]
  }
  return []
}

function drawSchedule(seed: number): UnseenSchedule {
  const random = seededRandom(seed)
  const below = (end: number) => Math.floor(random() * end)
  return {
    kind: kinds[below(kinds.length)] ?? 'capture',
    fulfilAt: random() < 0.7 ? 'included' : 'safe',
    above: below(4),
    depth: 1 + below(6),
    transactions: random() < 0.6 ? 'dropped' : 'replayed',
    before: below(2),
    between: below(3),
    isLate: random() < 0.3,
    until: below(3),
    grown: below(3),
  }
}

type Watched = { context: OrdersContext; look: () => Promise<unknown> }

type World = { chain: DevChain; watched: Record<'included' | 'safe', Watched> }

/** Each watcher is alive for all of its schedules: a new one checks everything. */
function openWorld(chain: DevChain): World {
  const open = (fulfilAt: 'included' | 'safe'): Watched => {
    const context = contextOf(chain, { policy: { fulfilAt } })
    // Reconciles in its first look only, which would write the same proofs.
    const watcher = watchOf(context)
    return { context, look: watcher.look }
  }
  return { chain, watched: { included: open('included'), safe: open('safe') } }
}

async function playSchedule(
  { chain, watched }: World,
  schedule: UnseenSchedule,
): Promise<string[]> {
  const { context, look: watch } = watched[schedule.fulfilAt]
  const problems: string[] = []
  await mineBlocks(chain, 6)
  await watch()
  const { id, send } = await putKind(chain, context, schedule.kind)
  const hash = await send()
  const write = await recordReceipt(context, id, hash)
  const look = async (): Promise<void> => {
    const { fulfilled: before } = await orderOf(context, id)
    await watch()
    const { fulfilled } = await orderOf(context, id)
    const isNew = before === undefined && fulfilled !== undefined
    if (isNew && !(await blockOf(chain, hash)))
      problems.push('fulfilled for a block that was replaced before the look')
  }
  const looks = async (count: number) => {
    for (let at = 0; at < count; at++) await look()
  }
  await mineBlocks(chain, schedule.above)
  await looks(schedule.before)
  if (!schedule.isLate) {
    await write()
    await looks(schedule.between)
  }
  const { depth, transactions } = schedule
  await chain.reorg({ depth, transactions })
  // The node mines what returned to its pool a moment later.
  if (transactions === 'replayed') await untilMined(chain, hash)
  await mineBlocks(chain, schedule.grown)
  if (schedule.isLate) {
    await looks(schedule.until)
    await write()
  }
  await look()
  const seen = { id, hash, schedule }
  problems.push(...(await compare(chain, context, seen)))
  // A replayed transaction that arrives late is found as well, and a capture
  // that this look moved to another block is fulfilled by the next one.
  await mineBlocks(chain, 1)
  await looks(2)
  problems.push(...(await compare(chain, context, seen)))
  if (await isOwed(context, seen)) problems.push('not fulfilled')
  return problems
}

/** True if an order is captured and should have been fulfilled. */
async function isOwed(
  context: OrdersContext,
  { id, schedule }: { id: string; schedule: UnseenSchedule },
): Promise<boolean> {
  const { state, fulfilled } = await orderOf(context, id)
  const isPaying = ['capture', 'gateAnswer', 'charge'].includes(schedule.kind)
  const isDue = isPaying && schedule.fulfilAt === 'included'
  return isDue && state === 'captured' && fulfilled === undefined
}

/** Asks at once and often: the schedules are many. */
async function untilMined(chain: DevChain, hash: Hash): Promise<Hash> {
  while (!(await blockOf(chain, hash))) await setTimeout(2)
  return hash
}

/** The block of a transaction in the chain now. */
async function blockOf(
  { clients }: DevChain,
  hash: Hash,
): Promise<Hash | undefined> {
  const receipt = await clients.public
    .getTransactionReceipt({ hash })
    .catch(() => undefined)
  if (!receipt) return undefined
  const { blockNumber, blockHash } = receipt
  const block = await getBlock(clients.public, { blockNumber })
  return block.hash === blockHash ? blockHash : undefined
}

const settledStates = ['captured', 'canceled', 'consumed']

/** The differences between the record of an order and the chain. */
async function compare(
  chain: DevChain,
  context: OrdersContext,
  { id, hash, schedule }: { id: string; hash: Hash; schedule: UnseenSchedule },
): Promise<string[]> {
  const block = await blockOf(chain, hash)
  const { order, proofs } = await fileOf(context, id)
  const standing = proofs.filter(({ removed }) => !removed)
  const isSettled = settledStates.includes(order.state)
  const problems: string[] = []
  if (isSettled && !block)
    problems.push(`${order.state}, but its transaction is gone`)
  if (standing.some(({ blockHash }) => blockHash !== block))
    problems.push('a proof on record is of a block that was replaced')
  if (!isSettled && block && !schedule.isLate)
    problems.push(`${order.state}, but its transaction is in the chain`)
  const types = await typesOf(context, id)
  if (types.filter((type) => type === 'fulfil').length > 1)
    problems.push('fulfilled twice')
  return problems
}

/** Puts an order on record, and hands what sends its transaction. */
async function putKind(
  chain: DevChain,
  context: OrdersContext,
  kind: UnseenSchedule['kind'],
): Promise<{ id: string; send: () => Promise<Hash> }> {
  const { merchant, relayer } = chain.clients
  const sendBy = (client: typeof relayer, payment: SignedPayment) => () =>
    capturePayment(client, { payment, simulate: false }).then((hash) =>
      untilMined(chain, hash),
    )
  if (kind === 'refund') {
    const payment = await draft(chain, {
      signer: merchant.account,
      to: chain.clients.payer.account.address,
      primaryType: 'TransferWithAuthorization',
    })
    const id = await putRefund(chain, context, payment)
    return { id, send: sendBy(relayer, payment) }
  }
  const primaryType =
    kind === 'gateAnswer'
      ? 'TransferWithAuthorization'
      : 'ReceiveWithAuthorization'
  const payment = await draft(chain, { primaryType })
  const parentId = randomHash().slice(2, 18)
  const id = await putOrder(context, payment, {
    order: kind === 'charge' ? { role: 'charge', parentId } : {},
  })
  if (kind === 'cancellation') {
    const cancellation = await revoke(chain, payment)
    const send = () =>
      cancelPayment(relayer, { cancellation }).then((hash) =>
        untilMined(chain, hash),
      )
    return { id, send }
  }
  const sent = kind === 'consumed' ? await spend(chain, payment) : payment
  const client = kind === 'gateAnswer' ? relayer : merchant
  return { id, send: sendBy(client, sent) }
}

/** Another payment under the same nonce. */
function spend(chain: DevChain, payment: Payment): Promise<SignedPayment> {
  return draft(chain, { amount: '1', nonce: payment.message.nonce })
}

/** Puts a refund that the merchant signed on record, with its paid order. */
async function putRefund(
  chain: DevChain,
  context: OrdersContext,
  payment: SignedPayment,
): Promise<string> {
  const { from: recipient, to: payee } = payment.message
  const parentId = await putOrder(context, await draft(chain), {
    order: { state: 'captured', lookDue: undefined, refunds: 1 },
    attempt: { spendable: false },
  })
  return putOrder(context, payment, {
    order: {
      id: `${parentId}\trefund`,
      recipient: recipient.toLowerCase() as Address,
      submitter: recipient.toLowerCase() as Address,
      role: 'refund',
      parentId,
      parentAttempt: 1,
      payee,
    },
  })
}
