import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Address } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deployDevToken } from '../../../../src/devchain/deployDevToken.js'
import type {
  CreateOrdersParameters,
  OrdersContext,
} from '../../../../src/orders/context/types.js'
import { changeRecipients } from '../../../../src/orders/verbs/changeRecipients.js'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import { openStore } from '../../../../src/orders/verbs/openStore.js'
import { drawAddress } from '../../../storeCases/samples.js'
import { eventually } from '../../../unit/support/webhooksRun.js'
import { draft, fakeNode, mined } from '../../support/desk.js'
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

/** A process of a shop, and its watch of the chain. */
async function openProcess(
  changes: Partial<CreateOrdersParameters> = {},
  answer?: Parameters<typeof fakeNode>[1],
) {
  const node = fakeNode(chain, answer)
  const context = contextOf(chain, {
    shop: 'shop',
    tokens: [{ client: node.client, token: chain.token }],
    ...changes,
  })
  await openStore(context)
  const watcher = watchOf(context, {
    reconcileEvery: 0,
    asides: asidesOf(context, { isWaiting: () => false }),
  })
  return { node, context, watcher }
}

/** An order that anyone may capture, and is captured. */
async function payOne(context: OrdersContext, to: Address): Promise<string> {
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
    to,
  })
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  return id
}

test.each(['the same process', 'the next one'])(
  'a recipient that is added and paid during a look is found by %s',
  async (who) => {
    let addAndPay: (() => Promise<void>) | undefined
    let meanwhile: Promise<void> | undefined
    // The look has read its recipients, and no block yet.
    const first = await openProcess({}, async (_, forward) => {
      meanwhile ??= addAndPay?.()
      await meanwhile
      return forward()
    })
    const { store } = first.context
    await mineBlocks(chain, 1)
    await first.watcher.look()
    const second = await openProcess({ store })
    const added = drawAddress()
    let id = ''
    addAndPay = async () => {
      await changeRecipients(second.context, { add: [added] })
      id = await payOne(second.context, added)
      // No look reads as far back as this.
      await mineBlocks(chain, 100)
    }
    await first.watcher.look()
    expect((await orderOf(second.context, id)).state).toBe('stored')
    const { destinations } = await getHealth(second.context)
    expect(
      destinations.find(({ recipient }) => recipient === added)?.reconciledTo,
    ).toBeUndefined()
    const lease = first.watcher.lease()
    if (who === 'the next one' && lease) await store.releaseLease(lease)
    const watcher = who === 'the next one' ? second.watcher : first.watcher
    await eventually(async () => {
      await mineBlocks(chain, 1)
      await watcher.look()
      return (await orderOf(second.context, id)).state
    }).toBe('captured')
  },
)

test('what was open when its recipient was removed is watched to its end', async () => {
  const recipient = drawAddress()
  const first = await openProcess({ recipients: [recipient] })
  const second = await openProcess({ store: first.context.store })
  await first.watcher.look()
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
    to: recipient,
  })
  const id = await putOrder(first.context, payment)
  await changeRecipients(second.context, { remove: [recipient] })
  await first.watcher.look()
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  await mineBlocks(chain, 20)
  await eventually(async () => {
    await mineBlocks(chain, 1)
    await first.watcher.look()
    return typesOf(first.context, id)
  }).toEqual(['captured', 'finalityRaised', 'fulfil'])
})

test('two instances of a shop share its watch, and one with other tokens covers all', async () => {
  const token = await deployDevToken(chain, {})
  const first = await openProcess()
  const { store } = first.context
  const second = await openProcess({
    store,
    tokens: [{ client: first.node.client, token }],
  })
  await first.watcher.look()
  await second.watcher.look()
  expect(first.watcher.lease()?.key).toBe(`watch:${chain.chain.id}:shop`)
  expect(second.watcher.lease()).toBeUndefined()
  expect(new Set(first.context.destinations.map((one) => one.token))).toEqual(
    new Set([chain.token, token]),
  )
})
