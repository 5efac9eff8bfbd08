import { readFileSync } from 'node:fs'
import type { VerifyResponse } from '@x402/core/types'
import { afterAll, expect, test } from 'vitest'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import {
  type Comparison,
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

test('the page of the facilitator has a row for each kind with another verdict, and no other', () => {
  const url = new URL('../../../docs/x402-facilitator.md', import.meta.url)
  const [, section = ''] = readFileSync(url, 'utf8').split('## Verdicts')
  const [table = ''] = section.split('Codes without', 1)
  const rows = table.split('\n').filter((line) => line.startsWith('| '))
  const names = rows.slice(1).map((row) => row.split('|')[1]?.trim())
  const others = payloadKinds.filter(({ compare }) => compare !== 'same')
  expect(names).toEqual(others.map(({ name }) => name))
})

const kindsThat = (found: Comparison) =>
  payloadKinds.filter(({ compare }) => compare === found)

test.each(kindsThat('token takes it'))(
  'the token settles $name, which the stock facilitator refuses',
  async ({ make }) => {
    await chain.clients.test.mine({ blocks: 1 })
    expect(await shop.settle(await make(world))).toMatchObject({
      success: true,
    })
  },
)

test('settling refuses what verifying refuses, with the same code, and writes nothing', async () => {
  const { orders, events } = await all()
  await chain.clients.test.mine({ blocks: 1 })
  for (const { name, make } of payloadKinds) {
    const sent = await make(world)
    const { isValid, invalidReason: errorReason } = await shop.verify(sent)
    if (!isValid)
      expect({ name, ...(await shop.settle(sent)) }).toMatchObject({
        name,
        success: false,
        errorReason,
        transaction: '',
      })
  }
  expect(await all()).toEqual({ orders, events })
})

async function all() {
  const { orders } = await shop.orders.list({ limit: 200 })
  const { events } = await shop.orders.events({ limit: 200 })
  return { orders, events }
}

test('a contract payer is taken where contract payers are accepted', async () => {
  const open = await openFacilitator(chain, {
    facilitator: { contractPayers: 'accept' },
  })
  const { make } = payloadKinds.find(
    ({ name }) => name === 'of a contract whose key signed',
  ) ?? { make: () => Promise.reject(new Error('no such kind')) }
  const sent = await make({ ...world, seller: open.seller })
  expect(await open.verify(sent)).toMatchObject({ isValid: true })
  expect(await open.settle(sent)).toMatchObject({ success: true })
  await open.orders.close()
})

test('where chain and wall clock differ, the chain decides', async () => {
  await chain.clients.test.mine({ blocks: 1 })
  await chain.warp(60)
  const now = Math.floor(Date.now() / 1000)
  const early = await shop.pay({
    authorization: { validAfter: String(now + 20) },
  })
  const late = await shop.pay({
    authorization: { validBefore: String(now + 30) },
  })
  expect(await judge(early)).toMatchObject({ isValid: false })
  expect(await shop.verify(early)).toMatchObject({ isValid: true })
  expect(await shop.settle(early)).toMatchObject({ success: true })
  expect(await shop.verify(late)).toMatchObject({
    isValid: false,
    invalidReason: 'invalid_exact_evm_payload_authorization_valid_before',
  })
})

/** Their verdict; what they throw is one too. */
async function judge(sent: Sent): Promise<VerifyResponse> {
  const { paymentPayload, paymentRequirements } = sent
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
