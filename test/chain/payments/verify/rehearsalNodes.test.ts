import { capturePayment, type SignedPayment } from 'countersign'
import type { Address, Hex } from 'viem'
import { expect, test } from 'vitest'
import { rehearseCapture } from '../../../../src/payments/verify/rehearse.js'
import { rehearsePayments } from '../../../../src/payments/verify/rehearsePayments.js'
import { type Asked, fakeNode, rpcError } from '../../support/desk.js'
import {
  type Changes,
  chain,
  circle22,
  client,
  freshPayer,
  merchant,
  pay,
  payFromWallet,
  reasonsOf,
  relayer,
  stranger,
  unit,
} from '../../support/rehearsalDesk.js'

/** One after another: each payer is given tokens first. */
async function payMany(many: number, changes: Changes = {}) {
  const payments: SignedPayment[] = []
  for (let at = 0; at < many; at++) payments.push(await pay(changes))
  return payments
}

/** A client that remembers the gas of each `eth_call`. */
function gasCounting() {
  const gas: number[] = []
  const node = fakeNode(chain, ({ params }, forward) => {
    gas.push(Number((params as [{ gas: Hex }])[0].gas))
    return forward()
  })
  return { ...node, gas }
}

test('one payment takes one request, captured or refused', async () => {
  for (const changes of [{}, { signer: stranger }, { domain: { name: 'X' } }]) {
    const { client: by, methods } = gasCounting()
    const payment = await pay(changes)
    const { rehearsals, payerBalances } = await rehearsePayments(by, {
      payments: [payment],
      origin: merchant,
    })
    expect(methods()).toEqual(['eth_call'])
    expect(payerBalances).toEqual([10n * unit])
    expect(rehearsals).toEqual([
      await rehearseCapture(client, payment, { origin: merchant }),
    ])
  }
})

test('five hundred payments take two requests of less than 45 million gas', async () => {
  const payers = await Promise.all(
    Array.from({ length: 10 }, () => freshPayer(circle22, 0n)),
  )
  for (const { address } of payers) await circle22.mint(address, 49n * unit)
  const payments = await Promise.all(
    Array.from({ length: 500 }, (_, at) => pay({ payer: payers[at % 10] })),
  )
  const { client: by, gas } = gasCounting()
  const reasons = await reasonsOf(payments, {}, by)
  expect(gas).toHaveLength(2)
  expect(Math.max(...gas)).toBeLessThan(45_000_000)
  // Each payer's last, also that of the one who is in both requests.
  const last = Array(10).fill('insufficientFunds')
  expect(reasons).toEqual([...Array(490).fill('ok'), ...last])
})

test('the gas of each bounds what its capture takes, in whatever order', async () => {
  const to = relayer.account.address.toLowerCase() as Address
  const payments = await payMany(4, { message: { to } })
  const { rehearsals } = await rehearsePayments(client, {
    payments,
    origin: to,
  })
  const told = rehearsals.map(({ at }) => at.gasUsed ?? 0n)
  const used: bigint[] = []
  for (const payment of [...payments].reverse()) {
    const hash = await capturePayment(relayer, { payment, simulate: false })
    const receipt = await client.waitForTransactionReceipt({ hash })
    expect(receipt.status).toBe('success')
    used.unshift(receipt.gasUsed)
  }
  for (const [at, gas] of used.entries()) {
    expect(told[at]).toBeGreaterThanOrEqual(gas)
    expect(told[at]).toBeLessThan(gas + 70_000n)
  }
})

test('the gas allowed is that of each alone', async () => {
  const payments = [await pay(), await pay(), await pay()]
  const { at } = await rehearseCapture(client, payments[2] as SignedPayment, {
    origin: merchant,
  })
  const used = at.gasUsed ?? 0n
  const allow = (maxGas: bigint) => reasonsOf(payments, { maxGas })
  expect(await allow(used + 5_000n)).toEqual(['ok', 'ok', 'ok'])
  const tooHigh = ['gasTooHigh', 'gasTooHigh', 'gasTooHigh']
  expect(await allow(used - 10_000n)).toEqual(tooHigh)
  expect(await allow(1_000n)).toEqual(tooHigh)
})

const usesOverride = ({ method, params }: Asked) =>
  method === 'eth_call' && (params as unknown[]).length > 2

test('a node without overrides is asked about each by itself', async () => {
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
    await pay({ payer }),
    await pay({ signer: stranger }),
    await pay({ message: { value: 11n * unit } }),
    await payFromWallet('strictWallet'),
    await pay({ payer, message: { value: 10n * unit } }),
    await pay({ payer, message: { value: 9n * unit } }),
  ]
  const parameters = { payments, origin: merchant }
  const heard = await rehearsePayments(plain.client, parameters)
  expect(heard.head.via).toBe('calls')
  expect(heard.payerBalances).toEqual(Array(6).fill(10n * unit))
  expect(await reasonsOf(payments, {}, plain.client)).toEqual([
    'ok',
    'wrongSigner',
    'insufficientFunds',
    'ok',
    'insufficientFunds',
    'ok',
  ])
})

test('a node that grants less gas judges smaller parts together', async () => {
  const payer = await freshPayer(circle22, 29n * unit)
  const payments = [...(await payMany(10)), ...(await payMany(30, { payer }))]
  const seen: number[] = []
  const stingy = fakeNode(chain, ({ params }, forward) => {
    const [call] = params as [{ gas: Hex }]
    seen.push(Number(call.gas))
    return Number(call.gas) > 3_000_000
      ? Promise.reject(rpcError(-32000, 'gas limit is too high'))
      : forward()
  })
  const { rehearsals, payerBalances } = await rehearsePayments(stingy.client, {
    payments,
    origin: merchant,
  })
  expect(rehearsals.every(({ head }) => head.via === 'override')).toBe(true)
  expect(rehearsals.map(({ ok }) => ok)).toEqual([
    ...Array(39).fill(true),
    false,
  ])
  expect(payerBalances).toEqual([
    ...Array(10).fill(10n * unit),
    ...Array(30).fill(29n * unit),
  ])
  expect(seen.length).toBeLessThan(20)
})

test('a node that cuts gas off in silence is told by its cut-off answer', async () => {
  const payer = await freshPayer(circle22, 60n * unit)
  const payments = await payMany(60, { payer })
  const capped = fakeNode(chain, ({ method, params }) => {
    const [call, ...rest] = params as [{ gas: Hex }]
    const gas = Math.min(Number(call.gas), 2_500_000)
    const cut = [{ ...call, gas: `0x${gas.toString(16)}` }, ...rest]
    return client.request({ method, params: cut } as never)
  })
  const reasons = await reasonsOf(payments, {}, capped.client)
  expect(reasons).toEqual(Array(60).fill('ok'))
})

test('a fault of the node is no verdict', async () => {
  const faulty = fakeNode(chain, async () => {
    throw rpcError(-32005, 'rate limit')
  })
  const payments = [await pay(), await pay()]
  await expect(
    rehearsePayments(faulty.client, { payments, origin: merchant }),
  ).rejects.toMatchObject({ name: 'NodeError', retryable: true })
})
