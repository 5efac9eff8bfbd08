import {
  ClockSkewError,
  captureCall,
  capturePayment,
  waitForOutcome,
} from 'countersign'
import { devContracts } from 'countersign/devchain'
import {
  type Address,
  concatHex,
  getAddress,
  type Hex,
  numberToHex,
} from 'viem'
import { getBlock, mine, sendTransaction, setCode } from 'viem/actions'
import { expect, test } from 'vitest'
import { deployDevContract } from '../../../../src/devchain/deployDevContract.js'
import { delegate, type Family } from '../../support/families.js'
import { account } from '../../support/signing.js'
import {
  capture,
  chain,
  circle20,
  circle22,
  client,
  expecting,
  freshPayer,
  invalid,
  isExpired,
  merchant,
  nodeThat,
  now,
  pass,
  pay,
  payFromWallet,
  refusal,
  stranger,
  unit,
  verdictOf,
  verify,
  wallet,
} from '../../support/verifyDesk.js'

test('a passing verdict names block, time, way and gas', async () => {
  const payment = await pay()
  const { number, timestamp } = await getBlock(client)
  const verdict = await verify(payment)
  const gasUsed = expect.any(BigInt)
  const at = { block: number, time: timestamp, via: 'override', gasUsed }
  expect(verdict).toEqual({ ok: true, at })
})

test('what is expected may be in any letter case', async () => {
  const payment = await pay()
  const { token, to } = expecting(payment)
  const upper = (text: Hex) => `0x${text.slice(2).toUpperCase()}` as const
  const { from, nonce } = payment.message
  const spelled = {
    token: getAddress(token),
    to: getAddress(to),
    from: getAddress(from),
    nonce: upper(nonce),
  }
  expect(nonce).not.toBe(upper(nonce))
  expect(await verify(payment, { expect: spelled })).toMatchObject({ ok: true })
})

test('the gas of the verdict covers that of the capture, closely', async () => {
  const payment = await pay()
  const { at } = await verify(payment)
  const outcome = await capture(payment)
  const paid = outcome.status === 'captured' ? outcome.proof.gasUsed : 0n
  expect(at?.gasUsed).toBeGreaterThanOrEqual(paid)
  expect(at?.gasUsed).toBeLessThan(paid + 6_000n)
})

test('a verdict is one request, and none where the message decides', async () => {
  const node = nodeThat(pass)
  const payment = await pay()
  await verify(payment, { by: node, expect: { to: circle22.token } })
  expect(node.asked).toHaveLength(0)
  await verify(payment, { by: node })
  expect(node.asked.map(({ method }) => method)).toEqual(['eth_call'])
})

test('a past block is judged as it was', async () => {
  const payer = account('late payer')
  const payment = await pay({ payer })
  const block = (await getBlock(client)).number
  await circle22.mint(payer.address, unit)
  const early = await verify(payment, { block })
  expect(early).toMatchObject({ reason: 'insufficientFunds', at: { block } })
  expect((await verify(payment)).ok).toBe(true)
})

test.each([
  ['expired and used', 'expired', { expired: true, used: true }],
  ['expired and badly signed', 'expired', { expired: true, badly: true }],
  ['used and badly signed', 'consumed', { used: true, badly: true }],
  ['short and badly signed', 'wrongSigner', { short: true, badly: true }],
  ['used and short', 'consumed', { used: true, short: true }],
  ['blocked and expired', 'payerBlocked', { blocked: true, expired: true }],
  ['paused and blocked', 'paused', { paused: true, blocked: true }],
  ['short and unexpected', 'insufficientFunds', { short: true, other: true }],
  ['unexpected and late', 'wrongAmount', { other: true, late: true }],
  ['late', 'expiresTooSoon', { late: true }],
] as const)('first match wins: %s is %s', async (_, reason, given) => {
  const has = (name: string): boolean => name in given
  const payer = await freshPayer()
  const first = await pay({ payer })
  if (has('used')) await capture(first)
  const payment = await pay({
    payer,
    signer: has('badly') ? stranger : payer,
    message: {
      nonce: first.message.nonce,
      ...(has('short') ? { value: 1000n * unit } : {}),
      ...(has('expired') ? { validBefore: await now() } : {}),
    },
  })
  if (has('blocked')) await circle22.block?.(payer.address, true)
  if (has('paused')) await circle22.pause?.(true)
  const verdict = await verdictOf(payment, {
    expect: {
      ...(has('other') ? { amount: '7' } : {}),
      ...(has('late') ? { minRemaining: 100_000n } : {}),
    },
  })
  if (has('paused')) await circle22.pause?.(false)
  expect(verdict).toMatchObject({ ok: false, reason })
})

test('a refusal that takes almost all the gas allowed keeps its reason', async () => {
  const payment = await pay({ message: { validBefore: await now() } })
  const { at } = await verify(payment)
  const maxCaptureGas = (at?.gasUsed ?? 0n) + 500n
  expect(await verdictOf(payment, { maxCaptureGas })).toEqual(
    refusal('expired', isExpired),
  )
})

test('a signature so long that its data alone costs too much gas', async () => {
  const payment = await payFromWallet('permissiveWallet')
  const signature = concatHex([payment.signature, `0x${'ab'.repeat(7000)}`])
  const long = { ...payment, signature }
  const { to, data } = captureCall({ payment: long })
  const hash = await sendTransaction(wallet, { to, data, gas: 300_000n })
  await mine(chain.clients.test, { blocks: 1 })
  const receipt = client.getTransactionReceipt({ hash })
  await expect(receipt).rejects.toThrow('could not be found')
  expect(await verdictOf(long)).toEqual(refusal('gasTooHigh'))
  expect((await verify(long, { maxCaptureGas: 400_000n })).ok).toBe(true)
})

/**
 * A token that moves one unit whatever it is asked, and knows nothing but
 * `balanceOf` and `receiveWithAuthorization`:
 *
 * selector; receive → slot 0 += 1; balanceOf → slot 0; anything else reverts.
 */
const oddToken: Hex =
  '0x5f3560e01c8063ef55bec614601c57806370a08231146025575f5ffd5b60015f54015f55005b5f545f5260205ff3'

test('a token that moves another value than asked', async () => {
  const verifyingContract = account('odd').address.toLowerCase() as Address
  await setCode(chain.clients.test, {
    address: verifyingContract,
    bytecode: oddToken,
  })
  const of = async (value: bigint) =>
    verdictOf(await pay({ domain: { verifyingContract }, message: { value } }))
  expect(await of(1n)).toEqual({ ok: true })
  expect(await of(2n)).toEqual(
    refusal(
      'simulationFailed',
      'the recipient would not receive exactly the signed value',
    ),
  )
})

test('the token as the recipient is asked by plain calls', async () => {
  const node = nodeThat(pass)
  const primaryType = 'TransferWithAuthorization'
  const of = async (family: Family) => {
    const message = { to: family.token }
    return verify(await pay({ family, primaryType, message }), { by: node })
  }
  expect(await of(circle22)).toMatchObject({
    reason: 'recipientBlocked',
    at: { via: 'calls' },
  })
  expect(await of(circle20)).toMatchObject({ ok: true, at: { via: 'calls' } })
  expect((await verify(await pay(), { by: node })).at?.via).toBe('override')
})

test('a recipient that is a contract', async () => {
  const contract = devContracts.strictWallet
  const args = [merchant]
  const to = await deployDevContract(chain, { contract, args })
  const message = { to: to.toLowerCase() as Address }
  expect(await verdictOf(await pay({ message }))).toEqual({ ok: true })
  const signer = stranger
  expect(await verdictOf(await pay({ message, signer }))).toEqual(
    refusal('wrongSigner', invalid),
  )
})

test('a recipient with delegated code receives what the verdict promised', async () => {
  const { relayer } = chain.clients
  await delegate(chain, relayer.account.address, devContracts.strictDelegate)
  const to = relayer.account.address.toLowerCase() as Address
  const payment = await pay({ message: { to } })
  expect(await verdictOf(payment)).toEqual({ ok: true })
  const hash = await capturePayment(relayer, { payment })
  const outcome = await waitForOutcome(client, { payment, hash })
  await setCode(chain.clients.test, { address: to, bytecode: '0x' })
  expect(outcome.status).toBe('captured')
})

test('a payer can be the one who captures', async () => {
  const { payer } = chain.clients
  const primaryType = 'TransferWithAuthorization'
  const payment = await pay({ payer: payer.account, primaryType })
  expect(await verdictOf(payment)).toEqual({ ok: true })
  const hash = await capturePayment(payer, { payment })
  const outcome = await waitForOutcome(client, { payment, hash })
  expect(outcome.status).toBe('captured')
})

test('the clock of a development chain may be anything', async () => {
  const payment = await pay()
  const far = (await now()) + 1_000_000n
  expect((await verify(payment, { now: far })).ok).toBe(true)
})

/** The chain, as if it were Base: its id in the header of each answer. */
const baseNode = () =>
  nodeThat(async (request) => {
    const answer = await pass(request)
    return request.method === 'eth_call' && typeof answer === 'string'
      ? answer.slice(0, 194) +
          numberToHex(8453, { size: 32 }).slice(2) +
          answer.slice(258)
      : answer
  })

test.each([
  [-121n, true],
  [-120n, false],
  [120n, false],
  [121n, true],
])('a wall clock %d s from the chain is a fault: %s', async (skew, fault) => {
  const payment = await pay({ domain: { chainId: 8453 } })
  const time = await now()
  const verdict = verify(payment, { by: baseNode(), now: time + skew })
  if (!fault)
    return expect(verdict).resolves.toMatchObject({ reason: 'wrongDomain' })
  await expect(verdict).rejects.toThrow(
    new ClockSkewError({ chain: time, wall: time + skew }),
  )
})

test('a block chosen by number is not compared with the wall clock', async () => {
  const payment = await pay({ domain: { chainId: 8453 } })
  const block = (await getBlock(client)).number
  const verdict = await verify(payment, { by: baseNode(), now: 1n, block })
  expect(verdict).toMatchObject({ reason: 'wrongDomain', at: { block } })
})
