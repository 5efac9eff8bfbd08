import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Address } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { storeKey } from '../../../../src/orders/model/storeState.js'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import { listEvents } from '../../../../src/orders/verbs/listEvents.js'
import { listOrders } from '../../../../src/orders/verbs/listOrders.js'
import { openStore } from '../../../../src/orders/verbs/openStore.js'
import { resumeOrders } from '../../../../src/orders/verbs/resumeOrders.js'
import { drawAddress } from '../../../storeCases/samples.js'
import { sqliteFile } from '../../support/chaos.js'
import { draft, fakeNode } from '../../support/desk.js'
import { mineBlocks, watchOf } from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'
import { watchStatements } from '../../support/watchStatements.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

/** Characters that a statement may have as values: not those of recipients. */
const mostValues = 4_000

async function countStatements(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const forget = watchStatements(() => count++)
  await work()
  forget()
  return count
}

/** Counts what the second start of a shop and its calls take. */
async function measure(recipients: readonly Address[]) {
  const { store } = sqliteFile()
  const node = fakeNode(chain)
  const open = () =>
    contextOf(chain, {
      store,
      tokens: [{ client: node.client, token: chain.token }],
      recipients,
    })
  const first = open()
  await openStore(first)
  const to = recipients[0] ?? chain.clients.merchant.account.address
  await putOrder(
    first,
    await draft(chain, { primaryType: 'TransferWithAuthorization', to }),
  )
  const early = await countStatements(() => getHealth(first))
  const before = watchOf(first, { reconcileEvery: 0 })
  await mineBlocks(chain, 2)
  await before.look()
  const lease = before.lease()
  if (lease) await store.releaseLease(lease)

  const ran: string[] = []
  const named: string[] = []
  onTestFinished(
    watchStatements((text, values) => {
      ran.push(text)
      const { length } = JSON.stringify(values ?? [], (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      if (length > mostValues) named.push(text)
    }),
  )
  // Another process: what was prepared once is prepared again.
  const context = open()
  const watcher = watchOf(context, { reconcileEvery: 0 })
  const count = async (work: () => Promise<unknown>) => {
    ran.length = 0
    await work()
    return ran.length
  }
  return {
    named,
    counts: {
      healthBeforeLook: early,
      start: await count(() => openStore(context)),
      firstLook: await count(() => watcher.look()),
      look: await count(() => watcher.look()),
      list: await count(() => listOrders(context)),
      events: await count(() => listEvents(context)),
      health: await count(() => getHealth(context)),
      resume: await count(async () => {
        // As after a restore, which may have lost account nonces.
        await store.write((tables) =>
          tables.setValue(storeKey, { suspended: true }),
        )
        await resumeOrders(context)
      }),
    },
  }
}

test('with 2,000 recipients a shop makes as many statements as with one, and none names them', async () => {
  const many = Array.from({ length: 2_000 }, () => drawAddress())
  const [one, all] = [await measure(many.slice(0, 1)), await measure(many)]
  expect(all.named).toEqual([])
  const { firstLook, ...counts } = all.counts
  const { firstLook: least, ...expected } = one.counts
  expect(counts).toEqual(expected)
  // It asks for the heads of some recipients.
  expect(firstLook).toBeLessThan(least + 60)
})
