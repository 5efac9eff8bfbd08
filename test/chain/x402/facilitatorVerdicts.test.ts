import type { VerifyResponse } from '@x402/core/types'
import { afterAll, expect, test } from 'vitest'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import {
  openPayloadWorld,
  payloadKinds,
} from '../support/facilitatorPayloads.js'
import { openFacilitator } from '../support/facilitatorShop.js'
import {
  openStock,
  openStockScheme,
  type Sent,
  startFacilitatorChain,
} from '../support/stockFacilitator.js'

const chain = await startFacilitatorChain()
afterAll(() => chain.stop())

const shop = await openFacilitator(chain)
afterAll(() => shop.orders.close())
const scheme = await openStockScheme(chain)
const spender = await openStock(chain)
const world = await openPayloadWorld(chain, shop.seller, {
  random: seededRandom(402),
  spend: async ({ paymentPayload, paymentRequirements }) => {
    await spender.settle(paymentPayload, paymentRequirements)
  },
})

test('500 payloads get the verdict of the stock facilitator, but for the kinds listed', async () => {
  const counts: Record<string, number> = {}
  for (let made = 0; made < 500; made++) {
    const kind = payloadKinds[made % payloadKinds.length]
    if (!kind) throw new Error('no kinds')
    // The chain's clock must not fall behind: only blocks move it.
    if (made % 25 === 0) await chain.clients.test.mine({ blocks: 1 })
    const sent = await kind.make(world)
    const [ours, theirs] = await Promise.all([shop.verify(sent), judge(sent)])
    expect({
      kind: kind.name,
      found: compare(ours, theirs),
      ours,
      theirs,
    }).toMatchObject({ found: kind.compare })
    counts[kind.compare] = (counts[kind.compare] ?? 0) + 1
  }
  expect(counts.same ?? 0).toBeGreaterThan(400)
  expect((await shop.orders.list()).orders).toEqual([])
})

/** Their verdict; what they throw is one too. */
async function judge(sent: Sent): Promise<VerifyResponse> {
  const { paymentPayload, paymentRequirements } = structuredClone(sent)
  try {
    return await scheme.verify(paymentPayload, paymentRequirements)
  } catch (error) {
    return { isValid: false, invalidReason: String(error).slice(0, 80) }
  }
}

function compare(ours: VerifyResponse, theirs: VerifyResponse) {
  if (ours.isValid !== theirs.isValid)
    return ours.isValid ? 'token takes it' : 'our rule'
  return ours.invalidReason === theirs.invalidReason ? 'same' : 'other code'
}
