import {
  capturePayment,
  capturePaymentSync,
  getPaymentOutcome,
  signPayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import {
  getPermitState,
  permitCheckout,
  preparePermitPayment,
  type SignedPermitPayment,
  signPermitCancellation,
} from 'countersign/checkout'
import { encodeFunctionData } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import {
  balanceOf,
  chain,
  client,
  merchant,
  newAddress,
  send,
  usdc,
} from '../support/checkoutDesk.js'
import {
  deployToken,
  permitPayer,
  recipient,
  signedPermit,
  token,
  tokenAbi,
} from '../support/permitDesk.js'

const expected = { token, to: recipient, atMost: '50.00' }
const kind = permitCheckout

async function pay(payer: PrivateKeyAccount): Promise<SignedPermitPayment> {
  const payment = await preparePermitPayment(client, {
    token,
    from: payer.address,
    to: recipient,
    atMost: '50.00',
  })
  return signPayment(
    { account: payer, request: client.request },
    { payment, kind, expect: { ...expected, chainId: 31337 } },
  )
}

test('a permit is signed, verified, captured for less, and proven with the amount', async () => {
  const payer = await permitPayer()
  const payment = await pay(payer)
  const verdict = await verifyPayment(client, {
    payment,
    kind,
    expect: expected,
  })
  expect(verdict).toMatchObject({ ok: true })
  expect(await getPermitState(client, { payment })).toBe('open')
  const hash = await capturePayment(merchant, {
    payment,
    kind,
    amount: '42.10',
  })
  const outcome = await waitForOutcome(client, { payment, kind, hash })
  expect(outcome).toMatchObject({
    status: 'captured',
    proof: { amount: 42_100_000n, transactionHash: hash },
  })
  // And without a known transaction.
  expect(await getPaymentOutcome(client, { payment, kind })).toEqual(outcome)
  expect(await getPermitState(client, { payment })).toBe('captured')
  expect(await balanceOf(payer.address, token)).toBe(57_900_000n)
})

test('a wait for a capture that reverted tells why', async () => {
  const payer = await permitPayer()
  const payment = await pay(payer)
  const value = await balanceOf(payer.address, token)
  const args = [newAddress(), value] as const
  const data = encodeFunctionData({
    abi: tokenAbi,
    functionName: 'transfer',
    args,
  })
  await send(payer.address, { to: token, data })
  const hash = await capturePayment(merchant, {
    payment,
    kind,
    amount: '1',
    simulate: false,
  })
  await expect(
    waitForOutcome(client, { payment, kind, hash }),
  ).rejects.toMatchObject({
    name: 'CaptureRevertedError',
    details: { transactionHash: hash },
  })
})

test('two permits of a payer, one after the other, are proven each', async () => {
  const payer = await permitPayer()
  for (const amount of ['10', '20']) {
    const payment = await pay(payer)
    const outcome = await capturePaymentSync(merchant, {
      payment,
      kind,
      amount,
    })
    expect(outcome).toMatchObject({
      proof: { amount: BigInt(amount) * 1_000_000n },
    })
  }
})

test('a second capture is rejected before it is sent', async () => {
  const payment = await pay(await permitPayer())
  await capturePayment(merchant, { payment, kind, amount: '1' })
  await expect(
    capturePayment(merchant, { payment, kind, amount: '1' }),
  ).rejects.toMatchObject({ reason: 'consumed' })
})

test('a canceled permit allows nothing, and cannot be captured', async () => {
  const payer = await permitPayer()
  const payment = await pay(payer)
  const call = await signPermitCancellation(
    { account: payer, request: client.request },
    { payment },
  )
  await send(newAddress(), call)
  expect(await getPermitState(client, { payment })).toBe('canceled')
  await expect(
    capturePayment(merchant, { payment, kind, amount: '1' }),
  ).rejects.toMatchObject({ name: 'CaptureRejectedError' })
  expect(await getPaymentOutcome(client, { payment, kind })).toMatchObject({
    status: 'unknown',
  })
})

test('an expired permit is refused, and said to be expired', async () => {
  const payment = await pay(await permitPayer())
  await chain.warp(1000)
  expect(await getPermitState(client, { payment })).toBe('expired')
  const verdict = await verifyPayment(client, {
    payment,
    kind,
    expect: expected,
  })
  expect(verdict).toMatchObject({ reason: 'expired' })
})

test('a permit whose checkout contract is not deployed is refused by name', async () => {
  const to = newAddress()
  const payment = await signedPermit(await permitPayer(), { to })
  const verdict = await verifyPayment(client, {
    payment,
    kind,
    expect: { ...expected, to },
  })
  expect(verdict).toMatchObject({ reason: 'checkoutNotDeployed' })
})

test('a token with the permit of DAI is refused by name', async () => {
  const prepared = preparePermitPayment(client, {
    token: await deployToken('DaiLike'),
    from: newAddress(),
    to: recipient,
    atMost: '1',
  })
  await expect(prepared).rejects.toThrow(/the permit of DAI/)
})

test('USDC can be paid by permit too', async () => {
  const payer = await permitPayer()
  await chain.mint({ to: payer.address, value: 50_000_000n })
  const payment = await preparePermitPayment(client, {
    token: usdc,
    from: payer.address,
    to: recipient,
    atMost: '50.00',
  })
  const signed = await signPayment(
    { account: payer, request: client.request },
    { payment, kind, expect: { ...expected, token: usdc, chainId: 31337 } },
  )
  const outcome = await capturePaymentSync(merchant, {
    payment: signed,
    kind,
    amount: '4.20',
  })
  expect(outcome).toMatchObject({ proof: { amount: 4_200_000n } })
})

test('a signature of another account is refused', async () => {
  const [payer, other] = [await permitPayer(), await permitPayer()]
  const payment = await pay(payer)
  const { signature } = await pay(other)
  const verdict = await verifyPayment(client, {
    payment: { ...payment, signature },
    kind,
    expect: expected,
  })
  expect(verdict).toMatchObject({ reason: 'wrongSigner' })
})
