import {
  capturePayment,
  type Payment,
  type SignedPayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import {
  deployDevContract,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import {
  type Address,
  concatHex,
  formatUnits,
  type Hex,
  keccak256,
  serializeErc6492Signature,
  stringToHex,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getBlock, mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { rehearseCapture } from '../../../../src/payments/verify/rehearse.js'
import {
  type RehearsePaymentsParameters,
  rehearsePayments,
} from '../../../../src/payments/verify/rehearsePayments.js'
import { type Asked, fakeNode, rpcError } from '../../support/desk.js'
import {
  delegate,
  deployFamilies,
  type Family,
} from '../../support/families.js'
import { account, sign } from '../../support/signing.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client, merchant: wallet, relayer } = chain.clients
const merchant = wallet.account.address.toLowerCase() as Address
const origin = merchant
const { usdc, circle22, circle21, paxos, openZeppelin } =
  await deployFamilies(chain)
const unit = 1_000_000n
const stranger = account('stranger')

let count = 0

async function freshPayer(
  family: Family = circle22,
  value = 10n * unit,
): Promise<PrivateKeyAccount> {
  const payer = account(`batch payer ${count++}`)
  if (value) await family.mint(payer.address, value)
  return payer
}

type Changes = {
  family?: Family
  payer?: PrivateKeyAccount | undefined
  signer?: PrivateKeyAccount
  primaryType?: Payment['primaryType']
  message?: Partial<Payment['message']>
  domain?: Partial<Payment['domain']>
}

/** A payment of one dollar that can be captured, but for the changes. */
async function pay(changes: Changes = {}): Promise<SignedPayment> {
  const { family = circle22 } = changes
  const payer = changes.payer ?? (await freshPayer(family))
  const { timestamp } = await getBlock(client)
  const payment: Payment = {
    primaryType: changes.primaryType ?? 'ReceiveWithAuthorization',
    domain: { ...family.domain, ...changes.domain },
    message: {
      from: payer.address.toLowerCase() as Address,
      to: merchant,
      value: unit,
      validAfter: timestamp - 60n,
      validBefore: timestamp + 900n,
      nonce: keccak256(stringToHex(`batch ${count++}`)),
      ...changes.message,
    },
  }
  return { ...payment, signature: await sign(changes.signer ?? payer, payment) }
}

/** One after another: each payer is given tokens first. */
async function payMany(many: number, changes: Changes = {}) {
  const payments: SignedPayment[] = []
  for (let at = 0; at < many; at++) payments.push(await pay(changes))
  return payments
}

/** A payment of a contract wallet that its owner signs. */
async function payFromWallet(
  name: 'strictWallet' | 'permissiveWallet' | 'lyingWallet',
  changes: Changes = {},
): Promise<SignedPayment> {
  const { family = circle22, signer = account('owner') } = changes
  const args = name === 'permissiveWallet' ? [] : [account('owner').address]
  const contract = devContracts[name]
  const deployed = await deployDevContract(chain, { contract, args })
  const from = deployed.toLowerCase() as Address
  await family.mint(from, 10n * unit)
  return pay({ family, payer: signer, message: { from, ...changes.message } })
}

async function payDelegated(
  contract: { deployedBytecode: Hex },
  family = circle22,
): Promise<SignedPayment> {
  const payer = await freshPayer(family)
  await delegate(chain, payer.address, contract)
  return pay({ family, payer })
}

const wrap = (payment: SignedPayment): SignedPayment => ({
  ...payment,
  signature: serializeErc6492Signature({
    address: merchant,
    data: '0x01',
    signature: payment.signature,
  }),
})

async function capture(payment: SignedPayment): Promise<SignedPayment> {
  const hash = await capturePayment(wallet, { payment })
  await waitForOutcome(client, { payment, hash })
  return payment
}

async function reasonsOf(
  payments: readonly SignedPayment[],
  options: Partial<RehearsePaymentsParameters> = {},
  by = client as Parameters<typeof rehearsePayments>[0],
): Promise<string[]> {
  const { rehearsals } = await rehearsePayments(by, {
    payments,
    origin,
    ...options,
  })
  return rehearsals.map((one) => (one.ok ? 'ok' : one.reason))
}

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
  const { rehearsals } = await rehearsePayments(client, { payments, origin })
  const told = rehearsals.map((one) =>
    one.ok ? { reason: 'ok' } : { reason: one.reason, words: one.words },
  )
  expect(told).toEqual(await verdictsOf(payments, family))
  return told.map(({ reason }) => reason)
}

/** Payments of all kinds; each payer has one only. */
async function allKinds(family: Family): Promise<SignedPayment[]> {
  const { timestamp } = await getBlock(client)
  const blocked = await freshPayer(family)
  const kinds = [
    await pay({ family }),
    await pay({ family, message: { validBefore: timestamp } }),
    await pay({ family, message: { validAfter: timestamp + 500n } }),
    await capture(await pay({ family })),
    await pay({ family, message: { value: 11n * unit } }),
    await pay({ family, payer: await freshPayer(family, 0n) }),
    await pay({ family, signer: stranger }),
    await pay({ family, domain: { name: 'Coin' } }),
    await pay({ family, domain: { chainId: 8453 } }),
    wrap(await pay({ family, signer: stranger })),
    wrap(await pay({ family })),
    await payFromWallet('strictWallet', { family }),
    await payFromWallet('strictWallet', { family, signer: stranger }),
    await payFromWallet('permissiveWallet', { family }),
    await payFromWallet('lyingWallet', { family }),
    await payDelegated(devContracts.strictDelegate, family),
    await payDelegated(devContracts.permissiveDelegate, family),
    await pay({ family, payer: blocked }),
    await pay({ family, message: { validAfter: 2n ** 47n } }),
    await pay({ family }),
  ]
  await family.block?.(blocked.address, true)
  return kinds
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
    origin,
  })
  expect(payerBalances).toEqual([10n * unit, 0n, 10n * unit])
  const { number, timestamp } = await getBlock(client)
  expect(head).toEqual({ number, timestamp, chainId: 31337, via: 'override' })
})

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
      origin,
    })
    expect(methods()).toEqual(['eth_call'])
    expect(payerBalances).toEqual([10n * unit])
    expect(rehearsals).toEqual([
      await rehearseCapture(client, payment, { origin }),
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
    origin,
  })
  const used = at.gasUsed ?? 0n
  const allow = (maxGas: bigint) => reasonsOf(payments, { maxGas })
  expect(await allow(used + 5_000n)).toEqual(['ok', 'ok', 'ok'])
  const tooHigh = ['gasTooHigh', 'gasTooHigh', 'gasTooHigh']
  expect(await allow(used - 10_000n)).toEqual(tooHigh)
  expect(await allow(1_000n)).toEqual(tooHigh)
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
  const parameters = { payments, origin }
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
    origin,
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
    rehearsePayments(faulty.client, { payments, origin }),
  ).rejects.toMatchObject({ name: 'NodeError', retryable: true })
})

test('no signature is in what is told', async () => {
  const payments = [await pay({ signer: stranger }), await pay()]
  const heard = await rehearsePayments(client, { payments, origin })
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
