import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { type Address, erc20Abi } from 'viem'
import { writeContract } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type {
  CreateOrdersParameters,
  OrdersContext,
} from '../../../../src/orders/context/types.js'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import { loadCursor } from '../../../../src/orders/watcher/destinationCursor.js'
import { drawAddress } from '../../../storeCases/samples.js'
import { eventually } from '../../../unit/support/webhooksRun.js'
import {
  type Asked,
  draft,
  fakeNode,
  mined,
  rpcError,
} from '../../support/desk.js'
import {
  asidesOf,
  mineBlocks,
  orderOf,
  typesOf,
  watchOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

const addresses = (count: number): Address[] =>
  Array.from({ length: count }, () => drawAddress())

/** A shop with many recipients, and what it asks a node that answers so. */
function openMany(
  recipients: readonly Address[],
  answer?: Parameters<typeof fakeNode>[1],
  changes: Partial<CreateOrdersParameters> = {},
) {
  const node = fakeNode(chain, answer)
  const context = contextOf(chain, {
    tokens: [{ client: node.client, token: chain.token }],
    recipients,
    ...changes,
  })
  const watcher = watchOf(context, {
    reconcileEvery: 0,
    asides: asidesOf(context, { isWaiting: () => false }),
  })
  return { node, context, watcher }
}

const isAbout = ({ params }: Asked, recipient: Address): boolean =>
  JSON.stringify(params).includes(recipient.slice(2))

function openGate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** An order of a recipient that is paid with a Transfer payment by anybody. */
async function payRecipient(
  context: OrdersContext,
  to: Address,
): Promise<{ id: string; pay: () => Promise<unknown> }> {
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
    to,
  })
  const id = await putOrder(context, payment)
  const pay = () =>
    mined(chain, capturePayment(chain.clients.relayer, { payment }))
  return { id, pay }
}

const transferTo = (recipient: Address, value: bigint) =>
  mined(
    chain,
    writeContract(chain.clients.payer, {
      address: chain.token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [recipient, value],
    }),
  )

test.each([300, 2_500])(
  'looks at %i recipients ask a node what looks at one ask, and a filter for each thousand',
  async (count) => {
    const asked: string[][] = []
    await mineBlocks(chain, 20)
    for (const recipients of [[], addresses(count)]) {
      const { node, watcher } = openMany(recipients)
      for (let at = 0; at < 3; at++) {
        await mineBlocks(chain, 1)
        await watcher.look()
      }
      node.asked.length = 0
      for (let at = 0; at < 3; at++) {
        await mineBlocks(chain, 1)
        await watcher.look()
      }
      asked.push(node.methods().sort())
    }
    const [one = [], many = []] = asked
    const isFilter = (method: string) => method === 'eth_getLogs'
    expect(many.filter((method) => !isFilter(method))).toEqual(
      one.filter((method) => !isFilter(method)),
    )
    const filters = Math.ceil((count + 1) / 1000)
    expect(many.filter(isFilter)).toHaveLength(
      filters * one.filter(isFilter).length,
    )
  },
)

test('a payment to each of many recipients is found by one look', async () => {
  const recipients = addresses(30)
  const { context, watcher } = openMany(recipients)
  await mineBlocks(chain, 1)
  await watcher.look()
  const sold = []
  for (const recipient of recipients.slice(0, 5))
    sold.push(await payRecipient(context, recipient))
  for (const { pay } of sold) await pay()
  await transferTo(recipients[7] ?? drawAddress(), 3n)
  await watcher.look()
  for (const { id } of sold)
    expect((await orderOf(context, id)).state).toBe('captured')
  expect(await typesOf(context)).toEqual(['unmatched'])
})

test('a recipient whose logs the node does not give delays no other, and catches up', async () => {
  const recipients = addresses(40)
  const [refused = drawAddress(), other = drawAddress()] = recipients
  // Neither logs nor receipts show what the recipient was paid.
  let hidden: string | undefined
  const isHidden = (asked: Asked) =>
    hidden !== undefined &&
    (asked.method === 'eth_getBlockReceipts' ||
      (asked.method === 'eth_getLogs' && isAbout(asked, refused)) ||
      (asked.method === 'eth_getTransactionReceipt' &&
        Object(asked.params)[0] === hidden))
  const { context, watcher } = openMany(recipients, (asked, forward) =>
    isHidden(asked)
      ? Promise.reject(rpcError(-32_000, 'index is broken'))
      : forward(),
  )
  await mineBlocks(chain, 1)
  await watcher.look()
  const { id, pay } = await payRecipient(context, other)
  hidden = await transferTo(refused, 5n)
  await pay()
  await watcher.look()
  await watcher.look()
  expect((await orderOf(context, id)).state).toBe('captured')
  expect(await typesOf(context)).toEqual([])
  await watcher.asides.save(watcher.lease())
  const { destinations } = await getHealth(context)
  const behind = destinations.filter(({ putAside }) => putAside.length > 0)
  expect(behind).toMatchObject([
    { recipient: refused, putAside: [{ what: 'reconciliation' }] },
  ])
  hidden = undefined
  await mineBlocks(chain, 3)
  await watcher.look()
  expect(await typesOf(context)).toEqual(['unmatched'])
  // In step again: one cursor for all.
  await mineBlocks(chain, 1)
  await watcher.look()
  await watcher.asides.save(watcher.lease())
  const after = await getHealth(context)
  expect(new Set(after.destinations.map((one) => one.reconciledTo)).size).toBe(
    1,
  )
  expect(after.destinations.flatMap(({ putAside }) => putAside)).toEqual([])
})

test('a recipient that is behind is still read from its own place by the next process', async () => {
  const recipients = addresses(40)
  const [refused = drawAddress()] = recipients
  let hidden: string | undefined
  const answer: Parameters<typeof fakeNode>[1] = (asked, forward) =>
    hidden !== undefined &&
    (asked.method === 'eth_getBlockReceipts' ||
      (asked.method === 'eth_getLogs' && isAbout(asked, refused)) ||
      (asked.method === 'eth_getTransactionReceipt' &&
        Object(asked.params)[0] === hidden))
      ? Promise.reject(rpcError(-32_000, 'index is broken'))
      : forward()
  const { context, watcher } = openMany(recipients, answer)
  await mineBlocks(chain, 1)
  await watcher.look()
  hidden = await transferTo(refused, 5n)
  await watcher.look()
  // Far above the block of the payment: nobody in step reads it again.
  await mineBlocks(chain, 100)
  await watcher.look()
  expect(await typesOf(context)).toEqual([])
  const { destinations } = await getHealth(context)
  const blockOf = (address: Address | undefined) =>
    destinations.find(({ recipient }) => recipient === address)?.reconciledTo
  const behind = blockOf(refused) ?? 0n
  expect((blockOf(recipients[1]) ?? 0n) - behind).toBeGreaterThan(99n)
  const lease = watcher.lease()
  if (lease) await context.store.releaseLease(lease)
  hidden = undefined
  const next = openMany(recipients, answer, { store: context.store })
  await eventually(async () => {
    await mineBlocks(chain, 1)
    await next.watcher.look()
    return typesOf(next.context)
  }).toEqual(['unmatched'])
})

test('a recipient that is added later is read from its oldest order on', async () => {
  const recipients = addresses(3)
  const { context, watcher } = openMany(recipients)
  await mineBlocks(chain, 1)
  await watcher.look()
  const added = drawAddress()
  const later = openMany([...recipients, added], undefined, {
    store: context.store,
  })
  const { id, pay } = await payRecipient(later.context, added)
  await pay()
  await mineBlocks(chain, 100)
  await watcher.look()
  await later.watcher.look()
  expect((await orderOf(later.context, id)).state).toBe('captured')
})

test('two shops over one store with other recipients each fulfil their orders', async () => {
  const [one, two] = [drawAddress(), drawAddress()]
  const policy = { fulfilAt: 'included' } as const
  const first = openMany([one], undefined, { policy })
  const second = openMany([two], undefined, {
    policy,
    store: first.context.store,
  })
  await first.watcher.look()
  await second.watcher.look()
  const sold = [
    await payRecipient(first.context, one),
    await payRecipient(second.context, two),
  ]
  for (const { pay } of sold) await pay()
  for (let at = 0; at < 2; at++) {
    await first.watcher.look()
    await second.watcher.look()
  }
  for (const { id } of sold)
    expect([
      ...(await typesOf(first.context, id)),
      ...(await typesOf(second.context, id)),
    ]).toEqual(['captured', 'fulfil'])
})

test('a new instance of the same shop goes on from the cursor of the last one', async () => {
  const recipients = addresses(3)
  const { context, watcher } = openMany(recipients)
  await mineBlocks(chain, 1)
  await watcher.look()
  const [destination] = context.destinations
  if (!destination) throw new Error('no destination')
  const before = await context.store.read((tables) =>
    loadCursor(tables, destination),
  )
  const lease = watcher.lease()
  if (lease) await context.store.releaseLease(lease)
  const next = openMany(recipients, undefined, { store: context.store })
  await mineBlocks(chain, 70)
  await next.watcher.look()
  const after = await context.store.read((tables) =>
    loadCursor(tables, destination),
  )
  expect(after?.from).toBe(before?.from)
  expect(after?.last.number).toBe((before?.last.number ?? 0n) + 70n)
})

test('a recipient that catches up while the chain grows misses no block', async () => {
  const { context, watcher } = openMany([])
  await mineBlocks(chain, 1)
  await watcher.look()
  const lease = watcher.lease()
  if (lease) await context.store.releaseLease(lease)
  const added = drawAddress()
  const gate = openGate()
  const later = openMany(
    [added],
    async (asked, forward) => {
      if (asked.method === 'eth_getLogs' && isAbout(asked, added))
        await gate.opened
      return forward()
    },
    { store: context.store },
  )
  await payRecipient(later.context, added)
  // It begins to catch up, and its answer stays away.
  await later.watcher.look()
  await mineBlocks(chain, 2)
  await transferTo(added, 5n)
  await mineBlocks(chain, 100)
  await later.watcher.look()
  gate.open()
  await eventually(async () => {
    await mineBlocks(chain, 1)
    await later.watcher.look()
    return typesOf(later.context)
  }).toEqual(['unmatched'])
})
