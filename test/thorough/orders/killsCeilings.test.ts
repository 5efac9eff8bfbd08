import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { createClient } from 'viem'
import { afterAll, expect, test } from 'vitest'
import {
  openCeilingShop,
  startCeilingChain,
  storedCeiling,
} from '../../chain/support/ceilingShop.js'
import { type Death, dyingProcess } from '../../chain/support/dyingProcess.js'
import { balanceOf } from '../../chain/support/refundDesk.js'

const chain = await startCeilingChain()
afterAll(() => chain.stop())

/** What a capture of a ceiling passes that writes, sends or rehearses. */
const boundaries = [
  'before write',
  'after write',
  'before eth_call',
  'after eth_call',
  'before eth_sendRawTransaction',
  'after eth_sendRawTransaction',
  'before eth_getTransactionReceipt',
  'after eth_getTransactionReceipt',
]

/**
 * A capture of 42.10 by a process that dies at a boundary, and then of the same
 * order by another one.
 */
async function dieAt(death?: Death | undefined) {
  const store = memoryStore()
  const policy = { pollingInterval: 20, lease: 250 }
  const shop = await openCeilingShop(chain, { store, policy })
  const { id } = await storedCeiling(chain, shop)
  const process = dyingProcess(death)
  const transport = process.transport(chain.urls.http)
  const [own] = shop.parameters.wallets
  const account = own && 'account' in own ? own.account : undefined
  if (!account) throw new Error('no wallet')
  const dying = createOrders({
    ...shop.parameters,
    store: process.store(store),
    tokens: [
      {
        client: createClient({ chain: chain.chain, transport }),
        token: chain.token,
      },
    ],
    wallets: [createClient({ account, chain: chain.chain, transport })],
  })
  const first = dying.capture({ orderId: id, amount: '42.10' })
  const isDead = async () => {
    while (!process.isDead()) await new Promise((done) => setTimeout(done, 10))
  }
  await Promise.race([first, isDead()])

  const [named] = await store.read(({ orders }) => orders.find({ ids: [id] }))
  const isNamed = named?.captureValue !== undefined
  const later = createOrders({ ...shop.parameters, store })
  // Shows a process that sends before it writes the amount.
  const captureAt = async (amount: string | undefined) => {
    const result = await later.capture({ orderId: id, amount })
    return 'reason' in result ? result.reason : result.status
  }
  const found = isNamed
    ? [await captureAt('42.11'), await captureAt(undefined)]
    : [await captureAt('41.00'), await captureAt('42.10')]
  await later.close()
  return {
    passed: process.passed,
    isNamed,
    found,
    paid: await balanceOf(chain, shop.seller),
  }
}

test('dying anywhere in the capture of a ceiling, a process leaves an order whose amount is captured once', async () => {
  const whole = await dieAt()
  const names = new Set(whole.passed.map(({ name }) => name))
  expect([...names].filter((name) => boundaries.includes(name)).sort()).toEqual(
    [...boundaries].sort(),
  )
  const deaths = whole.passed.filter(
    ({ name, nth }) => name.endsWith('write') || nth === 1,
  )
  for (const death of deaths) {
    const { isNamed, found, paid } = await dieAt(death)
    expect({ death, found, paid }).toEqual({
      death,
      found: isNamed
        ? ['otherAmount', 'captured']
        : ['captured', 'otherAmount'],
      paid: isNamed ? 42_100_000n : 41_000_000n,
    })
  }
})
