import {
  cancelPayment,
  captureCall,
  capturePayment,
  type SignedPayment,
} from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import type { PaymentStore } from 'countersign/store'
import {
  type Abi,
  type Address,
  createWalletClient,
  erc20Abi,
  type Hash,
  http,
  type PrivateKeyAccount,
} from 'viem'
import { waitForTransactionReceipt } from 'viem/actions'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { draft, revoke } from './desk.js'
import { pay } from './shop.js'

/** A recipient, and the workers that run for it until it is stopped. */
export type WalkShop = {
  seller: PrivateKeyAccount
  orders: Orders
  /** Ends its workers; from then on only its verbs are answered. */
  stop(): Promise<void>
  start(): Promise<void>
}

export type WalkOrder = {
  id: string
  shop: WalkShop
  buyer: PrivateKeyAccount
  /** Everything the buyer ever signed for it. */
  signed: SignedPayment[]
}

export type Walk = {
  chain: DevChain
  store: PaymentStore
  shops: readonly WalkShop[]
  buyers: readonly PrivateKeyAccount[]
  /** A contract that captures many payments in one transaction. */
  batch: { address: Address; abi: Abi }
  sold: WalkOrder[]
  /** What was done so far, for who has to find out what went wrong. */
  told: string[]
}

type Draw = {
  chance(rate: number): boolean
  pick<item>(list: readonly item[]): item
  /** Both ends included. */
  between(low: number, high: number): number
}

type Operation = (walk: Walk, draw: Draw) => Promise<void>

/** Deeper than what is `safe`, never as deep as what is final. */
const deepest = 64

function drawFrom(seed: number): Draw {
  const random = seededRandom(seed)
  return {
    chance: (rate) => random() < rate,
    pick: <item>(list: readonly item[]) =>
      list[Math.floor(random() * list.length)] as item,
    between: (low, high) => low + Math.floor(random() * (high - low + 1)),
  }
}

/** One of those sold last, as a rule. */
function pickOrder({ sold }: Walk, { chance, pick }: Draw) {
  const recent = chance(0.75) ? sold.slice(-6) : sold
  return recent.length > 0 ? pick(recent) : undefined
}

const onOrder =
  (act: (order: WalkOrder, walk: Walk, draw: Draw) => Promise<string>) =>
  async (walk: Walk, draw: Draw): Promise<void> => {
    const order = pickOrder(walk, draw)
    if (order) walk.told.push(`${order.id}: ${await act(order, walk, draw)}`)
  }

/**
 * Waits until it is mined. What the chain refuses is part of the walk, and a
 * transaction below another one's nonce is never mined.
 */
async function sendOf({ chain }: Walk, sent: Promise<Hash>): Promise<string> {
  try {
    const hash = await sent
    const client = chain.clients.public
    const found = { hash, timeout: 3_000, pollingInterval: 20 }
    return (await waitForTransactionReceipt(client, found)).status
  } catch {
    return 'not mined'
  }
}

async function acceptOf(
  { id: orderId, shop }: WalkOrder,
  payment: SignedPayment,
): Promise<string> {
  const verdict = await shop.orders.accept({ orderId, payment })
  return verdict.ok ? 'accepted' : verdict.reason
}

async function sell(walk: Walk, { pick, chance }: Draw): Promise<void> {
  const shop = pick(walk.shops)
  const buyer = pick(walk.buyers)
  const drafted = await shop.orders.draft({
    amount: pick(['1', '2', '3']),
    window: pick([40n, 120n, 600n, 3_000n]),
    payer: chance(0.5) ? buyer.address : undefined,
    primaryType: pick([
      'ReceiveWithAuthorization',
      'TransferWithAuthorization',
    ] as const),
  })
  const payment = await pay(buyer, drafted.payment)
  const order = { id: drafted.order.id, shop, buyer, signed: [payment] }
  walk.sold.push(order)
  const verdict = chance(0.8) ? await acceptOf(order, payment) : 'drafted'
  walk.told.push(`${order.id}: sold, ${verdict}`)
}

const capture = onOrder(async ({ id, shop }, _, { pick }) => {
  const timeout = pick([0, 300, 3_000])
  const { status } = await shop.orders.capture({ orderId: id, timeout })
  return `capture ${status}`
})

const captureAndVoid = onOrder(async ({ id: orderId, shop }) => {
  const captured = shop.orders.capture({ orderId, timeout: 3_000 })
  const { ok } = await shop.orders.void({ orderId })
  return `capture ${(await captured).status} and void ${ok}`
})

const giveUp = onOrder(async ({ id: orderId, shop }) => {
  return `void ${(await shop.orders.void({ orderId })).ok}`
})

const cancel = onOrder(async (order, { chain }, { chance, pick }) => {
  const { id: orderId, shop, buyer, signed } = order
  const isApproved = chance(0.5)
  const cancellation = await revoke(chain, pick(signed.slice(-1)), buyer)
  const { ok } = await shop.orders.acceptCancellation({ orderId, cancellation })
  if (isApproved) await shop.orders.approveCancellation({ orderId })
  return `cancel ${ok}${isApproved ? ', approved' : ''}`
})

const cancelByBuyer = onOrder(async ({ buyer, signed }, walk, { pick }) => {
  const cancellation = await revoke(walk.chain, pick(signed), buyer)
  const { relayer } = walk.chain.clients
  const sent = cancelPayment(relayer, { cancellation })
  return `cancellation by another ${await sendOf(walk, sent)}`
})

const spendNonce = onOrder(async ({ buyer, signed }, walk, { pick }) => {
  const { message } = pick(signed)
  const { relayer } = walk.chain.clients
  const sellers = walk.shops.map(({ seller }) => seller.address)
  const payment = await draft(walk.chain, {
    signer: buyer,
    to: pick([...sellers, relayer.account.address]),
    amount: '0.5',
    nonce: message.nonce,
    primaryType: 'TransferWithAuthorization',
  })
  const sent = capturePayment(relayer, { payment })
  return `nonce spent on something else ${await sendOf(walk, sent)}`
})

const submit = onOrder(async ({ signed }, walk, { pick }) => {
  const { relayer } = walk.chain.clients
  const sent = capturePayment(relayer, { payment: pick(signed) })
  return `capture by another ${await sendOf(walk, sent)}`
})

async function submitBatch(walk: Walk, { chance }: Draw): Promise<void> {
  const { chain, batch, sold, told } = walk
  const { public: reader, relayer } = chain.clients
  const payments = sold
    .flatMap(({ signed }) => signed)
    .filter(({ primaryType }) => primaryType === 'TransferWithAuthorization')
    .slice(-6)
    .filter(() => chance(0.7))
  const targets: Address[] = []
  const calls: `0x${string}`[] = []
  for (const payment of payments) {
    const { to, data } = captureCall({ payment })
    const call = reader.call({ account: batch.address, to, data })
    // One call that fails would undo all others.
    if (!(await call.catch(() => undefined))) continue
    targets.push(to)
    calls.push(data)
  }
  const args = [targets, calls]
  const sent = relayer.writeContract({ ...batch, functionName: 'run', args })
  told.push(`batch of ${calls.length} ${await sendOf(walk, sent)}`)
}

const renewable = ['drafted', 'stored', 'canceled', 'expired']

async function renew(walk: Walk, draw: Draw): Promise<void> {
  const { chance, pick, between } = draw
  const window = pick([30n, 200n, 900n])
  const isAccepted = chance(0.8)
  const recent = walk.sold.slice(-12)
  const start = between(0, 11)
  for (const order of [...recent.slice(start), ...recent.slice(0, start)]) {
    const { id: orderId, shop, buyer } = order
    const { state } = await shop.orders.get({ orderId })
    if (!renewable.includes(state)) continue
    const renewed = await shop.orders.reauthorize({ orderId, window })
    if (!renewed.ok) continue
    const payment = await pay(buyer, renewed.payment)
    order.signed.push(payment)
    const verdict = isAccepted ? await acceptOf(order, payment) : 'drafted'
    walk.told.push(`${orderId}: renewed from ${state}, ${verdict}`)
    return
  }
}

async function payDirectly(walk: Walk, draw: Draw): Promise<void> {
  const { chain, buyers, shops, told } = walk
  const { pick, between } = draw
  const client = createWalletClient({
    account: pick(buyers),
    chain: chain.chain,
    transport: http(),
  })
  const sent = client.writeContract({
    address: chain.token,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [pick(shops).seller.address, BigInt(between(0, 5))],
  })
  told.push(`paid without an order ${await sendOf(walk, sent)}`)
}

async function mine({ chain, told }: Walk, { between }: Draw): Promise<void> {
  const blocks = between(1, 20)
  await chain.clients.test.mine({ blocks })
  told.push(`mined ${blocks}`)
}

async function warp({ chain, told }: Walk, { pick }: Draw): Promise<void> {
  const seconds = pick([5, 30, 60, 200, 1_000])
  await chain.warp(seconds)
  told.push(`${seconds} seconds later`)
}

async function reorg({ chain, told }: Walk, draw: Draw): Promise<void> {
  const { chance, pick, between } = draw
  const depth = between(1, chance(0.6) ? 6 : deepest)
  const transactions = pick(['replayed', 'dropped'] as const)
  await chain.reorg({ depth, transactions })
  if (chance(0.7)) await chain.clients.test.mine({ blocks: 1 })
  told.push(`${depth} blocks replaced, transactions ${transactions}`)
}

/** What happens while nobody watches. */
const downtime: readonly Operation[] = [
  ...[submit, submitBatch, cancelByBuyer, spendNonce, payDirectly],
  ...[reorg, mine, warp],
]

async function restart(walk: Walk, draw: Draw): Promise<void> {
  const shop = draw.pick(walk.shops)
  const { address } = shop.seller
  walk.told.push(`stopping ${address}`)
  await shop.stop()
  for (let left = draw.between(0, 3); left > 0; left -= 1)
    await draw.pick(downtime)(walk, draw)
  const blocks = draw.pick([0, 0, 0, 0, 100])
  if (blocks > 0) await walk.chain.clients.test.mine({ blocks })
  await shop.start()
  walk.told.push(`started ${address} ${blocks} blocks later`)
}

async function reconcile({ shops, told }: Walk): Promise<void> {
  // Another worker may be at it; then it is told so.
  await Promise.allSettled(shops.map(({ orders }) => orders.reconcile()))
  told.push('reconciled')
}

/** How often each is drawn. */
const operations: readonly (readonly [number, Operation])[] = [
  [10, sell],
  [7, capture],
  [3, captureAndVoid],
  [2, giveUp],
  [3, cancel],
  [2, cancelByBuyer],
  [1, spendNonce],
  [4, submit],
  [2, submitBatch],
  [4, renew],
  [1, payDirectly],
  [5, mine],
  [3, warp],
  [7, reorg],
  [2, restart],
  [1, reconcile],
]

/**
 * What is done, one after the other. Each has numbers of its own, so that what
 * one of them finds does not shift what the next ones do.
 */
export function planWalk(
  seed: number,
  count: number,
): ((walk: Walk) => Promise<void>)[] {
  const { pick, between } = drawFrom(seed)
  const all = operations.flatMap(([weight, act]) =>
    Array.from({ length: weight }, () => act),
  )
  return Array.from({ length: count }, () => {
    const act = pick(all)
    const draw = drawFrom(between(0, 2 ** 31))
    return (walk: Walk) => act(walk, draw)
  })
}
