import {
  buildCancellation,
  buildPayment,
  cancelPayment,
  captureCall,
  capturePayment,
  getPaymentOutcome,
  type SignedPayment,
} from 'countersign'
import {
  batchCall,
  delegateSubmitter,
  multicallCall,
  proveBatch,
} from 'countersign/batches'
import { deployDevContract } from 'countersign/devchain'
import type { Address, Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  estimateGas,
  sendTransaction,
  setCode,
  waitForTransactionReceipt,
} from 'viem/actions'
import { expect, test } from 'vitest'
import {
  captureTogether,
  chain,
  draft,
  node,
  openAccount,
  paymentsTo,
  payTo,
  reader,
  relayer,
  walletOf,
} from '../support/batchDesk.js'
import { sign } from '../support/signing.js'

const delegates = ['metamask', 'calibur'] as const

async function openDelegated(
  delegate: (typeof delegates)[number],
): Promise<PrivateKeyAccount> {
  const account = await openAccount()
  await delegateSubmitter(walletOf(account), { delegate })
  // The first transfer to an account costs more gas than later ones.
  await chain.mint({ to: account.address, value: 1n })
  return account
}

/** Of the right form, so that the token asks the payer's code about it. */
const anySignature: Hex = `0x${'11'.repeat(64)}1b`

const statusesOf = (outcomes: readonly { status: string }[]): string[] =>
  outcomes.map(({ status }) => status)

/** A signed payment whose payer has moved its money, and one that it canceled. */
async function spoiledPayments(to: Address): Promise<SignedPayment[]> {
  const { payer, payment } = await payTo(to)
  const cancellation = buildCancellation({ payment })
  const signature = await sign(payer, cancellation)
  const hash = await cancelPayment(relayer, {
    cancellation: { ...cancellation, signature },
  })
  await waitForTransactionReceipt(reader, { hash })
  const empty = await openAccount()
  const unfunded = draft(empty.address, to)
  return [payment, { ...unfunded, signature: await sign(empty, unfunded) }]
}

test.each(delegates)(
  '%s: of ten payments, one canceled and one of an empty payer, eight are captured',
  async (delegate) => {
    const account = await openDelegated(delegate)
    const [canceled, empty] = await spoiledPayments(account.address)
    if (!canceled || !empty) throw new Error('no payments')
    const good = await paymentsTo(account.address, 8)
    const payments = [
      ...good.slice(0, 3),
      canceled,
      ...good.slice(3, 5),
      empty,
      ...good.slice(5),
    ]
    const receipt = await captureTogether(account, payments)
    const { address } = account
    const outcomes = proveBatch(receipt, { payments, account: address })
    expect(statusesOf(outcomes)).toEqual(
      payments.map((payment) =>
        payment === canceled || payment === empty ? 'failed' : 'captured',
      ),
    )
    const words = outcomes.flatMap((one) =>
      one.status === 'failed' ? [one.words] : [],
    )
    expect(words).toEqual(
      delegate === 'metamask'
        ? [
            'FiatTokenV2: authorization is used or canceled',
            'ERC20: transfer amount exceeds balance',
          ]
        : [undefined, undefined],
    )
    for (const [index, payment] of payments.entries()) {
      const outcome = outcomes[index]
      if (outcome?.status !== 'captured') continue
      expect(await getPaymentOutcome(reader, { payment })).toEqual(outcome)
    }
  },
)

test.each(delegates)(
  '%s: a capture in a batch takes two fifths less gas than alone',
  async (delegate) => {
    const account = await openDelegated(delegate)
    const plain = await openAccount()
    await chain.mint({ to: plain.address, value: 1n })
    const [alone] = await paymentsTo(plain.address, 1)
    if (!alone) throw new Error('no payment')
    const hash = await capturePayment(walletOf(plain), { payment: alone })
    const single = await waitForTransactionReceipt(reader, { hash })
    const gas = [Number(single.gasUsed)]
    for (const count of [10, 50]) {
      const payments = await paymentsTo(account.address, count)
      const receipt = await captureTogether(account, payments)
      const outcomes = proveBatch(receipt, { payments })
      expect(new Set(statusesOf(outcomes))).toEqual(new Set(['captured']))
      gas.push(Math.ceil(Number(receipt.gasUsed) / count))
    }
    const figures = `gas a capture: ${gas.join(', ')}`
    const [first = 0, ten = 0, fifty = 0] = gas
    expect(ten / first, figures).toBeLessThan(0.64)
    expect(fifty / first, figures).toBeLessThan(0.6)
    expect(fifty / first, figures).toBeGreaterThan(0.5)
  },
)

test.each(delegates)(
  '%s: who burns all gas takes those before it along, and nobody if it is the last',
  async (delegate) => {
    const account = await openDelegated(delegate)
    const to = account.address
    const { address: burning } = await openAccount()
    // The token asks the payer's code, which takes all the gas it is given.
    await setCode(node, { address: burning, bytecode: '0xfe' })
    await chain.mint({ to: burning, value: 3_000_000n })
    const captured: number[] = []
    for (const place of [0, 4, 9]) {
      const burner = { ...draft(burning, to), signature: anySignature }
      const payments = await paymentsTo(to, 9)
      payments.splice(place, 0, burner)
      const receipt = await captureTogether(account, payments, 1_200_000n)
      const outcomes = proveBatch(receipt, { payments, account: to })
      const good = outcomes.filter(({ status }) => status === 'captured')
      captured.push(good.length)
      expect(outcomes[place]?.status).toBe('failed')
      expect(receipt.status).toBe(place === 9 ? 'success' : 'reverted')
    }
    expect(captured).toEqual([0, 0, 9])
  },
)

test.each(delegates)('%s: a stranger can run no batch', async (delegate) => {
  const account = await openDelegated(delegate)
  const { payment } = await payTo(account.address)
  const call = batchCall({
    account: account.address,
    calls: [captureCall({ payment })],
  })
  const hash = await sendTransaction(relayer, call)
  const receipt = await waitForTransactionReceipt(reader, { hash })
  expect(receipt.status).toBe('reverted')
  expect(await getPaymentOutcome(reader, { payment })).toEqual({
    status: 'unused',
  })
})

test.each(delegates)(
  '%s: the key of a delegated account still signs payments, such as refunds',
  async (delegate) => {
    const account = await openDelegated(delegate)
    await chain.mint({ to: account.address, value: 1_000_000n })
    const refund = draft(
      account.address,
      relayer.account.address,
      'TransferWithAuthorization',
    )
    const signature = await sign(account, refund)
    const hash = await capturePayment(relayer, {
      payment: { ...refund, signature },
    })
    const receipt = await waitForTransactionReceipt(reader, { hash })
    expect(statusesOf(proveBatch(receipt, { payments: [refund] }))).toEqual([
      'captured',
    ])
  },
)

test('a nonce that a payer spent on another payment is consumed, not captured', async () => {
  const account = await openDelegated('calibur')
  const { payer, payment } = await payTo(account.address)
  const other = buildPayment({
    domain: payment.domain,
    from: payer.address,
    to: account.address,
    amount: '0.000001',
    nonce: payment.message.nonce,
  })
  const spent = { ...other, signature: await sign(payer, other) }
  const receipt = await captureTogether(account, [spent, payment])
  const outcomes = proveBatch(receipt, { payments: [payment, spent] })
  expect(statusesOf(outcomes)).toEqual(['consumed', 'captured'])
})

test("a node's estimate is too low for a batch that may fail in part", async () => {
  const account = await openDelegated('calibur')
  const payments = await paymentsTo(account.address, 10)
  const calls = payments.map((payment) => captureCall({ payment }))
  const { gas, ...call } = batchCall({ account: account.address, calls })
  const estimated = await estimateGas(reader, { ...call, account })
  expect(estimated).toBeLessThan(gas)
  const receipt = await captureTogether(account, payments, estimated)
  expect(receipt.status).toBe('success')
  expect(statusesOf(proveBatch(receipt, { payments }))).toContain('failed')
})

test('Transfer payments to several recipients batch through Multicall3, without a delegation', async () => {
  const { payer, payment: canceled } = await payTo(
    relayer.account.address,
    'TransferWithAuthorization',
  )
  const cancellation = buildCancellation({ payment: canceled })
  const signature = await sign(payer, cancellation)
  const payments: SignedPayment[] = [canceled]
  for (let count = 0; count < 3; count++) {
    const { address } = await openAccount()
    const { payment } = await payTo(address, 'TransferWithAuthorization')
    payments.push(payment)
  }
  const sent = await cancelPayment(relayer, {
    cancellation: { ...cancellation, signature },
  })
  await waitForTransactionReceipt(reader, { hash: sent })
  const calls = payments.map((payment) => captureCall({ payment }))
  const hash = await sendTransaction(relayer, multicallCall({ calls }))
  const receipt = await waitForTransactionReceipt(reader, { hash })
  expect(statusesOf(proveBatch(receipt, { payments }))).toEqual([
    'failed',
    'captured',
    'captured',
    'captured',
  ])
})

/** viem does not export this file, which has the code of Multicall3. */
const viemConstants: string = new URL(
  '../../../node_modules/viem/_esm/constants/contracts.js',
  import.meta.url,
).href

test('the Multicall3 that viem deploys takes the same calls', async () => {
  const { multicall3Bytecode } = await import(viemConstants)
  const { address } = await openAccount()
  const payments = await paymentsTo(address, 2, 'TransferWithAuthorization')
  const calls = payments.map((payment) => captureCall({ payment }))
  const call = multicallCall({ calls })
  const { to } = call
  const standIn = await reader.getCode({ address: to })
  const real = await deployDevContract(chain, {
    contract: { abi: [], bytecode: multicall3Bytecode },
  })
  const code = await reader.getCode({ address: real })
  await setCode(node, { address: to, bytecode: code ?? '0x' })
  const hash = await sendTransaction(relayer, call)
  const receipt = await waitForTransactionReceipt(reader, { hash })
  await setCode(node, { address: to, bytecode: standIn ?? '0x' })
  expect(statusesOf(proveBatch(receipt, { payments }))).toEqual([
    'captured',
    'captured',
  ])
})
