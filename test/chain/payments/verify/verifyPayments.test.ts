import {
  type ListedVerdict,
  type PaymentToVerify,
  type SignedPayment,
  verifyPayment,
  verifyPayments,
} from 'countersign'
import fc from 'fast-check'
import { type Address, type Client, formatUnits } from 'viem'
import { expect, test } from 'vitest'
import { runs } from '../../../unit/support/arbitraries.js'
import { type Asked, fakeNode, rpcError } from '../../support/desk.js'
import type { Family } from '../../support/families.js'
import { allKinds } from '../../support/paymentKinds.js'
import {
  chain,
  circle21,
  circle22,
  client,
  freshPayer,
  openZeppelin,
  paxos,
  pay,
  relayer,
  stranger,
  unit,
  usdc,
} from '../../support/rehearsalDesk.js'

/** Expected as it is, but for the changes. */
function claim(
  payment: SignedPayment,
  changes: Partial<PaymentToVerify['expect']> = {},
  { decimals }: Pick<Family, 'decimals'> = circle22,
): PaymentToVerify {
  const { domain, message, primaryType } = payment
  const expected = {
    token: domain.verifyingContract,
    to: message.to,
    primaryType,
    amount: formatUnits(message.value, decimals),
  }
  return { payment, expect: { ...expected, ...changes } }
}

/** Without the gas, which is a bound in a list. */
function withoutGas(verdict: ListedVerdict): object {
  if (verdict.ok === false && verdict.reason === 'notVerified') return verdict
  const { at, ...rest } = verdict
  if (!at) return rest
  const { gasUsed: _, ...place } = at
  return { ...rest, at: place }
}

async function reasonsOf(
  payments: readonly PaymentToVerify[],
  by: Client = client,
): Promise<string[]> {
  const verdicts = await verifyPayments(by, { payments })
  return verdicts.map((verdict) => (verdict.ok ? 'ok' : verdict.reason))
}

/** Payments of all kinds and what may be expected of them. */
async function claimsOf(family: Family): Promise<PaymentToVerify[]> {
  const plain = await allKinds(family)
  const of = (payment: SignedPayment, changes = {}) =>
    claim(payment, changes, family)
  return [
    ...plain.map((payment) => of(payment)),
    of(await pay({ family }), { amount: '2' }),
    of(await pay({ family }), { to: stranger.address }),
    of(await pay({ family }), { minRemaining: 10_000n }),
    of(await pay({ family }), { maxWindow: 1n }),
    of({ ...(await pay({ family })), signature: '0x1234' }),
    of(await pay({ family, primaryType: 'TransferWithAuthorization' })),
    of(
      await pay({
        family,
        message: { to: relayer.account.address.toLowerCase() as Address },
      }),
    ),
  ]
}

test.each([
  ['the development token', circle22],
  ['Circle itself', usdc],
  ['Circle 2.1', circle21],
  ['Paxos', paxos],
  ['OpenZeppelin', openZeppelin],
])(
  'generated lists are judged as each payment is alone, by the token of %s',
  async (_, family) => {
    const claims = await claimsOf(family)
    const alone = await Promise.all(
      claims.map((one) => verifyPayment(client, one)),
    )
    expect(new Set(alone.map(({ ok }) => ok))).toEqual(new Set([true, false]))
    const places = fc.shuffledSubarray([...claims.keys()])
    await fc.assert(
      fc.asyncProperty(places, async (chosen) => {
        const payments = chosen.flatMap((at) => claims[at] ?? [])
        const verdicts = await verifyPayments(client, { payments })
        expect(verdicts.map(withoutGas)).toEqual(
          chosen.flatMap((at) => alone[at] ?? []).map(withoutGas),
        )
      }),
      runs(8),
    )
  },
)

test('a hundred payments take one request', async () => {
  const payer = await freshPayer(circle22, 100n * unit)
  const payments: PaymentToVerify[] = []
  for (let at = 0; at < 100; at++) payments.push(claim(await pay({ payer })))
  const node = fakeNode(chain)
  expect(await reasonsOf(payments, node.client)).toEqual(Array(100).fill('ok'))
  expect(node.methods()).toEqual(['eth_call'])
})

test('no payment takes no request, and what the message decides neither', async () => {
  const node = fakeNode(chain)
  const wrong = claim(await pay(), { to: stranger.address })
  expect(await reasonsOf([], node.client)).toEqual([])
  expect(await reasonsOf([wrong], node.client)).toEqual(['wrongRecipient'])
  expect(node.methods()).toEqual([])
})

test('of payments that overdraw one payer the later ones are refused, whatever their recipients and types', async () => {
  const payer = await freshPayer()
  const to = relayer.account.address.toLowerCase() as Address
  const of = async (value: bigint, changes: Parameters<typeof pay>[0] = {}) =>
    claim(
      await pay({ payer, ...changes, message: { value, ...changes.message } }),
    )
  const payments = [
    await of(2n * unit, { message: { to } }),
    await of(7n * unit),
    await of(2n * unit, { primaryType: 'TransferWithAuthorization' }),
    await of(1n * unit, { message: { to } }),
    await of(1n),
    claim(await pay()),
  ]
  expect(await reasonsOf(payments)).toEqual([
    'ok',
    'ok',
    'insufficientFunds',
    'ok',
    'insufficientFunds',
    'ok',
  ])
})

test('a nonce is good once, also for the other type', async () => {
  const payer = await freshPayer()
  const payment = await pay({ payer })
  const other = await pay({
    payer,
    primaryType: 'TransferWithAuthorization',
    message: { nonce: payment.message.nonce },
  })
  const payments = [claim(payment), claim(other), claim(payment)]
  expect(await reasonsOf(payments)).toEqual(['ok', 'consumed', 'consumed'])
})

test('tokens that a payer would receive in the list are not there yet', async () => {
  const primaryType = 'TransferWithAuthorization'
  const middle = await freshPayer(circle22, 0n)
  const to = middle.address.toLowerCase() as Address
  const payments = [
    claim(await pay({ primaryType, message: { to } })),
    claim(await pay({ primaryType, payer: middle })),
  ]
  expect(await reasonsOf(payments)).toEqual(['ok', 'insufficientFunds'])
})

test('a payment that the merchant refuses does not refuse later ones of its payer', async () => {
  const payer = await freshPayer()
  const to = relayer.account.address.toLowerCase() as Address
  const of = (value: bigint, changes = {}) =>
    pay({ payer, message: { value, ...changes } })
  const large = await of(9n * unit)
  const payments = [
    claim(large, { amount: '1' }),
    claim(await of(8n * unit)),
    claim(large, { minRemaining: 100_000n }),
    claim(await of(1n * unit)),
    claim(await of(5n * unit, { to })),
    claim(await of(1n * unit, { to })),
  ]
  expect(await reasonsOf(payments)).toEqual([
    'wrongAmount',
    'ok',
    'insufficientFunds',
    'ok',
    'insufficientFunds',
    'ok',
  ])
  const nonce = [claim(large, { amount: '1' }), claim(large)]
  expect(await reasonsOf(nonce)).toEqual(['wrongAmount', 'ok'])
})

test('a payment that is refused across kinds does not refuse a later one of its own kind', async () => {
  const payer = await freshPayer()
  const to = relayer.account.address.toLowerCase() as Address
  const of = async (value: bigint, changes = {}) =>
    claim(await pay({ payer, message: { value, ...changes } }))
  const payments = [
    await of(2n * unit, { to }),
    await of(9n * unit),
    await of(8n * unit),
  ]
  expect(await reasonsOf(payments)).toEqual(['ok', 'insufficientFunds', 'ok'])
})

test('a malformed payment or expectation gets its error, and the others their verdicts', async () => {
  const good = claim(await pay())
  const signed = await pay()
  const bad = { ...signed, message: { ...signed.message, value: -1n } }
  const payments = [
    { ...good, payment: bad },
    good,
    { payment: await pay() },
    undefined,
    claim(await pay(), { amount: 'much' }),
    { ...claim(await pay()), expects: {} },
    claim(await pay()),
  ]
  const verdicts = await verifyPayments(client, {
    payments: payments as PaymentToVerify[],
  })
  expect(verdicts.map((one) => (one.ok ? 'ok' : one.reason))).toEqual([
    'notVerified',
    'ok',
    'notVerified',
    'notVerified',
    'notVerified',
    'notVerified',
    'ok',
  ])
  const messages = verdicts.map((one) =>
    !one.ok && one.reason === 'notVerified' ? one.error.message : '',
  )
  expect(messages[0]).toContain('payment.message.value must be')
  expect(messages[4]).toContain('Amount must be')
  expect(messages.join()).not.toContain(signed.signature.slice(2, 40))
})

/** Fails on any request about this payment. */
const failingOn =
  ({ message }: SignedPayment) =>
  async ({ params }: Asked, forward: () => Promise<unknown>) => {
    if (JSON.stringify(params).includes(message.nonce.slice(2)))
      throw rpcError(-32603, 'internal error')
    return forward()
  }

test('a payment that the node fails on does not spoil the others', async () => {
  const bad = await pay()
  const node = fakeNode(chain, failingOn(bad))
  const payments = [claim(await pay()), claim(bad), claim(await pay())]
  const verdicts = await verifyPayments(node.client, { payments })
  expect(verdicts).toMatchObject([
    { ok: true },
    { ok: false, reason: 'notVerified', error: { name: 'NodeError' } },
    { ok: true },
  ])
})

test('a node that does not answer leaves each without a verdict, to be tried again', async () => {
  const node = fakeNode(chain, async () => {
    throw rpcError(-32005, 'limit exceeded')
  })
  const payments = [claim(await pay()), claim(await pay())]
  const verdicts = await verifyPayments(node.client, { payments })
  const without = {
    ok: false,
    reason: 'notVerified',
    error: { name: 'NodeError', retryable: true },
  }
  expect(verdicts).toMatchObject([without, without])
})

test('a node without overrides gives the same verdicts', async () => {
  const usesOverride = ({ method, params }: Asked) =>
    method === 'eth_call' && (params as unknown[]).length > 2
  const plain = fakeNode(chain, (asked, forward) =>
    usesOverride(asked)
      ? client.request({
          method: 'eth_call',
          params: (asked.params as unknown[]).slice(0, 2),
        } as never)
      : forward(),
  )
  const payer = await freshPayer()
  const payments = [
    claim(await pay({ payer, message: { value: 6n * unit } })),
    claim(await pay({ signer: stranger })),
    claim(await pay({ payer, message: { value: 5n * unit } })),
    claim(await pay({ payer, message: { value: 4n * unit } })),
    claim(await pay(), { amount: '3' }),
  ]
  const expected = [
    'ok',
    'wrongSigner',
    'insufficientFunds',
    'ok',
    'wrongAmount',
  ]
  expect(await reasonsOf(payments, plain.client)).toEqual(expected)
  expect(await reasonsOf(payments)).toEqual(expected)
})

test('a past block is judged as it was, and a list that is none is refused', async () => {
  const payer = await freshPayer(circle22, 0n)
  const payments = [claim(await pay({ payer }))]
  const block = await client.getBlockNumber()
  await circle22.mint(payer.address, unit)
  const past = await verifyPayments(client, { payments, block })
  expect(past).toMatchObject([{ ok: false, reason: 'insufficientFunds' }])
  expect(await reasonsOf(payments)).toEqual(['ok'])
  const none = { payments: payments[0] } as never
  await expect(verifyPayments(client, none)).rejects.toThrow(
    'payments must be a list',
  )
})
