import { buildDeposit } from 'countersign/channels'
import type { CreateOrdersParameters } from 'countersign/orders'
import {
  memoryStore,
  type OrderRecord,
  type PaymentStore,
  type ProofRecord,
} from 'countersign/store'
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  type PrivateKeyAccount,
} from 'viem'
import { getBlock, mine } from 'viem/actions'
import {
  type Authorizer,
  openAuthorizer,
} from '../../../src/channels/movements/authorizer.js'
import { channels } from '../../../src/channels/movements/channels.js'
import {
  type MovementFacts,
  type PlannedMovement,
  planChannelRefund,
  planClaim,
  planDeposit,
} from '../../../src/channels/movements/planMovement.js'
import {
  signChannelRefund,
  signClaim,
} from '../../../src/channels/movements/signMovement.js'
import {
  insertMovement,
  movementSubmitter,
  sealMovement,
} from '../../../src/channels/movements/writeMovement.js'
import { typedDataTypes } from '../../../src/core/typedDataTypes.js'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { contextOf } from '../../../src/orders/contextOf.js'
import {
  type Channel,
  chain,
  newChannel,
  send,
  signVoucher,
} from './channelDesk.js'
import { domainOf, fundedAccount } from './desk.js'
import { openShop, type Shop } from './shop.js'

/** A shop whose worker moves the money of channels. */
export type MovementShop = Shop & {
  context: OrdersContext
  receiver: PrivateKeyAccount
  authorizer: Authorizer
}

const domain: ReturnType<typeof domainOf> = domainOf(chain.token)

export async function openMovementShop(
  given: {
    store?: PaymentStore
    receiver?: PrivateKeyAccount
    /** What sends for the receiver. Default: its own wallet. */
    sellers?: readonly PrivateKeyAccount[]
    policy?: CreateOrdersParameters['policy']
    changes?: Parameters<typeof openShop>[1]
  } = {},
): Promise<MovementShop> {
  const { receiver = await fundedAccount(chain), store = memoryStore() } = given
  const shop = await openShop(chain, {
    sellers: given.sellers ?? [receiver],
    store,
    policy: { pollingInterval: 20, fulfilAt: 'included', ...given.policy },
    kinds: [channels()],
    ...given.changes,
  })
  const { context } = contextOf(shop.orders)
  const authorizer = await openAuthorizer(context)
  return { ...shop, context, receiver, authorizer }
}

const lower = (address: Address) => address.toLowerCase() as Address

/** A channel of this shop; 100 tokens are with its payer. */
export async function channelOf(
  { receiver, authorizer }: MovementShop,
  changes: Parameters<typeof newChannel>[0] = {},
): Promise<Channel> {
  const channel = await newChannel(
    {
      receiver: lower(receiver.address),
      receiverAuthorizer: authorizer.address,
      token: lower(chain.token),
      ...changes,
    },
    { receiver },
  )
  const { payer } = channel.config
  const config = {
    ...channel.config,
    payer: lower(payer),
    payerAuthorizer: lower(channel.config.payerAuthorizer),
  }
  return { ...channel, config }
}

/** A deposit that the payer signed. */
export async function signDeposit(
  { config, payer }: Channel,
  value: bigint,
): Promise<Pick<Parameters<typeof planDeposit>[1], 'payment' | 'salt'>> {
  const { timestamp } = await getBlock(chain.clients.public)
  const { payment, salt } = buildDeposit({
    config,
    domain,
    value,
    now: timestamp,
    validAfter: 0n,
  })
  const { primaryType, message } = payment
  const signature = await payer.signTypedData({
    domain,
    types: typedDataTypes,
    primaryType,
    message,
  } as never)
  return { payment: { ...payment, signature }, salt }
}

async function factsOf({ context, receiver }: MovementShop) {
  const { timestamp } = await getBlock(chain.clients.public)
  const recipient = lower(receiver.address)
  const submitter = movementSubmitter(context, { chainId: 31337, recipient })
  if (!submitter) throw new Error('nobody sends')
  return { domain, decimals: 6, submitter, createdAt: timestamp }
}

async function store(
  { context }: MovementShop,
  planned: PlannedMovement,
): Promise<string> {
  const sealed = await sealMovement(context, planned)
  const row = await context.store.write((tables) =>
    insertMovement(context, tables, sealed),
  )
  return row.id
}

/** Puts a deposit on record, to be sent. */
export async function storeDeposit(
  shop: MovementShop,
  channel: Channel,
  value: bigint,
  signed?: Awaited<ReturnType<typeof signDeposit>>,
): Promise<string> {
  const facts = await factsOf(shop)
  const { id: channelId, config } = channel
  const { payment, salt } = signed ?? (await signDeposit(channel, value))
  return store(shop, planDeposit(facts, { channelId, config, payment, salt }))
}

export type Wanted = {
  channel: Channel
  claimed: bigint
  signature?: Hex
}

/** Puts a claim on record, to be sent. */
export async function storeClaim(
  shop: MovementShop,
  wanted: readonly Wanted[],
  given: Partial<Pick<MovementFacts, 'submitter'>> = {},
): Promise<string> {
  const facts = { ...(await factsOf(shop)), ...given }
  const rows = await Promise.all(
    wanted.map(async ({ channel, claimed, signature }) => ({
      channelId: channel.id,
      config: channel.config,
      maxClaimable: claimed,
      claimed,
      signature: signature ?? (await signVoucher(channel, claimed)),
    })),
  )
  const signatures = await signClaim(shop.authorizer, { chainId: 31337, rows })
  const value = wanted.reduce((sum, { claimed }) => sum + claimed, 0n)
  const receiver = lower(shop.receiver.address)
  return store(shop, planClaim(facts, { receiver, rows, signatures, value }))
}

/** Puts a refund on record, to be sent. */
export async function storeRefund(
  shop: MovementShop,
  { id: channelId, config }: Channel,
  {
    value,
    charged,
    refundNonce = 0n,
  }: { value: bigint; charged: bigint; refundNonce?: bigint },
): Promise<string> {
  const facts = await factsOf(shop)
  const refund = { channelId, config, refundNonce, value }
  const signature = await signChannelRefund(shop.authorizer, {
    chainId: 31337,
    ...refund,
  })
  return store(
    shop,
    planChannelRefund(facts, { ...refund, charged, signature }),
  )
}

/** The row of a movement, its attempt's secret, its proofs and transactions. */
export function recordOf(
  { context }: Pick<MovementShop, 'context'>,
  id: string,
): Promise<{
  order: OrderRecord
  proofs: ProofRecord[]
  sent: { nonce: number; bump: number; hash: Hex | undefined }[]
}> {
  return context.store.read(async ({ orders, proofs, transactions }) => {
    const orderIds = [id]
    const [order] = await orders.find({ ids: orderIds })
    if (!order) throw new Error(`no movement ${id}`)
    const sent = await transactions.find({ orderIds })
    return {
      order,
      proofs: (await proofs.find({ orderIds })).filter((row) => !row.removed),
      sent: sent.map(({ nonce, bump, hash }) => ({ nonce, bump, hash })),
    }
  })
}

const stateOf = async (
  shop: Pick<MovementShop, 'context'>,
  id: string,
): Promise<OrderRecord['state']> => (await recordOf(shop, id)).order.state

/** Runs a worker while `isDone` is false; mines a block between two checks. */
export async function workUntil(
  { orders }: Pick<MovementShop, 'orders'>,
  isDone: () => Promise<boolean>,
  { mines = true }: { mines?: boolean } = {},
): Promise<void> {
  const stop = new AbortController()
  const ended = orders.run({ signal: stop.signal })
  try {
    // Bounded by looks, not by time: each waits for some polls.
    for (let looks = 0; looks < 400; looks++) {
      if (await isDone()) return
      if (mines) await mine(chain.clients.test, { blocks: 1 })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error('not done after 400 looks')
  } finally {
    stop.abort()
    await ended
  }
}

export const until = (
  shop: MovementShop,
  id: string,
  wanted: OrderRecord['state'],
): Promise<void> =>
  workUntil(shop, async () => (await stateOf(shop, id)) === wanted)

/** Works until the worker refused a movement. */
export const untilRefused = (shop: MovementShop, id: string): Promise<void> =>
  workUntil(shop, async () => {
    const { order } = await recordOf(shop, id)
    return order.state === 'stored' && order.reason !== undefined
  })

/** What the events say about a movement: its states, the first first. */
export async function stepsOf(
  { orders }: Pick<MovementShop, 'orders'>,
  id: string,
): Promise<string[]> {
  const { events } = await orders.events({ limit: 1_000 })
  return events.flatMap((event) =>
    event.type === 'channelMoved' && event.data.movementId === id
      ? [event.data.state]
      : [],
  )
}

/** A channel with a deposit that the shop's worker made. */
export async function depositedChannel(
  shop: MovementShop,
  value = 10_000_000n,
): Promise<Channel> {
  const channel = await channelOf(shop)
  await until(shop, await storeDeposit(shop, channel, value), 'captured')
  return channel
}

/** Channels with deposits that somebody else made. */
export async function openChannels(
  shop: MovementShop,
  count: number,
): Promise<Channel[]> {
  const opened: Channel[] = []
  for (let at = 0; at < count; at++) {
    const channel = await channelOf(shop)
    await sendDeposit(channel, await signDeposit(channel, 10_000_000n))
    opened.push(channel)
  }
  return opened
}

/** Makes a signed deposit as somebody else. */
export async function sendDeposit(
  { config }: Channel,
  { payment, salt }: Awaited<ReturnType<typeof signDeposit>>,
): Promise<void> {
  const { message, signature } = payment
  const data = encodeAbiParameters(
    [
      { type: 'uint256' },
      { type: 'uint256' },
      { type: 'uint256' },
      { type: 'bytes' },
    ],
    [message.validAfter, message.validBefore, BigInt(salt), signature],
  )
  const args = [config, message.value, message.to, data]
  await send({ functionName: 'deposit', args })
}
