import type { X402Handler } from 'countersign/x402'
import { expect, test } from 'vitest'
import { openTwoGates } from '../../support/twoGates.js'
import {
  balanceOf,
  type GateShop,
  price,
  settlementOf,
} from '../../support/x402Desk.js'
import { payFor, resource } from '../../support/x402Paid.js'

const never: X402Handler = () => {
  throw new Error('ran again')
}

/** Sends a payment as it was signed to another gate. */
const sendTo = (
  { gate }: GateShop,
  offer: string | readonly string[],
  header: string,
): Promise<Response> =>
  gate.answer(
    new Request(resource, { headers: { 'PAYMENT-SIGNATURE': header } }),
    { offer, handler: never },
  )

/** A handler that ends when it is told to, and counts its runs. */
function slowHandler() {
  let runs = 0
  let begin = () => {}
  let finish = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const handler: X402Handler = async () => {
    runs++
    begin()
    await finished
    return new Response('goods')
  }
  return { handler, begun, finish, runs: () => runs }
}

test.each([
  ['work', 'whose nonce the node then calls used', {}],
  ['upfront', 'whose nonce the node then calls used', {}],
  ['work', 'that then expires too soon', { safetyMargin: 298n }],
  ['work', 'whose payer may not be a contract', { contractPayers: 'refuse' }],
] as const)(
  'a payment for %s %s is answered from the record that another process made meanwhile',
  async (offer, _, policy) => {
    const { first, second, node } = await openTwoGates({ policy })
    const paid = await payFor(first, offer, () => new Response('goods'))
    const { arrived } = node.hold('question')
    const late = sendTo(second, offer, paid.header)
    await arrived
    const answer = await paid.send()
    node.release()
    const again = await late
    expect([again.status, await again.text()]).toEqual([200, 'goods'])
    expect(settlementOf(again)).toEqual(settlementOf(answer))
    expect(await balanceOf(paid.account.address)).toBe(0n)
  },
)

test.each([
  ['has not the funds for two', {}, price],
  ['has the most open payments', { mostOpen: 1 }, 2n * price],
])(
  'a payment on record of a payer who %s is no second one in another process',
  async (_, parameters, funds) => {
    const { first, second, node } = await openTwoGates(parameters)
    const slow = slowHandler()
    const paid = await payFor(first, 'work', slow.handler, funds)
    const { arrived } = node.hold('answer')
    const late = sendTo(second, 'work', paid.header)
    await arrived
    const sent = paid.send()
    await slow.begun
    node.release()
    slow.finish()
    const answers = await Promise.all([sent, late])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(slow.runs()).toBe(1)
    expect(await balanceOf(paid.account.address)).toBe(funds - price)
  },
)

test('a payment on record needs no identifier, though its offer does by now', async () => {
  const { first, second } = await openTwoGates({
    offers: { work: { amount: '0.01', identifier: 'required' } },
  })
  const paid = await payFor(first, 'work', () => new Response('goods'))
  const refused = await sendTo(second, 'work', paid.header)
  expect(refused.status).toBe(400)
  expect((await paid.send()).status).toBe(200)
  const again = await sendTo(second, 'work', paid.header)
  expect([again.status, await again.text()]).toEqual([200, 'goods'])
})

test('a payment on record is found though an equal offer stands before its own', async () => {
  const { first, second } = await openTwoGates({
    offers: { twin: { amount: '0.01', description: 'Some work' } },
  })
  const paid = await payFor(first, 'work', () => new Response('goods'))
  expect((await paid.send()).status).toBe(200)
  const again = await sendTo(second, ['twin', 'work'], paid.header)
  expect([again.status, await again.text()]).toEqual([200, 'goods'])
  const other = await sendTo(second, 'twin', paid.header)
  expect(other.status).toBe(402)
})
