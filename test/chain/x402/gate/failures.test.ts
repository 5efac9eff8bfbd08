import {
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http'
import { appendPaymentIdentifierToExtensions } from '@x402/extensions/payment-identifier'
import { memoryStore } from 'countersign/store'
import { createX402Gate, X402SetupError } from 'countersign/x402'
import {
  type Address,
  createWalletClient,
  erc20Abi,
  http,
  type PrivateKeyAccount,
} from 'viem'
import { waitForTransactionReceipt } from 'viem/actions'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { eventsOf, openShop } from '../../support/shop.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  requiredBy,
  settlementOf,
  signFor,
} from '../../support/x402Desk.js'

const address = 'https://shop.example/work'
const shop = await openGateShop({
  offers: {
    tried: { amount: '0.01', afterFailure: 'giveUp' },
    kept: { amount: '0.01', flow: 'upfront', afterFailure: 'keep' },
    named: { amount: '0.01', identifier: 'required' },
    stream: { amount: '0.01', flow: 'upfront', stream: true },
  },
})

type Handler = Parameters<typeof shop.gate.protect>[1]

/** A request to an offer that pays, which can be sent again. */
async function paidRequest(
  offer: string,
  handler: Handler,
  spend: bigint = price,
) {
  const account = await fundedAccount(chain, spend)
  const sold = shop.gate.protect(offer, handler)
  const header = await signFor(account, await sold(new Request(address)))
  const send = (changed = header) =>
    sold(new Request(address, { headers: { 'PAYMENT-SIGNATURE': changed } }))
  const lastOrder = async () => {
    const payer = account.address.toLowerCase()
    const { orders } = await shop.orders.list({ limit: 100 })
    const order = orders.find((one) => one.payer === payer)
    if (!order) throw new Error('no order')
    return order
  }
  return { account, header, send, lastOrder }
}

/** Fails the first time. */
function flaky(): { handler: Handler; runs: () => number } {
  let runs = 0
  const handler = () => {
    runs++
    if (runs === 1) throw new Error('secret words')
    return new Response(`run ${runs}`)
  }
  return { handler, runs: () => runs }
}

test('work that fails takes nothing, and the same payment may ask again', async () => {
  const { handler, runs } = flaky()
  const { send, account } = await paidRequest('work', handler)
  const failed = await send()
  expect([failed.status, await failed.text()]).toEqual([
    500,
    '{"error":"work_failed"}',
  ])
  expect(settlementOf(failed)).toBe(null)
  expect(await balanceOf(account.address)).toBe(price)
  const again = await send()
  expect([again.status, await again.text()]).toEqual([200, 'run 2'])
  expect(await (await send()).text()).toBe('run 2')
  expect(runs()).toBe(2)
  expect(await balanceOf(account.address)).toBe(0n)
})

test('an answer of 400 and above is given as it is, and takes nothing', async () => {
  const { send, account } = await paidRequest('work', () =>
    Response.json({ problem: 'no such city' }, { status: 404 }),
  )
  const failed = await send()
  expect([failed.status, await failed.json()]).toEqual([
    404,
    { problem: 'no such city' },
  ])
  expect(await balanceOf(account.address)).toBe(price)
})

test('work that is given up voids its order, and is never done again', async () => {
  const { handler, runs } = flaky()
  const { send, account, lastOrder } = await paidRequest('tried', handler)
  expect((await send()).status).toBe(402)
  const again = await send()
  expect(requiredBy(again).error).toBe('invalid_transaction_state')
  expect(runs()).toBe(1)
  expect((await lastOrder()).state).toBe('voided')
  expect(await balanceOf(account.address)).toBe(price)
})

test('work that fails after the capture raises refundDue once, and says so again', async () => {
  const { handler, runs } = flaky()
  const { send, account, lastOrder } = await paidRequest('upfront', handler)
  const [failed, again] = [await send(), await send()]
  expect([failed.status, again.status]).toEqual([500, 500])
  expect(settlementOf(failed)).toMatchObject({ success: true })
  expect(settlementOf(again)).toEqual(settlementOf(failed))
  expect(runs()).toBe(1)
  expect(await balanceOf(account.address)).toBe(0n)
  const { id } = await lastOrder()
  const { events } = await shop.orders.events({ orderId: id, limit: 100 })
  const due = events.filter(({ type }) => type === 'refundDue')
  expect(due.map(({ data }) => data)).toEqual([
    expect.objectContaining({
      reason: 'workFailed',
      refundTo: account.address.toLowerCase(),
      refundId: expect.any(String),
      value: '10000',
    }),
  ])
})

test('what was captured keeps its claim to the work, where the offer says so', async () => {
  const { handler, runs } = flaky()
  const { send, account, lastOrder } = await paidRequest('kept', handler)
  expect((await send()).status).toBe(500)
  const again = await send()
  expect([again.status, await again.text()]).toEqual([200, 'run 2'])
  expect(runs()).toBe(2)
  expect(await balanceOf(account.address)).toBe(0n)
  expect(await eventsOf(shop, (await lastOrder()).id)).not.toContain(
    'refundDue',
  )
})

test('when the funds are gone after the work, the answer is held back', async () => {
  const [payer, thief] = [await fundedAccount(chain, price), recipientOf()]
  const sold = shop.gate.protect('work', async () => {
    await moveFunds(payer, thief)
    return new Response('the goods')
  })
  const header = await signFor(payer, await sold(new Request(address)))
  const response = await sold(
    new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } }),
  )
  expect(response.status).toBe(402)
  expect(await response.text()).not.toContain('goods')
  expect(settlementOf(response)).toMatchObject({
    success: false,
    errorReason: 'invalid_exact_evm_insufficient_balance',
  })
})

test('a payment identifier is for one payload: another one of the payer is 409', async () => {
  let runs = 0
  const { send, header, account } = await paidRequest(
    'work',
    () => {
      runs++
      return new Response('done')
    },
    2n * price,
  )
  const other = await signFor(
    account,
    await shop.gate.answer(new Request(address), {
      offer: 'work',
      handler: () => new Response(),
    }),
  )
  const id = 'pay_0123456789abcdef'
  const [first, second] = [nameIt(header, id), nameIt(other, id)]
  expect((await send(first)).status).toBe(200)
  expect((await send(second)).status).toBe(409)
  expect((await send(first)).status).toBe(200)
  expect(runs).toBe(1)
  expect(await balanceOf(account.address)).toBe(price)
})

test('the identifier of one payer says nothing about that of another', async () => {
  const one = await paidRequest('work', () => new Response('one'))
  const two = await paidRequest('work', () => new Response('two'))
  const id = 'pay_shared_0123456789'
  expect(await (await one.send(nameIt(one.header, id))).text()).toBe('one')
  expect(await (await two.send(nameIt(two.header, id))).text()).toBe('two')
})

test('an offer can ask for an identifier, and refuses a malformed one', async () => {
  const { send, header } = await paidRequest('named', () => new Response('ok'))
  const missing = await send()
  expect([missing.status, await missing.json()]).toEqual([
    400,
    { error: 'payment_identifier_required' },
  ])
  expect((await send(nameIt(header, 'too short'))).status).toBe(400)
  expect((await send(nameIt(header, 'pay_0123456789abc_'))).status).toBe(200)
})

test('a stream is passed on once; the same payment is told that it was', async () => {
  const { send } = await paidRequest('stream', () => new Response('in pieces'))
  const first = await send()
  expect([first.status, await first.text()]).toEqual([200, 'in pieces'])
  const again = await send()
  expect([again.status, await again.json()]).toEqual([
    409,
    { error: 'answered' },
  ])
  expect(settlementOf(again)).toEqual(settlementOf(first))
})

test('an answer too long to keep is a failure of the work', async () => {
  const small = await openGateShop({ mostAnswerBytes: 10 })
  const sold = small.gate.protect('work', () => new Response('x'.repeat(11)))
  const account = await fundedAccount(chain, price)
  const header = await signFor(account, await sold(new Request(address)))
  const response = await sold(
    new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } }),
  )
  expect(await response.json()).toEqual({ error: 'answer_too_long' })
  expect(await balanceOf(account.address)).toBe(price)
})

test('one payer has at most so many payments open', async () => {
  const small = await openGateShop({ mostOpen: 1 })
  const account = await fundedAccount(chain, 2n * price)
  let finish = () => {}
  const waiting = new Promise<void>((resolve) => {
    finish = resolve
  })
  const sold = small.gate.protect('work', async () => {
    await waiting
    return new Response('done')
  })
  const send = async () => {
    const header = await signFor(account, await sold(new Request(address)))
    return sold(
      new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } }),
    )
  }
  const first = send()
  await expect
    .poll(async () => (await small.orders.list()).orders.length)
    .toBe(1)
  const second = await send()
  expect([second.status, await second.json()]).toEqual([
    429,
    { error: 'too_many_open_payments' },
  ])
  finish()
  expect((await first).status).toBe(200)
  expect((await send()).status).toBe(200)
})

test('a recipient that is open in another database is refused at the start', async () => {
  const store = memoryStore()
  let identity = 'first'
  const copied = { ...store, open: async () => ({ identity }) }
  const first = await openGateShop({}, { store: copied })
  await first.gate.claimRecipients()
  identity = 'second'
  const { orders } = await openShop(chain, { store: copied })
  const offers = {
    work: { amount: '0.01', recipient: first.recipient },
  }
  const shared = await openShop(chain, {
    store: copied,
    recipients: [first.recipient],
  })
  expect(orders).toBeDefined()
  const second = createX402Gate({ orders: shared.orders, offers })
  await expect(second.open()).rejects.toThrow(X402SetupError)
  const refused = await second.answer(new Request(address), {
    offer: 'work',
    handler: () => new Response('never'),
  })
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { error: 'unavailable' },
  ])
  const moved = createX402Gate({
    orders: shared.orders,
    offers,
    takeOverFrom: 'first',
  })
  await moved.open()
  await second.open()
})

const recipientOf = (): Address => `0x${'99'.repeat(20)}`

/** Spends what somebody has, by a transaction of his own. */
async function moveFunds(account: PrivateKeyAccount, to: Address) {
  await chain.clients.test.setBalance({
    address: account.address,
    value: 10n ** 18n,
  })
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(),
  })
  const hash = await wallet.writeContract({
    address: chain.token,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to, await balanceOf(account.address)],
  })
  await waitForTransactionReceipt(chain.clients.public, { hash })
}

/** The header with a payment identifier in it. */
function nameIt(header: string, id: string): string {
  const payload = decodePaymentSignatureHeader(header)
  const extensions = structuredClone(payload.extensions ?? {})
  if (/^[\w-]{16,}$/.test(id))
    appendPaymentIdentifierToExtensions(extensions, id)
  else extensions['payment-identifier'] = { info: { required: false, id } }
  return encodePaymentSignatureHeader({ ...payload, extensions })
}
