import { x402Facilitator } from '@x402/core/facilitator'
import { createFacilitator } from 'countersign/x402'
import { afterAll, expect, test, vi } from 'vitest'
import { fundedAccount } from '../support/desk.js'
import { openFacilitator, transfersTo } from '../support/facilitatorShop.js'
import {
  network,
  price,
  startFacilitatorChain,
} from '../support/stockFacilitator.js'
import {
  type Flow,
  facilitatorAt,
  keepPayments,
  type Listening,
  listenFetch,
  paidWith,
  payingFetch,
  stockApis,
} from '../support/stockServers.js'

const chain = await startFacilitatorChain()
const opened: Listening[] = []
afterAll(async () => {
  await Promise.all(opened.map(({ close }) => close()))
  await chain.stop()
})

type Setting = {
  framework: keyof typeof stockApis
  flow: Flow
  where: 'over HTTP' | 'in process'
}

async function openApi({ framework, flow, where }: Setting) {
  const shop = await openFacilitator(chain)
  const work = vi.fn()
  const scheme = shop.facilitator.schemeFor({ name: 'one' })
  const inside = new x402Facilitator().register(network, scheme)
  const served = await listenFetch(shop.facilitator.handle)
  const facilitator =
    where === 'over HTTP'
      ? facilitatorAt(served.url)
      : {
          verify: inside.verify.bind(inside),
          settle: inside.settle.bind(inside),
          getSupported: async () =>
            inside.getSupported() as ReturnType<
              typeof shop.facilitator.supported
            >,
        }
  const payTo = shop.seller
  const api = await stockApis[framework]({
    facilitator,
    payTo,
    chain,
    flow,
    work,
  })
  opened.push(served, api)
  return { shop, work, url: `${api.url}/weather` }
}

const settings = (['hono', 'express'] as const).flatMap((framework) =>
  (['authorization', 'upfront'] as const).flatMap((flow) =>
    (['over HTTP', 'in process'] as const).map((where) => ({
      framework,
      flow,
      where,
    })),
  ),
)

test.each(settings)(
  'the stock $framework middleware, $flow flow, settles through us $where',
  async (setting) => {
    const { shop, work, url } = await openApi(setting)
    const payer = await fundedAccount(chain, price)
    const response = await payingFetch(payer)(url)

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ weather: 'sunny' })
    expect(paidWith(response)).toMatchObject({
      success: true,
      transaction: expect.stringMatching(/^0x[\da-f]{64}$/),
      network,
      payer: payer.address,
    })
    expect(work).toHaveBeenCalledTimes(1)
    expect(await transfersTo(chain, shop.seller)).toBe(1)
    await shop.orders.close()
  },
)

test.each(settings)(
  'a payment header sent four times buys once ($framework, $flow, $where)',
  async (setting) => {
    const { shop, work, url } = await openApi(setting)
    const payer = await fundedAccount(chain, price)
    const kept = keepPayments()
    await payingFetch(payer, kept.send)(url)
    const [header = ''] = kept.headers
    const again = () => fetch(url, { headers: { 'payment-signature': header } })
    const answers = await Promise.all([again(), again(), again()])

    expect(answers.map(({ status }) => status)).toEqual([402, 402, 402])
    expect(work).toHaveBeenCalledTimes(1)
    expect(await transfersTo(chain, shop.seller)).toBe(1)
    await shop.orders.close()
  },
)

test.each(['hono', 'express'] as const)(
  'of one payment sent four times at once to a %s server that never verifies, one is served',
  async (framework) => {
    const { shop, work, url } = await openApi({
      framework,
      flow: 'upfront',
      where: 'over HTTP',
    })
    const payer = await fundedAccount(chain, price)
    // Takes the header the client would send, and answers in its place.
    const headers: string[] = []
    await payingFetch(payer, async (input, init) => {
      const request = new Request(input, init)
      const header = request.headers.get('payment-signature')
      if (!header) return fetch(request)
      headers.push(header)
      return new Response('kept')
    })(url)
    const [header = ''] = headers
    const again = () => fetch(url, { headers: { 'payment-signature': header } })
    const answers = await Promise.all([again(), again(), again(), again()])

    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 402, 402, 402])
    expect(work).toHaveBeenCalledTimes(1)
    expect(await transfersTo(chain, shop.seller)).toBe(1)
    await shop.orders.close()
  },
)

test('a stock server that waits less than the capture takes answers 502, and its next request is served', async () => {
  const shop = await openFacilitator(chain)
  const served = await listenFetch(shop.facilitator.handle)
  const work = vi.fn()
  const patient = facilitatorAt(served.url)
  const impatient = facilitatorAt(served.url, 'one', 1_000)
  let current = impatient
  const api = await stockApis.hono({
    facilitator: {
      verify: (...asked) => current.verify(...asked),
      settle: (...asked) => current.settle(...asked),
      getSupported: () => patient.getSupported(),
    },
    payTo: shop.seller,
    chain,
    flow: 'upfront',
    work,
  })
  opened.push(served, api)
  const url = `${api.url}/weather`
  const payer = await fundedAccount(chain, price)
  const kept = keepPayments()
  await chain.clients.test.setAutomine(false)
  const late = await payingFetch(payer, kept.send)(url)
  expect(late.status).toBe(502)
  current = patient
  await chain.clients.test.setAutomine(true)
  await chain.clients.test.mine({ blocks: 1 })
  const [header = ''] = kept.headers
  const next = await fetch(url, { headers: { 'payment-signature': header } })
  expect(next.status).toBe(200)
  expect(await transfersTo(chain, shop.seller)).toBe(1)
  await shop.orders.close()
})

test.each(['authorization', 'upfront'] as const)(
  'the one retry of a stock server ends a pending settlement well (%s flow)',
  async (flow) => {
    const shop = await openFacilitator(chain)
    const patient = shop.facilitator
    const brief = createFacilitator({
      orders: shop.orders,
      authorize: () => ({ name: 'one' }),
      timeout: 0,
    })
    const answers: { errorReason?: string; success?: boolean }[] = []
    // Its first settlement is answered before the capture is mined.
    const served = await listenFetch(async (request) => {
      const isSettle = request.url.endsWith('/settle')
      if (!isSettle) return patient.handle(request)
      if (answers.length > 0) {
        await chain.clients.test.setAutomine(true)
        await chain.clients.test.mine({ blocks: 1 })
        return note(await patient.handle(request))
      }
      await chain.clients.test.setAutomine(false)
      await takeUntilSent(request.clone())
      return note(await brief.handle(request))
    })
    const note = async (response: Response) => {
      answers.push(await response.clone().json())
      return response
    }
    const takeUntilSent = async (request: Request) => {
      const leaving = new AbortController()
      const taking = patient.handle(
        new Request(request, { signal: leaving.signal }),
      )
      await expect
        .poll(async () => (await shop.orders.list()).orders[0]?.state)
        .toBe('capturing')
      leaving.abort()
      await taking
    }
    const work = vi.fn()
    const api = await stockApis.hono({
      facilitator: facilitatorAt(served.url),
      payTo: shop.seller,
      chain,
      flow,
      work,
    })
    opened.push(served, api)
    const payer = await fundedAccount(chain, price)
    const response = await payingFetch(payer)(`${api.url}/weather`)
    await chain.clients.test.setAutomine(true)

    expect(answers).toMatchObject([
      { success: false, errorReason: 'settlement_pending' },
      { success: true },
    ])
    expect(response.status).toBe(200)
    expect(work).toHaveBeenCalledTimes(1)
    expect(await transfersTo(chain, shop.seller)).toBe(1)
    await shop.orders.close()
  },
)
