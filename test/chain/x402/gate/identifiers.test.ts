import {
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http'
import { appendPaymentIdentifierToExtensions } from '@x402/extensions/payment-identifier'
import { createX402Gate } from 'countersign/x402'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  requiredBy,
  signFor,
} from '../../support/x402Desk.js'

const address = 'https://shop.example/work'
test.each([
  ['before its capture', 'authorization'],
  ['after its capture', 'upfront'],
] as const)(
  'when a process stopped %s, a new signature with the same identifier takes nothing',
  async (_, flow) => {
    const shop = await openGateShop()
    const { orders } = shop
    const sell = (work: () => Promise<Response>) =>
      createX402Gate({
        orders,
        offers: { work: { amount: '0.01', flow } },
      }).protect('work', work)
    const stopped = { runs: 0 }
    // Its handler never ends, as if its process had stopped in it.
    const stop = sell(() => {
      stopped.runs++
      return new Promise(() => undefined)
    })
    const payer = await fundedAccount(chain, 2n * price)
    const asked = await stop(new Request(address))
    const first = nameIt(await signFor(payer, asked))
    void stop(requestWith(first))
    await expect.poll(() => stopped.runs).toBe(1)
    const before = await balanceOf(payer.address)

    let runs = 0
    const next = sell(async () => {
      runs++
      return new Response('done')
    })
    const second = nameIt(await signFor(payer, asked))
    expect(second).not.toBe(first)
    expect((await next(requestWith(second))).status).toBe(409)
    expect(runs).toBe(0)
    expect(await balanceOf(payer.address)).toBe(before)
    expect((await orders.list()).orders).toHaveLength(1)
  },
)

test('whoever did not sign a payment learns of no identifier of the payer', async () => {
  const account = await fundedAccount(chain, 2n * price)
  const { gate } = await openGateShop()
  const sold = gate.protect('work', () => new Response('goods'))
  const ask = (header: string) => sold(requestWith(header))
  const asked = await sold(new Request(address))
  const used = 'pay_0123456789abcdef'
  expect((await ask(nameIt(await signFor(account, asked), used))).status).toBe(
    200,
  )
  const other = await signFor(account, asked)
  const forged = await Promise.all(
    [used, 'pay_fedcba9876543210'].map((id) => ask(forge(other, id))),
  )
  const seen = forged.map((one) => [one.status, requiredBy(one).error])
  expect(seen[0]).toEqual(seen[1])
  expect(seen[0]).toEqual([402, 'invalid_exact_evm_signature'])
  expect((await ask(nameIt(other, used))).status).toBe(409)
})

const requestWith = (header: string) =>
  new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } })

/** The header with a payment identifier, the same each time by default. */
function nameIt(header: string, id = 'pay_0123456789abcdef'): string {
  const payload = decodePaymentSignatureHeader(header)
  const extensions = structuredClone(payload.extensions ?? {})
  appendPaymentIdentifierToExtensions(extensions, id)
  return encodePaymentSignatureHeader({ ...payload, extensions })
}

/** The same, signed by nobody. */
function forge(header: string, id: string): string {
  const named = decodePaymentSignatureHeader(nameIt(header, id))
  const signature = `0x${'11'.repeat(64)}1b`
  const payload = { ...named.payload, signature }
  return encodePaymentSignatureHeader({ ...named, payload })
}
