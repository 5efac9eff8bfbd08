import { afterEach, expect, test, vi } from 'vitest'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
} from '../../support/x402Desk.js'
import { payFor } from '../../support/x402Paid.js'

const shop = await openGateShop({
  offers: { again: { amount: '0.01', repeatable: true } },
})

afterEach(() => vi.unstubAllGlobals())

/** Holds the node's next answer until `release`. */
function holdNode() {
  const real = fetch
  let release = () => {}
  let arrive = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  vi.stubGlobal('fetch', async (...given: Parameters<typeof fetch>) => {
    vi.unstubAllGlobals()
    const response = await real(...given)
    arrive()
    await released
    return response
  })
  return { arrived, release }
}

test.each(['work', 'again'])(
  'requests for %s that waited behind another use of their payment run the handler once',
  async (offer) => {
    let runs = 0
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { send, account } = await payFor(
      shop,
      offer,
      async () => {
        runs++
        await finished
        return new Response('goods')
      },
      0n,
    )
    const node = holdNode()
    // Refused, since it is judged before there are funds.
    const other = send({}, 'https://shop.example/other')
    await node.arrived
    const waiting = [send(), send(), send()]
    await turns()
    await chain.mint({ to: account.address, value: price })
    node.release()
    expect((await other).status).toBe(402)
    await turns()
    finish()
    const answers = await Promise.all(waiting)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(runs).toBe(1)
    expect(await balanceOf(account.address)).toBe(0n)
  },
)

/** Lets requests go on as far as they can. */
const turns = () => new Promise((resolve) => setTimeout(resolve, 100))
