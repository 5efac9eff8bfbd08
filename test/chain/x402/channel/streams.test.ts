import { wrapFetchWithPayment } from '@x402/fetch'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { ChargeRejectedError, type X402Payment } from 'countersign/x402'
import { type Address, recoverAddress } from 'viem'
import { expect, test, vi } from 'vitest'
import {
  type ChannelShop,
  deposit,
  most,
  openChannelShop,
  stockPayer,
} from '../../support/channelShop.js'
import { fundedAccount } from '../../support/desk.js'
import { payBy, sendHeader } from '../../support/mockChannelShop.js'
import { type PacedStream, pacedStream } from '../../support/pacedStream.js'
import { chain, requiredBy, settlementOf } from '../../support/x402Desk.js'

const mismatch = 'invalid_batch_settlement_evm_cumulative_amount_mismatch'

const until = (check: () => void) => vi.waitFor(check, { timeout: 30_000 })

/** A shop that streams under `/stream`, and answers at once elsewhere. */
async function openStreamShop(
  options: Parameters<typeof openChannelShop>[1] = {},
) {
  const streams: PacedStream[] = []
  const signals: AbortSignal[] = []
  let runs = 0
  let vouchers = 0
  const handler = (request: Request, payment: X402Payment) => {
    runs += 1
    signals.push(request.signal)
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== '/stream') return Response.json({ runs })
    const begins = searchParams.get('begins')
    if (begins !== null) payment.charge?.(begins)
    const stream = pacedStream(payment)
    streams.push(stream)
    return stream.response
  }
  const offer = { stream: true, ...options.offer }
  const shop = await openChannelShop(handler, {
    ...options,
    offer,
    recoverAddress: (given) => {
      vouchers += 1
      return recoverAddress(given)
    },
  })
  const running = async (place = 0): Promise<PacedStream> => {
    await until(() => expect(streams.length).toBeGreaterThan(place))
    return streams[place] as PacedStream
  }
  return {
    ...shop,
    running,
    signals,
    runs: () => runs,
    vouchers: () => vouchers,
  }
}

const chargedOf = async ({ channels }: ChannelShop, payer: Address) =>
  (await channels.list({ payer })).channels[0]?.charged

const openedChannel = async ({ url }: ChannelShop) => {
  const account = await fundedAccount(chain, deposit)
  const first = await payBy(account, `${url}/`, { max: most, deposit })
  expect(first.status).toBe(200)
  return account
}

test('a stream charges as it goes, and the stock client is put in step by one corrective answer', async () => {
  const shop = await openStreamShop()
  const { account, client } = await stockPayer()
  const statuses: number[] = []
  const counted: typeof fetch = async (...given) => {
    const answer = await fetch(...given)
    statuses.push(answer.status)
    return answer
  }
  const pay = wrapFetchWithPayment(counted, client)
  const asked = pay(`${shop.url}/stream?begins=0`)
  const stream = await shop.running()
  const answer = await asked
  expect(settlementOf(answer)).toMatchObject({
    amount: '1000000',
    extra: {
      chargedAmount: '0',
      channelState: { chargedCumulativeAmount: '0' },
    },
  })
  for (const [total, charged] of [
    ['0.0012', 1_200n],
    ['0.0031', 3_100n],
    ['0.0031', 3_100n],
  ] as const) {
    await stream.next(total)
    expect(await chargedOf(shop, account.address)).toBe(charged)
  }
  stream.end()
  expect(await answer.text()).toBe('part part part ')
  // The same request with the same voucher: the header said that it cost nothing.
  statuses.length = 0
  const next = pay(`${shop.url}/stream?begins=0`)
  const second = await shop.running(1)
  await second.next('0.0005')
  second.end()
  expect((await next).status).toBe(200)
  expect(await (await next).text()).toBe('part ')
  // One answer without a payment, one that corrects, and the stream.
  expect(statuses).toEqual([402, 402, 200])
  statuses.length = 0
  await pay(`${shop.url}/other`)
  expect(statuses).toEqual([402, 402, 200])
  expect(await chargedOf(shop, account.address)).toBe(13_600n)
})

test('a stream that says nothing before its first part is charged the most, and one that charges first is charged that', async () => {
  const shop = await openStreamShop()
  const account = await openedChannel(shop)
  const asked = payBy(account, `${shop.url}/stream`, { max: 2n * most })
  const silent = await shop.running()
  await silent.next()
  expect(settlementOf(await asked).extra.chargedAmount).toBe('10000')
  silent.end()
  const other = payBy(account, `${shop.url}/stream`, { max: 3n * most })
  const late = await shop.running(1)
  await late.next('0.0007')
  expect(settlementOf(await other).extra.chargedAmount).toBe('700')
  late.end()
  expect(await chargedOf(shop, account.address)).toBe(20_700n)
})

test('a stream that breaks off before its first part is not charged', async () => {
  const shop = await openStreamShop()
  const account = await openedChannel(shop)
  const asked = payBy(account, `${shop.url}/stream`, { max: 2n * most })
  const stream = await shop.running()
  await stream.next('0.0101')
  expect((await asked).status).toBe(500)
  expect(await chargedOf(shop, account.address)).toBe(most)
})

test.each([
  ['above what was signed', '0.010001'],
  ['lower than before', '0.0019'],
])(
  'a stream that charges %s ends, and what was charged stays',
  async (_, wrong) => {
    const shop = await openStreamShop()
    const account = await openedChannel(shop)
    const asked = payBy(account, `${shop.url}/stream?begins=0.001`, {
      max: 2n * most,
    })
    const stream = await shop.running()
    const answer = await asked
    await stream.next('0.002')
    await stream.next(wrong)
    expect(await stream.failed).toMatchObject({ name: 'InvalidFieldError' })
    await expect(answer.text()).rejects.toThrow()
    expect(await chargedOf(shop, account.address)).toBe(12_000n)
    const next = await payBy(account, `${shop.url}/`, { max: 12_000n + most })
    expect(next.status).toBe(200)
  },
)

test('other requests of the channel wait for a stream, then the gate says that it is busy', async () => {
  const shop = await openStreamShop({ timeout: 200 })
  const account = await openedChannel(shop)
  const asked = payBy(account, `${shop.url}/stream?begins=0.001`, {
    max: 2n * most,
  })
  const stream = await shop.running()
  const answer = await asked
  const other = await payBy(account, `${shop.url}/`, { max: 11_000n + most })
  expect(other.status).toBe(503)
  await stream.next('0.002')
  stream.end()
  await answer.text()
  const late = await payBy(account, `${shop.url}/`, { max: 11_000n + most })
  expect(requiredBy(late).error).toBe(mismatch)
  const next = await payBy(account, `${shop.url}/`, { max: 12_000n + most })
  expect(next.status).toBe(200)
})

test('a client that leaves ends its stream: what was charged stays, and the next request is served', async () => {
  const shop = await openStreamShop()
  const account = await openedChannel(shop)
  const leaving = new AbortController()
  const asked = payBy(
    account,
    `${shop.url}/stream?begins=0.001`,
    { max: 2n * most },
    { signal: leaving.signal },
  )
  const stream = await shop.running()
  await asked
  await stream.next('0.002')
  leaving.abort()
  const next = await payBy(account, `${shop.url}/`, { max: 12_000n + most })
  expect(next.status).toBe(200)
  await stream.next('0.003')
  expect(await stream.failed).toBeInstanceOf(ChargeRejectedError)
  expect(await chargedOf(shop, account.address)).toBe(12_000n + most)
})

test('the same voucher after a stream learns what the stream has cost, and runs nothing', async () => {
  const shop = await openStreamShop()
  const account = await openedChannel(shop)
  const url = `${shop.url}/stream?begins=0.001`
  const asked = payBy(account, url, { max: 2n * most })
  const stream = await shop.running()
  const answer = await asked
  await stream.next('0.0042')
  stream.end()
  await answer.text()
  const again = await sendHeader(url, answer.header)
  expect(again.status).toBe(409)
  expect(settlementOf(again).extra).toMatchObject({
    chargedAmount: '4200',
    channelState: { chargedCumulativeAmount: '14200' },
  })
  expect(shop.runs()).toBe(2)
})

test('a channel that the merchant stops ends its stream', async () => {
  const shop = await openStreamShop()
  const account = await openedChannel(shop)
  const asked = payBy(account, `${shop.url}/stream?begins=0.001`, {
    max: 2n * most,
  })
  const stream = await shop.running()
  await asked
  const [channel] = (await shop.channels.list()).channels
  await shop.channels.stop({ channelId: channel?.channelId ?? '0x' })
  await stream.next('0.002')
  expect(await stream.failed).toMatchObject({
    name: 'ChargeRejectedError',
    details: { reason: 'stopped' },
  })
  expect(await chargedOf(shop, account.address)).toBe(11_000n)
})

test('after a crash in a stream, what is on record is charged', async () => {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  let isDead = false
  const dying: PaymentStore = {
    ...store,
    write: (work, options) =>
      isDead ? new Promise<never>(() => {}) : store.write(work, options),
  }
  const one = await openStreamShop({ store: dying, sellers })
  const other = await openStreamShop({ store, sellers })
  const account = await openedChannel(one)
  const asked = payBy(account, `${one.url}/stream?begins=0.001`, {
    max: 2n * most,
  })
  const stream = await one.running()
  const answer = await asked
  const reader = answer.body?.getReader()
  await stream.next('0.002')
  expect((await reader?.read())?.done).toBe(false)
  isDead = true
  stream.next('0.003')
  const next = await payBy(account, `${other.url}/`, { max: 11_000n + most })
  expect(requiredBy(next).error).toBe(mismatch)
  const paid = await payBy(account, `${other.url}/`, { max: 12_000n + most })
  expect(paid.status).toBe(200)
})

test('a client that joins with the same voucher gets the stream when the first one has left', async () => {
  const shop = await openStreamShop()
  const account = await openedChannel(shop)
  const leaving = new AbortController()
  const url = `${shop.url}/stream`
  const first = payBy(
    account,
    url,
    { max: 2n * most },
    { signal: leaving.signal },
  ).catch((error: unknown) => error)
  const stream = await shop.running()
  const second = payBy(account, url, { max: 2n * most })
  await until(() => expect(shop.vouchers()).toBe(3))
  leaving.abort()
  await first
  await until(() => expect(shop.signals.at(-1)?.aborted).toBe(true))
  await stream.next('0.001')
  const answer = await second
  expect(answer.status).toBe(200)
  stream.end()
  expect(await answer.text()).toBe('part ')
  expect(shop.runs()).toBe(2)
})
