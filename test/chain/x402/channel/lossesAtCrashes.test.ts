import { getSettled } from 'countersign/channels'
import { expect, test } from 'vitest'
import {
  openSale,
  type Sale,
  type SaleProcess,
  until,
} from '../../support/channelSale.js'
import { deposit, most } from '../../support/channelShop.js'
import { fundedAccount } from '../../support/desk.js'
import { balanceOf, chain, settlementOf } from '../../support/x402Desk.js'

/**
 * One of the five crashes at which x402's stock server hangs, or is paid twice or
 * never. A process dies here by never hearing from its database or node again.
 */
const name = (letter: string, loss: string) =>
  `Crash ${letter}, the stock server: ${loss}; here nothing is lost`

/** A shop whose process dies at a boundary of the next request's charge. */
function openMortal(): Sale & { dieNext: (dies: () => void) => void } {
  let next: (() => void) | undefined
  const sale = openSale(() => {
    next?.()
    next = undefined
    return Response.json({ goods: true })
  })
  return {
    ...sale,
    dieNext: (dies) => {
      next = dies
    },
  }
}

const isDead = async ({ dying }: SaleProcess) => dying.isDead()

test(
  name(
    'a',
    'killed while it writes, it leaves a lock, and the channel waits for ever',
  ),
  async () => {
    const sale = openMortal()
    const first = await sale.open()
    const buyer = await fundedAccount(chain, 2n * deposit)
    await sale.buy(first, buyer, { max: most, deposit })
    sale.dieNext(() => first.dying.dieAt('before write'))
    // Nobody is answered.
    void sale.buy(first, buyer, { max: 2n * most })
    await until(() => isDead(first))
    const next = await sale.open()
    const answer = await sale.buy(next, buyer, { max: 2n * most })
    expect(answer.status).toBe(200)
    await sale.expectNothingLost(next)
  },
)

test.each(['before eth_sendRawTransaction', 'after eth_sendRawTransaction'])(
  name(
    'b',
    'killed %s of a claim, it never moves to the seller what was claimed',
  ),
  async (boundary) => {
    const sale = openSale()
    const first = await sale.open()
    const buyer = await fundedAccount(chain, deposit)
    await sale.buy(first, buyer, { max: most, deposit })
    await sale.buy(first, buyer, { max: 2n * most })
    first.dying.dieAt(boundary)
    void first.channels.claim()
    await until(() => isDead(first))
    const next = await sale.open()
    next.run()
    const receiver = next.seller
    await until(async () => (await balanceOf(receiver)) === 2n * most)
    const given = { receiver, token: chain.token }
    const { claimed, settled } = await getSettled(chain.clients.public, given)
    expect(settled).toBe(claimed)
    await sale.expectNothingLost(next)
  },
)

test(
  name(
    'd',
    'killed in a handler, it keeps the channel reserved for up to 10 minutes',
  ),
  async () => {
    let begun = () => {}
    const isWorking = new Promise<void>((resolve) => {
      begun = resolve
    })
    let hangs = true
    const sale = openSale(async ({ url }) => {
      if (!hangs || !url.includes('costs'))
        return Response.json({ goods: true })
      begun()
      return new Promise(() => undefined)
    })
    const first = await sale.open()
    const buyer = await fundedAccount(chain, deposit)
    await sale.buy(first, buyer, { max: most, deposit })
    void sale.buy(first, buyer, { max: 2n * most, costs: '0.01' })
    await isWorking
    first.dying.die()
    hangs = false
    const next = await sale.open()
    const answer = await sale.buy(next, buyer, {
      max: 2n * most,
      costs: '0.01',
    })
    expect(answer.status).toBe(200)
    await sale.expectNothingLost(next)
  },
)

test.each(['before write', 'after write'])(
  name(
    'e',
    'killed %s of the first charge, it has delivered for nothing, and the client deposits again',
  ),
  async (boundary) => {
    const sale = openMortal()
    const first = await sale.open()
    const buyer = await fundedAccount(chain, 2n * deposit)
    const asked = 'https://shop.example/opening'
    sale.dieNext(() => first.dying.dieAt(boundary))
    const pay = sale.stock(buyer)
    void pay(first, asked)
    await until(() => isDead(first))
    const next = await sale.open()
    // The client knows of no deposit, and signs another.
    const answer = await sale.stock(buyer)(next, asked)
    expect(answer.status).toBe(200)
    expect((await sale.stock(buyer)(next)).status).toBe(200)
    expect(await balanceOf(buyer.address)).toBe(deposit)
    await sale.expectNothingLost(next)
  },
)

test(
  name(
    'f',
    'killed while it waits for a deposit that no block has yet, it forgets it, and the client deposits again',
  ),
  async () => {
    const sale = openSale()
    const first = await sale.open({ timeout: 500 })
    const buyer = await fundedAccount(chain, 2n * deposit)
    const { test: node } = chain.clients
    await node.setAutomine(false)
    try {
      const lost = await sale.buy(first, buyer, { max: most, deposit })
      expect(lost.status).toBe(503)
      first.dying.die()
      const next = await sale.open({ timeout: 500 })
      next.run()
      const other = await sale.buy(next, buyer, { max: most, deposit })
      expect(other.status).toBe(503)
      await node.setAutomine(true)
      await node.mine({ blocks: 1 })
      await until(async () => (await sale.again(next, lost)).ok)
      const again = await sale.again(next, lost)
      expect(settlementOf(again)).toMatchObject({ amount: String(deposit) })
      expect(await balanceOf(buyer.address)).toBe(deposit)
      await sale.expectNothingLost(next)
    } finally {
      await node.setAutomine(true)
    }
  },
)
