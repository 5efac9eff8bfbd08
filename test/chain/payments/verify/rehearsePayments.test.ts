import { type SignedPayment, verifyPayment } from 'countersign'
import { type Address, concatHex, formatUnits, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getBlock, mine } from 'viem/actions'
import { expect, test } from 'vitest'
import { rehearsePayments } from '../../../../src/payments/verify/rehearsePayments.js'
import { fakeNode } from '../../support/desk.js'
import type { Family } from '../../support/families.js'
import { allKinds } from '../../support/paymentKinds.js'
import {
  chain,
  circle21,
  circle22,
  client,
  freshPayer,
  merchant,
  openZeppelin,
  paxos,
  pay,
  payFromWallet,
  reasonsOf,
  stranger,
  unit,
  usdc,
} from '../../support/rehearsalDesk.js'
import { account } from '../../support/signing.js'

/** What `verifyPayment` says of each alone, with the token's words. */
function verdictsOf(
  payments: readonly SignedPayment[],
  { decimals }: Family,
): Promise<object[]> {
  return Promise.all(
    payments.map(async (payment) => {
      const { domain, message, primaryType } = payment
      const token = domain.verifyingContract
      const verdict = await verifyPayment(client, {
        payment,
        expect: {
          token,
          to: message.to,
          primaryType,
          amount: formatUnits(message.value, decimals),
        },
      })
      if (verdict.ok) return { reason: 'ok' }
      return { reason: verdict.reason, words: verdict.details.words }
    }),
  )
}

async function expectParity(
  payments: readonly SignedPayment[],
  family = circle22,
) {
  const { rehearsals } = await rehearsePayments(client, {
    payments,
    origin: merchant,
  })
  const told = rehearsals.map((one) =>
    one.ok ? { reason: 'ok' } : { reason: one.reason, words: one.words },
  )
  expect(told).toEqual(await verdictsOf(payments, family))
  return told.map(({ reason }) => reason)
}

test('many together are judged as each is alone', async () => {
  const reasons = await expectParity(await allKinds(circle22))
  expect(reasons).toEqual([
    'ok',
    'expired',
    'notYetValid',
    'consumed',
    'insufficientFunds',
    'insufficientFunds',
    'wrongSigner',
    'wrongDomain',
    'wrongChain',
    'walletNotDeployed',
    'ok',
    'ok',
    'walletRejects',
    'ok',
    'gasTooHigh',
    'walletRejects',
    'ok',
    'payerBlocked',
    'notYetValid',
    'ok',
  ])
})

test.each([
  ['Circle itself', usdc],
  ['Circle 2.1', circle21],
  ['Paxos', paxos],
  ['OpenZeppelin', openZeppelin],
])('and so they are by the token of %s', async (_, family) => {
  const reasons = await expectParity(await allKinds(family), family)
  expect(reasons).toContain('ok')
})

test('a paused token and a blocked recipient are told for each', async () => {
  const payments = [await pay(), await pay(), await pay({ signer: stranger })]
  await circle22.pause?.(true)
  const paused = await expectParity(payments)
  await circle22.pause?.(false)
  await circle22.block?.(merchant, true)
  const blocked = await expectParity(payments)
  await circle22.block?.(merchant, false)
  expect([paused, blocked]).toEqual([
    ['paused', 'paused', 'paused'],
    ['recipientBlocked', 'recipientBlocked', 'recipientBlocked'],
  ])
})

test('payments that together exceed what the payer has are not all fine', async () => {
  const payer = await freshPayer()
  const of = (value: bigint) => pay({ payer, message: { value } })
  const payments = [
    await of(6n * unit),
    await pay(),
    await of(5n * unit),
    await of(4n * unit),
    await of(1n),
  ]
  expect(await reasonsOf(payments)).toEqual([
    'ok',
    'ok',
    'insufficientFunds',
    'ok',
    'insufficientFunds',
  ])
})

test('one nonce is captured once', async () => {
  const payment = await pay()
  expect(await reasonsOf([payment, payment])).toEqual(['ok', 'consumed'])
})

test('balances are those before any of them', async () => {
  const [payer, poor] = [await freshPayer(), await freshPayer(circle22, 0n)]
  const payments = [
    await pay({ payer }),
    await pay({ payer: poor }),
    await pay({ payer }),
  ]
  const { payerBalances, head } = await rehearsePayments(client, {
    payments,
    origin: merchant,
  })
  expect(payerBalances).toEqual([10n * unit, 0n, 10n * unit])
  const { number, timestamp } = await getBlock(client)
  expect(head).toEqual({ number, timestamp, chainId: 31337, via: 'override' })
})

test('Transfer payments may go to several recipients', async () => {
  const primaryType = 'TransferWithAuthorization'
  const payer = await freshPayer()
  const middle = await freshPayer(circle22, 0n)
  const of = (payer: PrivateKeyAccount, to: Address, value: bigint) =>
    pay({
      payer,
      primaryType,
      message: { to: to.toLowerCase() as Address, value },
    })
  const payments = [
    await of(payer, middle.address, 6n * unit),
    await of(payer, merchant, 2n * unit),
    await of(middle, merchant, 5n * unit),
    await of(middle, payer.address, 2n * unit),
    await of(middle, stranger.address, 1n * unit),
  ]
  expect(await reasonsOf(payments)).toEqual([
    'ok',
    'ok',
    'ok',
    'insufficientFunds',
    'ok',
  ])
})

test('payments of more than one kind are refused', async () => {
  const payments = [
    await pay(),
    await pay({ message: { to: stranger.address } }),
  ]
  const mixed = [await pay(), await pay({ family: paxos })]
  const types = [
    await pay(),
    await pay({ primaryType: 'TransferWithAuthorization' }),
  ]
  for (const given of [payments, mixed, types, []])
    await expect(reasonsOf(given)).rejects.toMatchObject({
      name: 'InvalidFieldError',
    })
})

/**
 * A token that moves one unit whatever it is asked, and knows nothing but
 * `balanceOf` and `receiveWithAuthorization`.
 */
const oddToken: Hex =
  '0x5f3560e01c8063ef55bec614601c57806370a08231146025575f5ffd5b60015f54015f55005b5f545f5260205ff3'

test('each must move its exact value', async () => {
  const address = account('odd batch').address.toLowerCase() as Address
  await chain.clients.test.setCode({ address, bytecode: oddToken })
  const domain = { verifyingContract: address }
  const payments = [
    await pay({ domain, message: { value: 1n } }),
    await pay({ domain, message: { value: 2n } }),
    await pay({ domain, message: { value: 1n } }),
  ]
  expect(await reasonsOf(payments)).toEqual(['ok', 'simulationFailed', 'ok'])
})

test('no signature is in what is told', async () => {
  const payments = [await pay({ signer: stranger }), await pay()]
  const heard = await rehearsePayments(client, { payments, origin: merchant })
  const text = JSON.stringify(heard, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  for (const { signature } of payments)
    expect(text).not.toContain(signature.slice(2, 40))
})

test('a past block is judged as it was', async () => {
  const payer = await freshPayer(circle22, 0n)
  const payments = [await pay({ payer }), await pay({ payer })]
  const { number: block } = await getBlock(client)
  await mine(chain.clients.test, { blocks: 1 })
  await circle22.mint(payer.address, unit)
  expect(await reasonsOf(payments, { block })).toEqual([
    'insufficientFunds',
    'insufficientFunds',
  ])
  expect(await reasonsOf(payments)).toEqual(['ok', 'insufficientFunds'])
})

test('a wallet that burns its gas does not harm the others', async () => {
  const lying = [
    await payFromWallet('lyingWallet'),
    await payFromWallet('lyingWallet'),
    await payFromWallet('lyingWallet'),
  ]
  const long = await payFromWallet('permissiveWallet')
  const payments = [
    ...lying,
    await pay(),
    {
      ...long,
      signature: concatHex([long.signature, `0x${'ab'.repeat(7000)}`]),
    },
    await pay(),
  ]
  expect(await reasonsOf(payments)).toEqual([
    'gasTooHigh',
    'gasTooHigh',
    'gasTooHigh',
    'ok',
    'gasTooHigh',
    'ok',
  ])
})

test('the balance of a payment that is judged again is from the block of its verdict', async () => {
  // A wallet that refuses needs a rehearsal alone, one block later.
  const wallet = await payFromWallet('strictWallet', { signer: stranger })
  const { from } = wallet.message
  let calls = 0
  const { client: late } = fakeNode(chain, async ({ method }, forward) => {
    if (method === 'eth_call' && ++calls === 2) await circle22.mint(from, unit)
    return forward()
  })
  const payments = [await pay(), wallet]
  const { payerBalances } = await rehearsePayments(late, { payments })
  expect(calls).toBe(2)
  expect(payerBalances).toEqual([10n * unit, 11n * unit])
})
