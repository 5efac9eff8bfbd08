import {
  buildCancellation,
  cancelPayment,
  capturePayment,
  capturePaymentSync,
  getPaymentOutcome,
  signCancellation,
  signPayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import {
  checkout,
  checkoutAddress,
  decodeCheckoutPayment,
  encodeCheckoutPayment,
  prepareCheckoutPayment,
  type SignedCheckoutPayment,
} from 'countersign/checkout'
import { deployDevContract, devContracts } from 'countersign/devchain'
import type { Address } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { setCode } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  balanceOf,
  chain,
  client,
  fundedPayer,
  merchant,
  newAddress,
  node,
  signedCheckout,
  usdc,
} from '../support/checkoutDesk.js'
import { sign } from '../support/signing.js'

const to = merchant.account.address
const token = usdc
const expect50 = { token, to, atMost: '50.00' }

/** A payment of at most 50 to the merchant, as a page signs it. */
async function pay(payer: PrivateKeyAccount): Promise<SignedCheckoutPayment> {
  const draft = await prepareCheckoutPayment(client, {
    token,
    from: payer.address,
    to,
    atMost: '50.00',
  })
  const payment = decodeCheckoutPayment(encodeCheckoutPayment(draft))
  const signed = await signPayment(
    { account: payer, request: client.request },
    { payment, kind: checkout, expect: { ...expect50, chainId: 31337 } },
  )
  return { ...payment, ...signed }
}

const verify = (payment: SignedCheckoutPayment, changes: object = {}) =>
  verifyPayment(client, {
    payment,
    kind: checkout,
    expect: { ...expect50, ...changes },
  })

test('a ceiling is signed, verified, captured for less, and proven with the amount', async () => {
  const payer = await fundedPayer()
  const payment = await pay(payer)
  expect(await verify(payment)).toMatchObject({ ok: true })
  const before = await balanceOf(to)
  const hash = await capturePayment(merchant, {
    payment,
    kind: checkout,
    amount: '42.10',
  })
  const outcome = await waitForOutcome(client, {
    payment,
    kind: checkout,
    hash,
  })
  expect(outcome).toMatchObject({
    status: 'captured',
    proof: { amount: 42_100_000n, transactionHash: hash },
  })
  expect((await balanceOf(to)) - before).toBe(42_100_000n)
  expect(await balanceOf(payer.address)).toBe(57_900_000n)
  expect(await verify(payment)).toMatchObject({ ok: false, reason: 'consumed' })
})

test('the outcome is found without a hash, and with one request that waits', async () => {
  const payment = await pay(await fundedPayer())
  const outcome = await capturePaymentSync(merchant, {
    payment,
    kind: checkout,
    amount: '50.00',
  })
  expect(outcome).toMatchObject({ proof: { amount: 50_000_000n } })
  expect(
    await getPaymentOutcome(client, { payment, kind: checkout }),
  ).toMatchObject({ status: 'captured', proof: { amount: 50_000_000n } })
})

test('a second capture is rejected before it is sent', async () => {
  const payment = await pay(await fundedPayer())
  const capture = { payment, kind: checkout, amount: '1' }
  await capturePayment(merchant, capture)
  await expect(capturePayment(merchant, capture)).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'consumed',
  })
})

test('a canceled checkout payment cannot be captured', async () => {
  const payer = await fundedPayer()
  const payment = await pay(payer)
  const cancellation = await signCancellation(
    { account: payer, request: client.request },
    {
      cancellation: buildCancellation({ payment, kind: checkout }),
      expect: { chainId: 31337, token },
    },
  )
  const hash = await cancelPayment(chain.clients.relayer, { cancellation })
  const outcome = await waitForOutcome(client, {
    payment,
    kind: checkout,
    hash,
  })
  expect(outcome).toMatchObject({ status: 'canceled', transactionHash: hash })
  expect(await verify(payment)).toMatchObject({ ok: false, reason: 'consumed' })
})

test('amounts above the ceiling, or none, are refused before anything is sent', async () => {
  const payment = await pay(await fundedPayer())
  const capture = (amount?: string, decimals?: number) =>
    capturePayment(merchant, { payment, kind: checkout, amount, decimals })
  await expect(capture('50.01')).rejects.toMatchObject({
    reason: 'wrongAmount',
  })
  await expect(capture()).rejects.toThrow(/Amount must be/)
  await expect(capture('0')).rejects.toThrow(/Amount must be/)
  await expect(capture('40', 4)).rejects.toThrow(/decimals must be 6/)
})

test('an exact payment takes no amount at capture', async () => {
  const payment = await pay(await fundedPayer())
  const { checkout: _, ...exact } = payment
  await expect(
    capturePayment(merchant, { payment: exact, amount: '1' }),
  ).rejects.toThrow(/amount/)
})

test.each([
  ['another ceiling', { atMost: '49.99' }, 'wrongAmount'],
  ['another recipient', { to: newAddress() }, 'wrongRecipient'],
  ['another operator', { operator: newAddress() }, 'wrongOperator'],
  ['another payer', { from: newAddress() }, 'wrongPayer'],
  ['another token', { token: newAddress() }, 'wrongToken'],
  ['another chain', { chainId: 1 }, 'wrongChain'],
])('a payment with %s than expected is refused', async (_, changes, reason) => {
  const payment = await pay(await fundedPayer())
  expect(await verify(payment, changes)).toMatchObject({ ok: false, reason })
})

test('a payment whose operator is not the expected recipient is refused', async () => {
  const payer = await fundedPayer()
  const payment = await signedCheckout(payer, { to, operator: newAddress() })
  expect(await verify(payment)).toMatchObject({ reason: 'wrongOperator' })
  await expect(
    signPayment(
      { account: payer, request: client.request },
      { payment, kind: checkout, expect: { ...expect50, chainId: 31337 } },
    ),
  ).rejects.toThrow(/operator must be/)
})

test('another account than the operator is rejected before it is sent', async () => {
  const payment = await signedCheckout(await fundedPayer(), {
    to,
    operator: newAddress(),
  })
  await expect(
    capturePayment(merchant, { payment, kind: checkout, amount: '1' }),
  ).rejects.toMatchObject({ reason: 'wrongSubmitter' })
})

test('a signature of another account is refused by the token', async () => {
  const payment = await pay(await fundedPayer())
  const signature = await sign(await fundedPayer(), payment)
  expect(await verify({ ...payment, signature })).toMatchObject({
    reason: 'wrongSigner',
  })
})

test('a payer with less than the ceiling is refused', async () => {
  const payment = await pay(await fundedPayer(49_000_000n))
  expect(await verify(payment)).toMatchObject({ reason: 'insufficientFunds' })
})

test('a payer with a contract wallet pays, by the bytes overload', async () => {
  const owner = await fundedPayer()
  const wallet = await deployDevContract(chain, {
    contract: devContracts.permissiveWallet,
  })
  await chain.mint({ to: wallet, value: 100_000_000n })
  const draft = await signedCheckout(owner, { from: wallet, to })
  const payment = { ...draft, signature: `0x${'12'.repeat(96)}` as const }
  expect(await verify(payment)).toMatchObject({ ok: true })
  const outcome = await capturePaymentSync(merchant, {
    payment,
    kind: checkout,
    amount: '3',
  })
  expect(outcome).toMatchObject({ proof: { amount: 3_000_000n } })
  expect(await balanceOf(wallet)).toBe(97_000_000n)
})

test('a chain without the contract is refused by name, with overrides and without', async () => {
  const payment = await pay(await fundedPayer())
  const code = await client.getCode({ address: checkoutAddress })
  await setCode(node, { address: checkoutAddress, bytecode: '0x' })
  try {
    expect(await verify(payment)).toMatchObject({
      reason: 'checkoutNotDeployed',
    })
    expect(await verifyPlain(payment)).toMatchObject({
      reason: 'checkoutNotDeployed',
    })
  } finally {
    await setCode(node, { address: checkoutAddress, bytecode: code ?? '0x' })
  }
  expect(await verifyPlain(payment)).toMatchObject({ ok: true })
})

/** Verifies at a node that refuses state overrides. */
function verifyPlain(payment: SignedCheckoutPayment) {
  const plain = {
    ...client,
    request: (({ method, params }: { method: string; params: unknown[] }) => {
      if (method === 'eth_call' && params.length > 2)
        throw Object.assign(new Error('too many arguments'), { code: -32602 })
      return client.request({ method, params } as never)
    }) as typeof client.request,
  }
  return verifyPayment(plain, { payment, kind: checkout, expect: expect50 })
}

test('a signature never reaches an error of a capture', async () => {
  const payment = await pay(await fundedPayer())
  const changed = { ...payment.checkout, operator: newAddress() }
  const errors = [
    await failure({ ...payment, checkout: changed }),
    await failure({
      ...payment,
      signature: `${payment.signature}zz` as Address,
    }),
  ]
  for (const text of errors)
    expect(text).not.toContain(payment.signature.slice(2, 40))
})

async function failure(payment: SignedCheckoutPayment): Promise<string> {
  try {
    await capturePayment(merchant, { payment, kind: checkout, amount: '1' })
    throw new Error('It was captured.')
  } catch (error) {
    return `${String(error)} ${JSON.stringify(error)}`
  }
}
