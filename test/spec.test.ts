import {
  buildCancellation,
  buildPayment,
  cancelCall,
  cancelPayment,
  captureCall,
  capturePayment,
  eip3009Abi,
  explainSignature,
  formatAmount,
  getAuthorizationState,
  getPaymentOutcome,
  getToken,
  hashPayment,
  InvalidAmountError,
  InvalidFieldError,
  type Payment,
  parseAmount,
  paymentTypedData,
  preparePayment,
  type SignedPayment,
  signCancellation,
  signPayment,
  type TokenCall,
  type TokenDomain,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import {
  deployDevContract,
  deployDevToken,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import {
  BlockReceiptsForbiddenError,
  createReadClient,
  decodeTokenLog,
  type LogEvent,
} from 'countersign/reads'
import { memoryStore, type OrderState, sealer } from 'countersign/store'
import {
  type Address,
  createClient,
  createWalletClient,
  custom,
  encodeFunctionData,
  type Hash,
  type Hex,
  http,
  isAddressEqual,
  keccak256,
  pad,
  size,
  slice,
  stringToHex,
  type TransactionReceipt,
  toHex,
} from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import {
  getBlock,
  getBlockNumber,
  getTransactionCount,
  readContract,
  sendTransactionSync,
  setNextBlockTimestamp,
  waitForTransactionReceipt,
} from 'viem/actions'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { tryRequest } from '../src/chain/rpc/requestNode.js'
import { parseRevert } from '../src/core/revertReason.js'
import { checkTransition, nextStates } from '../src/orders/model/nextStates.js'
import { fundedAccount } from './chain/support/desk.js'
import { startEndpoint } from './chain/support/endpoint.js'
import { cancelPageOf } from './chain/support/settle.js'
import {
  eventsOf,
  openShop,
  pay,
  rowsOf,
  type Shop,
  shows,
  storedOrder,
} from './chain/support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client, merchant, relayer, test: node } = chain.clients
const { token } = chain
const tokenAbi = devContracts.fiatTokenV2_2.abi
const to = merchant.account.address.toLowerCase() as Address
const amount = '12.50'
const expected = { token, to, amount }

type Wallet = typeof merchant
type Changes = Partial<Omit<Parameters<typeof preparePayment>[1], 'from'>>

async function freshPayer(value = 100_000_000n): Promise<Wallet> {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.mint({ to: account.address, value })
  return createWalletClient({ account, chain: chain.chain, transport: http() })
}

/** A payment of 12.50 by a payer who is new to the chain. */
async function draft(changes: Changes = {}, funds?: bigint) {
  const payer = await freshPayer(funds)
  const from = payer.account.address
  const payment = await preparePayment(client, {
    ...expected,
    ...changes,
    from,
  })
  return { payer, payment }
}

async function sign(payer: Wallet, payment: Payment): Promise<SignedPayment> {
  const { chainId, verifyingContract } = payment.domain
  const { value, to } = payment.message
  return signPayment(payer, {
    payment,
    expect: {
      chainId,
      token: verifyingContract,
      to,
      amount: formatAmount(value),
      primaryType: payment.primaryType,
      maxWindow: 2n ** 256n,
    },
  })
}

async function draftAndSign(changes?: Changes, funds?: bigint) {
  const { payer, payment } = await draft(changes, funds)
  return { payer, payment: await sign(payer, payment) }
}

const receiptOf = (hash: Hash) => waitForTransactionReceipt(client, { hash })

async function capture(payment: SignedPayment): Promise<TransactionReceipt> {
  return receiptOf(await capturePayment(merchant, { payment }))
}

async function cancel(
  payer: Wallet,
  payment: Payment,
): Promise<TransactionReceipt> {
  const unsigned = buildCancellation({ payment })
  const cancellation = await signCancellation(payer, {
    cancellation: unsigned,
    expect: cancelPageOf(unsigned),
  })
  return receiptOf(await cancelPayment(relayer, { cancellation }))
}

/** Mines a call past every check of the library; gives the token's answer. */
async function mine(by: Wallet, { to, data }: TokenCall): Promise<string> {
  const { status } = await sendTransactionSync(by, {
    to,
    data,
    gas: 300_000n,
    throwOnReceiptRevert: false,
  })
  if (status === 'success') return status
  const params = [{ from: by.account.address, to, data }, 'latest']
  const { failure } = await tryRequest(client, 'eth_call', params)
  return parseRevert(failure?.data).words ?? 'no words'
}

function stateOf({ domain, message }: Payment): Promise<boolean> {
  return getAuthorizationState(client, {
    token: domain.verifyingContract,
    payer: message.from,
    nonce: message.nonce,
  })
}

function balanceOf(account: Address, of = token): Promise<bigint> {
  return readContract(client, {
    address: of,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [account],
  })
}

const read = (functionName: 'name' | 'version', address = token) =>
  readContract(client, { address, abi: tokenAbi, functionName })

const now = async () => (await getBlock(client)).timestamp

const usdc: TokenDomain = {
  name: 'USD Coin',
  version: '2',
  chainId: 8453,
  verifyingContract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
}
const payer = '0x1111111111111111111111111111111111111111'
const sample = { domain: usdc, from: payer, to, amount } as const
const nonce: Hex = `0x${'5'.repeat(64)}`

test('service, 1: the message binds payer, recipient, exact amount, window and nonce', () => {
  const payment = buildPayment({ ...sample, now: 1_000n, nonce })

  const digests = [
    payment.message,
    { ...payment.message, from: to },
    { ...payment.message, to: relayer.account.address },
    { ...payment.message, value: 12_500_001n },
    { ...payment.message, validAfter: 941n },
    { ...payment.message, validBefore: 1_901n },
    { ...payment.message, nonce: keccak256(nonce) },
  ].map((message) => hashPayment({ ...payment, message }))
  expect(new Set(digests).size).toBe(7)
})

test('service, 2: signing sends no transaction and moves no tokens', async () => {
  const { payer, payment } = await draft()
  const { address } = payer.account
  const block = await getBlockNumber(client, { cacheTime: 0 })

  await sign(payer, payment)
  expect(await getBlockNumber(client, { cacheTime: 0 })).toBe(block)
  expect(await getTransactionCount(client, { address })).toBe(0)
  expect(await balanceOf(address)).toBe(100_000_000n)
})

test('service, 3: only the named recipient can submit the signed transfer', async () => {
  const { payment } = await draftAndSign()

  await expect(capturePayment(relayer, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'wrongSender',
  })
  expect(await mine(relayer, captureCall({ payment }))).toBe(
    'FiatTokenV2: caller must be the payee',
  )
  expect(await stateOf(payment)).toBe(false)
})

test('service, 4: a signature reserves nothing: two that exceed the balance are both valid until one is captured', async () => {
  const { payer, payment: first } = await draftAndSign({}, 20_000_000n)
  const from = payer.account.address
  const second = await sign(
    payer,
    await preparePayment(client, { ...expected, from }),
  )
  const verify = (payment: SignedPayment) =>
    verifyPayment(client, { payment, expect: expected })

  expect(await verify(first)).toMatchObject({ ok: true })
  expect(await verify(second)).toMatchObject({ ok: true })
  await capture(first)
  expect(await verify(second)).toMatchObject({
    ok: false,
    reason: 'insufficientFunds',
  })
})

test('message, from: the payer account pays', async () => {
  const { payer, payment } = await draftAndSign()

  await capture(payment)
  expect(isAddressEqual(payment.message.from, payer.account.address)).toBe(true)
  expect(await balanceOf(payment.message.from)).toBe(87_500_000n)
})

test('message, to: the merchant address is paid', async () => {
  const { payment } = await draftAndSign()
  const before = await balanceOf(to)

  await capture(payment)
  expect(payment.message.to).toBe(to)
  expect((await balanceOf(to)) - before).toBe(12_500_000n)
})

test('message, value: the decimal amount is scaled by 6 decimals, exactly', () => {
  const { message } = buildPayment({ ...sample, amount: '1234567.890123' })

  expect(message.value).toBe(1_234_567_890_123n)
})

test('message, validAfter: the current time minus 60 seconds', () => {
  const { message } = buildPayment({ ...sample, now: 1_750_000_000n })

  expect(message.validAfter).toBe(1_749_999_940n)
})

test('message, validBefore: the current time plus 900 seconds', () => {
  const { message } = buildPayment({ ...sample, now: 1_750_000_000n })

  expect(message.validBefore).toBe(1_750_000_900n)
})

test('message, nonce: 32 random bytes, new for each attempt', () => {
  const nonces = Array.from(
    { length: 1_000 },
    () => buildPayment(sample).message.nonce,
  )

  expect(new Set(nonces).size).toBe(1_000)
  expect(nonces.every((nonce) => size(nonce) === 32)).toBe(true)
  // Each of the 32 bytes takes many values over 1,000 draws.
  for (let at = 0; at < 32; at++)
    expect(
      new Set(nonces.map((it) => slice(it, at, at + 1))).size,
    ).toBeGreaterThan(200)
})

test('message, nonce: consumed by capture, and never usable again', async () => {
  const { payment } = await draftAndSign()

  await capture(payment)
  expect(await stateOf(payment)).toBe(true)
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'FiatTokenV2: authorization is used or canceled',
  )
})

test('message, nonce: consumed by cancellation', async () => {
  const { payer, payment } = await draftAndSign()

  await cancel(payer, payment)
  expect(await stateOf(payment)).toBe(true)
})

test('signing, domain name: what the token function name returns', async () => {
  const other = await deployDevToken(chain, { name: 'Bridged USDC (Team)' })
  const { payment } = await draft({ token: other })

  expect(await read('name', other)).toBe('Bridged USDC (Team)')
  expect(payment.domain.name).toBe('Bridged USDC (Team)')
})

test('signing, domain version: what the token function version returns', async () => {
  const { payment } = await draft()

  expect(payment.domain.version).toBe(await read('version'))
})

test('signing, domain chainId: the target chain', async () => {
  const { payment } = await draft()

  expect(payment.domain.chainId).toBe(31337)
})

test('signing, domain verifyingContract: the token contract', async () => {
  const { payment } = await draft()

  expect(payment.domain.verifyingContract).toBe(token)
})

test('signing, wallet method: eth_signTypedData_v4 with the complete payload', async () => {
  const { account } = await freshPayer()
  const asked: { method: string; params: unknown }[] = []
  const provider = custom({
    async request({ method, params }) {
      if (method === 'eth_chainId') return toHex(usdc.chainId)
      asked.push({ method, params })
      return account.signTypedData(JSON.parse(params[1]))
    },
  })
  const payment = buildPayment({ ...sample, from: account.address, nonce })

  await signPayment(createClient({ transport: provider }), {
    payment,
    expect: { ...expected, token: usdc.verifyingContract, chainId: 8453 },
  })
  const payload = JSON.stringify(paymentTypedData(payment))
  expect(asked).toEqual([
    {
      method: 'eth_signTypedData_v4',
      params: [account.address.toLowerCase(), payload],
    },
  ])
})

test('signing, member list (not shown): the six members in the order of EIP-3009', () => {
  const { types } = paymentTypedData(buildPayment(sample))

  expect(types).toEqual({
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    ReceiveWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  })
})

test('states, payer signs: unused, authorizationState is false', async () => {
  const { payment } = await draftAndSign()

  expect(await stateOf(payment)).toBe(false)
  expect(await getPaymentOutcome(client, { payment })).toEqual({
    status: 'unused',
  })
})

test('states, receiveWithAuthorization: captured, Transfer and AuthorizationUsed are emitted', async () => {
  const { payment } = await draftAndSign()

  const { logs } = await capture(payment)
  expect(logs.map(({ address, topics }) => [address, topics[0]])).toEqual([
    [token, keccak256(stringToHex('AuthorizationUsed(address,bytes32)'))],
    [token, keccak256(stringToHex('Transfer(address,address,uint256)'))],
  ])
  expect(await getPaymentOutcome(client, { payment })).toMatchObject({
    status: 'captured',
    proof: { submitter: to },
  })
})

test('states, receiveWithAuthorization, condition: the current time is inside the window', async () => {
  const start = (await now()) + 1_000n
  const window = { validAfter: start, validBefore: start + 900n }
  const { payment } = await draftAndSign(window)
  const call = captureCall({ payment })

  expect(await mine(merchant, call)).toBe(
    'FiatTokenV2: authorization is not yet valid',
  )
  await chain.warp(1_010n)
  expect(await mine(merchant, call)).toBe('success')
})

test('states, receiveWithAuthorization, condition: the payer still has enough balance', async () => {
  const { payment } = await draftAndSign({}, 12_499_999n)

  const verdict = await verifyPayment(client, { payment, expect: expected })
  expect(verdict).toMatchObject({ ok: false, reason: 'insufficientFunds' })
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'ERC20: transfer amount exceeds balance',
  )
})

test('states, receiveWithAuthorization, condition: token policy allows the transfer', async () => {
  const { payer, payment } = await draftAndSign()
  const { address: account } = payer.account

  await chain.block({ account })
  const blocked = await verifyPayment(client, { payment, expect: expected })
  await chain.block({ account, blocked: false })
  const allowed = await verifyPayment(client, { payment, expect: expected })
  expect(blocked).toMatchObject({ ok: false, reason: 'payerBlocked' })
  expect(allowed).toMatchObject({ ok: true })
})

test('states, receiveWithAuthorization: payment is guaranteed only by the successful transaction', async () => {
  const { payer, payment } = await draftAndSign()
  const verdict = await verifyPayment(client, { payment, expect: expected })
  await moveFunds(payer)

  const gas = 200_000n
  const hash = await sendUnchecked(payment, gas)
  expect(verdict).toMatchObject({ ok: true })
  await expect(waitForOutcome(client, { payment, hash })).rejects.toMatchObject(
    {
      name: 'CaptureRevertedError',
      reason: 'insufficientFunds',
    },
  )
})

test('states, cancelAuthorization: canceled, AuthorizationCanceled is emitted', async () => {
  const { payer, payment } = await draftAndSign()

  const { logs, transactionHash: hash } = await cancel(payer, payment)
  expect(logs.map(({ address, topics }) => [address, topics[0]])).toEqual([
    [token, keccak256(stringToHex('AuthorizationCanceled(address,bytes32)'))],
  ])
  expect(await waitForOutcome(client, { payment, hash })).toMatchObject({
    status: 'canceled',
    transactionHash: hash,
  })
})

test('states, cancelAuthorization: any later capture reverts', async () => {
  const { payer, payment } = await draftAndSign()
  await cancel(payer, payment)

  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'consumed',
  })
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'FiatTokenV2: authorization is used or canceled',
  )
})

test('states, cancelAuthorization: only the payer can sign it', async () => {
  const { payment } = await draftAndSign()
  const { domain, message, primaryType } = buildCancellation({ payment })
  const unsigned = {
    primaryType,
    domain,
    message: { ...message, authorizer: to },
  }
  const forged = await signCancellation(merchant, {
    cancellation: unsigned,
    expect: cancelPageOf(unsigned),
  })

  await expect(
    cancelPayment(relayer, { cancellation: { ...forged, message } }),
  ).rejects.toMatchObject({
    name: 'CancelRejectedError',
    reason: 'wrongSigner',
  })
})

test('states, merchant never submits: unused on chain, and valid until it expires', async () => {
  const { payment } = await draftAndSign()
  const { validBefore } = payment.message

  await mineAt(validBefore - 2n)
  expect(await stateOf(payment)).toBe(false)
  await setNextBlockTimestamp(node, { timestamp: validBefore - 1n })
  expect(await mine(merchant, captureCall({ payment }))).toBe('success')
})

test('states, time passes validBefore: unused on chain, no longer capturable', async () => {
  const { payment } = await draftAndSign()

  await mineAt(payment.message.validBefore)
  expect(await stateOf(payment)).toBe(false)
  expect(await getPaymentOutcome(client, { payment })).toEqual({
    status: 'expired',
  })
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'FiatTokenV2: authorization is expired',
  )
})

test('states, authorizationState: one consumed state for used and for canceled', async () => {
  const [captured, canceled] = [await draftAndSign(), await draftAndSign()]
  await capture(captured.payment)
  await cancel(canceled.payer, canceled.payment)

  const payments = [captured.payment, canceled.payment]
  expect(await Promise.all(payments.map(stateOf))).toEqual([true, true])
  const outcomes = await Promise.all(
    payments.map((payment) => getPaymentOutcome(client, { payment })),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['captured', 'canceled'])
})

test('operations, name and version: no input, a string', async () => {
  expect(await read('name')).toBe('USD Coin')
  expect(await read('version')).toBe('2')
})

test('operations, authorizationState: payer and nonce in, a boolean out', async () => {
  const { payment } = await draftAndSign()
  const { from, nonce } = payment.message
  const ask = () =>
    readContract(client, {
      address: token,
      abi: eip3009Abi,
      functionName: 'authorizationState',
      args: [from, nonce],
    })

  expect(await ask()).toBe(false)
  await capture(payment)
  expect(await ask()).toBe(true)
})

test('operations, receiveWithAuthorization (parameters not shown): the six members, then v, r, s', async () => {
  const { payment } = await draftAndSign()
  const { from, value, validAfter, validBefore, nonce } = payment.message
  const signature = payment.signature

  expect(captureCall({ payment })).toMatchObject({
    to: token,
    functionName: 'receiveWithAuthorization',
    args: [
      from,
      to,
      value,
      validAfter,
      validBefore,
      nonce,
      Number(slice(signature, 64)),
      slice(signature, 0, 32),
      slice(signature, 32, 64),
    ],
  })
})

test('operations, cancelAuthorization (parameters not shown): payer and nonce, then v, r, s', async () => {
  const { payer, payment } = await draftAndSign()
  const unsigned = buildCancellation({ payment })
  const cancellation = await signCancellation(payer, {
    cancellation: unsigned,
    expect: cancelPageOf(unsigned),
  })
  const { signature } = cancellation

  expect(cancelCall({ cancellation })).toMatchObject({
    to: token,
    functionName: 'cancelAuthorization',
    args: [
      payment.message.from,
      payment.message.nonce,
      Number(slice(signature, 64)),
      slice(signature, 0, 32),
      slice(signature, 32, 64),
    ],
  })
})

test('events, Transfer: signature hash, padded sender and recipient, the amount as data', async () => {
  const { payment } = await draftAndSign()
  const { from } = payment.message

  const { logs } = await capture(payment)
  expect(logs[1]).toMatchObject({
    topics: [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      pad(from),
      pad(to),
    ],
    data: toHex(12_500_000n, { size: 32 }),
  })
})

test('events, Transfer: the payer can be derived from it', async () => {
  const { payer, payment } = await draftAndSign()

  const { logs } = await capture(payment)
  const sender = slice(logs[1]?.topics[1] ?? '0x', 12)
  expect(isAddressEqual(sender, payer.account.address)).toBe(true)
})

test('events, AuthorizationUsed: identifies payer and nonce', async () => {
  const { payment } = await draftAndSign()
  const { from, nonce } = payment.message

  const { logs } = await capture(payment)
  expect(logs[0]).toMatchObject({
    topics: [
      '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
      pad(from),
      nonce,
    ],
    data: '0x',
  })
})

test('events, AuthorizationCanceled: identifies payer and nonce', async () => {
  const { payer, payment } = await draftAndSign()
  const { from, nonce } = payment.message

  const { logs } = await cancel(payer, payment)
  expect(logs[0]).toMatchObject({
    topics: [
      '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
      pad(from),
      nonce,
    ],
    data: '0x',
  })
})

test('errors, capture after the nonce was canceled: the mined transaction reverts', async () => {
  const { payer, payment } = await draftAndSign()
  const { transactionHash } = await cancel(payer, payment)

  const hash = await sendUnchecked(payment)
  const { status } = await receiptOf(hash)
  expect(status).toBe('reverted')
  expect(await waitForOutcome(client, { payment, hash })).toMatchObject({
    status: 'canceled',
    transactionHash,
  })
})

test('errors, capture when the payer moved funds: settlement does not succeed', async () => {
  const { payer, payment } = await draftAndSign()
  await moveFunds(payer)

  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'insufficientFunds',
  })
  expect(await stateOf(payment)).toBe(false)
})

test.each([
  ['paused', () => chain.pause(), () => chain.pause(false)],
  [
    'recipientBlocked',
    () => chain.block({ account: to }),
    () => chain.block({ account: to, blocked: false }),
  ],
])(
  'errors, capture when token policy blocks the transfer: %s',
  async (reason, block, allow) => {
    const { payment } = await draftAndSign()
    await block()

    const refused = capturePayment(merchant, { payment })
    await expect(refused).rejects.toMatchObject({ reason })
    const mined = await mine(merchant, captureCall({ payment }))
    await allow()
    expect(mined).not.toBe('success')
    expect(await stateOf(payment)).toBe(false)
  },
)

test('limits, authorization validity: from 60 seconds before to 15 minutes after', () => {
  const { message } = buildPayment({ ...sample, now: 5_000n })

  expect(message.validBefore - 5_000n).toBe(15n * 60n)
  expect(5_000n - message.validAfter).toBe(60n)
})

test.each([31, 33])('limits, nonce size: %d bytes are refused', (bytes) => {
  expect(() =>
    buildPayment({ ...sample, nonce: pad('0x1', { size: bytes }) }),
  ).toThrow(/^payment\.message\.nonce /)
})

test('limits, amount scale: a seventh fraction digit is refused, not rounded', () => {
  expect(parseAmount('0.000001')).toBe(1n)
  expect(() => parseAmount('0.0000015')).toThrow(InvalidAmountError)
})

test('limits, topics per log: at most 4', async () => {
  const { payment } = await draftAndSign()

  const { logs } = await capture(payment)
  expect(logs.map(({ topics }) => topics.length)).toEqual([3, 3])
})

test('difference, capture pair: a Transfer signature sent to receiveWithAuthorization reverts', async () => {
  const { payment } = await draftAndSign({
    primaryType: 'TransferWithAuthorization',
  })
  const specPair = {
    ...payment,
    primaryType: 'ReceiveWithAuthorization',
  } as const

  expect(await mine(merchant, captureCall({ payment: specPair }))).toBe(
    'FiatTokenV2: invalid signature',
  )
  await expect(
    capturePayment(merchant, { payment: specPair }),
  ).rejects.toMatchObject({ reason: 'wrongSigner' })
  expect(await explainSignature({ payment: specPair })).toEqual({
    found: true,
    differences: [
      {
        field: 'primaryType',
        signed: 'TransferWithAuthorization',
        presented: 'ReceiveWithAuthorization',
      },
    ],
  })
})

test('difference, capture pair: the default message is the one receiveWithAuthorization takes', async () => {
  const { payment } = await draftAndSign()

  expect(payment.primaryType).toBe('ReceiveWithAuthorization')
  expect(await mine(merchant, captureCall({ payment }))).toBe('success')
})

test('difference, capture pair: TransferWithAuthorization is built to the letter', () => {
  const primaryType = 'TransferWithAuthorization'
  const payment = buildPayment({ ...sample, primaryType, now: 1_000n, nonce })

  expect(paymentTypedData(payment)).toMatchObject({
    primaryType: 'TransferWithAuthorization',
    domain: usdc,
    message: {
      from: payer,
      to,
      value: '12500000',
      validAfter: '940',
      validBefore: '1900',
      nonce,
    },
  })
})

test('difference, capture pair: anyone can submit a TransferWithAuthorization, and the recipient is paid', async () => {
  const { payment } = await draftAndSign({
    primaryType: 'TransferWithAuthorization',
  })
  const submitter = relayer.account.address.toLowerCase()

  const hash = await capturePayment(relayer, { payment })
  const outcome = await waitForOutcome(client, { payment, hash })
  expect(outcome).toMatchObject({ status: 'captured', proof: { submitter } })
})

test('difference, capture pair: a merchant who names no type takes Receive only', async () => {
  const { payment } = await draftAndSign({
    primaryType: 'TransferWithAuthorization',
  })
  const { primaryType } = payment

  expect(
    await verifyPayment(client, { payment, expect: expected }),
  ).toMatchObject({ ok: false, reason: 'wrongPrimaryType' })
  const willing = { ...expected, primaryType }
  expect(
    await verifyPayment(client, { payment, expect: willing }),
  ).toMatchObject({ ok: true })
})

test('difference, domain: a token without version() is proven by its separator', async () => {
  const paxos = await deployDevContract(chain, {
    contract: devContracts.paxosToken,
    args: ['PayPal USD', 'PYUSD', 6],
  })

  await expect(read('version', paxos)).rejects.toThrow('reverted')
  const { domain } = await getToken(client, { token: paxos })
  expect(domain).toMatchObject({ name: 'PayPal USD', version: '1' })
})

test('difference, amount scale: the decimals of the token, where it has others than 6', async () => {
  const other = await deployDevToken(chain, { decimals: 18 })
  const { payment } = await draft({ token: other })

  expect(payment.message.value).toBe(12_500_000_000_000_000_000n)
})

test('difference, replay key: a nonce is unique for one payer on one token, so two tokens settle it twice', async () => {
  const other = await deployDevToken(chain)
  const { payer, payment: first } = await draftAndSign()
  const { from, nonce } = first.message
  await chain.mint({ to: from, value: 100_000_000n, token: other })
  const second = await preparePayment(client, {
    ...expected,
    token: other,
    from,
    nonce,
  })

  await capture(first)
  await capture(await sign(payer, second))
  expect(await Promise.all([first, second].map(stateOf))).toEqual([true, true])
  expect(await balanceOf(from, other)).toBe(87_500_000n)
})

test('difference, replay key: one payer and nonce sign two messages, and only one settles', async () => {
  const { payer, payment } = await draftAndSign()
  const { from, nonce } = payment.message
  const cheap = await sign(
    payer,
    await preparePayment(client, { ...expected, amount: '0.01', from, nonce }),
  )

  const { transactionHash } = await capture(cheap)
  expect(await getPaymentOutcome(client, { payment })).toMatchObject({
    status: 'consumed',
    transactionHash,
  })
})

test('difference, replay key: a nonce spent on a payment to somebody else pays nobody here', async () => {
  const { payer, payment } = await draftAndSign()
  const { from, nonce } = payment.message
  const other = relayer.account.address
  const diverted = await sign(
    payer,
    await preparePayment(client, { ...expected, to: other, from, nonce }),
  )

  const hash = await capturePayment(relayer, { payment: diverted })
  await receiptOf(hash)
  expect(await getPaymentOutcome(client, { payment, hash })).toMatchObject({
    status: 'consumed',
    transactionHash: hash,
  })
})

test('difference, chain time: the window counts from the newest block, not from the wall clock', async () => {
  await chain.warp(10_000n)
  const time = await now()
  const { payment } = await draft()

  const { validAfter, validBefore } = payment.message
  const wall = BigInt(Math.floor(Date.now() / 1000))
  expect(validAfter).toBeGreaterThan(wall + 900n)
  expect(validBefore - validAfter).toBe(960n)
  expect(validAfter - time).toBeLessThan(-50n)
})

test('difference, window: both bounds are exclusive', async () => {
  const { payment } = await draftAndSign({ validAfter: (await now()) + 500n })
  const { validAfter } = payment.message
  const call = captureCall({ payment })

  await setNextBlockTimestamp(node, { timestamp: validAfter })
  expect(await mine(merchant, call)).toBe(
    'FiatTokenV2: authorization is not yet valid',
  )
  await setNextBlockTimestamp(node, { timestamp: validAfter + 1n })
  expect(await mine(merchant, call)).toBe('success')
})

test('difference, window: at validBefore itself it is over', async () => {
  const { payment } = await draftAndSign()
  const { validBefore } = payment.message

  await setNextBlockTimestamp(node, { timestamp: validBefore })
  expect(await mine(merchant, captureCall({ payment }))).toBe(
    'FiatTokenV2: authorization is expired',
  )
})

test('difference, window: one in which no second lies is not built', () => {
  const build = (validBefore: bigint) =>
    buildPayment({ ...sample, validAfter: 100n, validBefore })

  expect(() => build(101n)).toThrow(InvalidFieldError)
  expect(build(102n).message).toMatchObject({
    validAfter: 100n,
    validBefore: 102n,
  })
})

test('difference, cancellation: the token accepts it after expiry too', async () => {
  const { payer, payment } = await draftAndSign()
  await mineAt(payment.message.validBefore + 1n)

  const { transactionHash: hash } = await cancel(payer, payment)
  expect(await waitForOutcome(client, { payment, hash })).toMatchObject({
    status: 'canceled',
  })
})

test('difference, proof: a successful transaction alone is no payment', async () => {
  const { payment, hash } = await spentOnPaxos()

  const { status } = await receiptOf(hash)
  expect(status).toBe('success')
  expect(await getPaymentOutcome(client, { payment, hash })).toMatchObject({
    status: 'canceled',
  })
})

test.each([
  ['zero', { amount: '0' }, InvalidAmountError],
  ['a negative amount', { amount: '-1' }, InvalidAmountError],
  ['a payment to oneself', { to: payer }, InvalidFieldError],
] as const)(
  'difference, checks: %s, which tokens accept or cannot mean, is refused',
  (_, changes, error) => {
    expect(() => buildPayment({ ...sample, ...changes })).toThrow(error)
  },
)

async function moveFunds({ account }: Wallet): Promise<void> {
  await node.setBalance({ address: account.address, value: 10n ** 18n })
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(),
  })
  const hash = await wallet.writeContract({
    address: token,
    abi: tokenAbi,
    functionName: 'transfer',
    args: [relayer.account.address, await balanceOf(account.address)],
  })
  await receiptOf(hash)
}

function sendUnchecked(payment: SignedPayment, gas = 200_000n): Promise<Hash> {
  return capturePayment(merchant, { payment, simulate: false, gas })
}

/** A cancellation, then a capture, of one nonce on a token that never says no. */
async function spentOnPaxos() {
  const contract = devContracts.paxosToken
  const args = ['PayPal USD', 'PYUSD', 6]
  const paxos = await deployDevContract(chain, { contract, args })
  const payer = await freshPayer()
  const from = payer.account.address
  const payment = await sign(
    payer,
    await preparePayment(client, { ...expected, token: paxos, from }),
  )
  await relayer.writeContract({
    address: paxos,
    abi: contract.abi,
    functionName: 'mint',
    args: [payment.message.from, 100_000_000n],
  })
  await cancel(payer, payment)
  return { payment, hash: await sendUnchecked(payment) }
}

async function mineAt(timestamp: bigint): Promise<void> {
  await setNextBlockTimestamp(node, { timestamp })
  await node.mine({ blocks: 1 })
}

const flash = await startDevChain({
  preconfirmations: 'flashblocks',
  blockTime: 0,
  tick: 0,
})
const limited = await startDevChain({
  blockTime: 0,
  policies: {
    blockReceipts: 'forbidden',
    maxLogRange: { blocks: 10, wording: 'publicBase' },
  },
})
afterAll(() => Promise.all([flash.stop(), limited.stop()]))

type DevChain = typeof chain
const readerOf = ({ urls }: DevChain) => createReadClient({ url: urls.http })
const reader = readerOf(chain)
const blockTags = [
  'latest',
  'pending',
  'safe',
  'finalized',
  'earliest',
] as const

const signatureHash = keccak256(
  stringToHex('Transfer(address,address,uint256)'),
)
const newAddress = () => privateKeyToAccount(generatePrivateKey()).address
const addressTopic = (address: Address) => pad(address, { size: 32 })

/** Five token units from the payer, and where they ended up. */
async function transfer(on: DevChain = chain, to: Address = newAddress()) {
  const { payer, public: client } = on.clients
  const data = encodeFunctionData({
    abi: devContracts.fiatTokenV2_2.abi,
    functionName: 'transfer',
    args: [to, 5n],
  })
  const hash = await payer.sendTransaction({
    to: on.token,
    data,
    gas: 100_000n,
  })
  const receiptOf = () => waitForTransactionReceipt(client, { hash })
  return { to, hash, receiptOf, topics: [null, null, addressTopic(to)] }
}

/** A node that remembers its requests and gives one answer to each method. */
function nodeOf(answers: Readonly<Record<string, unknown>> = {}) {
  const asked: { method: string; params: readonly unknown[] }[] = []
  const request = async (question: (typeof asked)[number]) => {
    asked.push(question)
    return answers[question.method]
  }
  const transport = custom({ request: request as never })
  return { client: createReadClient({ transport }), asked }
}

test('envelope, request: HTTP POST of JSON with jsonrpc, method, params and id', async () => {
  const { url, posts } = await startEndpoint(chain.urls.http)
  await createReadClient({ url }).getBalance({ address: to, block: 'latest' })
  const body = {
    jsonrpc: '2.0',
    id: expect.any(Number),
    method: 'eth_getBalance',
    params: [to, 'latest'],
  }
  expect(posts).toEqual([
    { method: 'POST', contentType: 'application/json', body },
  ])
})

test('envelope, response: the result with the id of the request is its answer', async () => {
  const { url } = await startEndpoint(chain.urls.http, ([call]) => ({
    status: 200,
    body: { id: Number(call?.id) + 1, result: '0x1' },
  }))
  await expect(
    createReadClient({ url }).getBalance({ address: to, block: 'latest' }),
  ).rejects.toThrow('no answer has the id of the call')
})

test.each(['0x1f', ...blockTags] as const)(
  'block selectors, %s: taken where a block parameter is, and sent as it is',
  async (block) => {
    const { client, asked } = nodeOf({
      eth_getBalance: '0x0',
      eth_getTransactionCount: '0x0',
      eth_blockNumber: '0x1f',
      eth_getLogs: [],
    })
    await client.getBalance({ address: to, block })
    await client.getTransactionCount({ address: to, block })
    await client.getBlockReceipts({ block }).catch(() => {})
    expect(asked.slice(0, 3).map(({ params }) => params.at(-1))).toEqual([
      block,
      block,
      block,
    ])
  },
)

test('block selectors, number: a bigint is sent as a hex string', async () => {
  const { client, asked } = nodeOf({ eth_getBalance: '0x0' })
  await client.getBalance({ address: to, block: 31n })
  expect(asked).toEqual([{ method: 'eth_getBalance', params: [to, '0x1f'] }])
})

test('block selectors, pending: the result reflects pre-confirmed transactions', async () => {
  const client = readerOf(flash)
  const { address } = flash.clients.payer.account
  const count = (block: 'latest' | 'pending') =>
    client.getTransactionCount({ address, block })
  const before = await count('latest')
  await transfer(flash)
  await flash.preconfirmations.tick()
  expect(await count('latest')).toBe(before)
  expect(await count('pending')).toBe(before + 1)
  await flash.preconfirmations.seal()
})

test('eth_getLogs, params: one filter object', async () => {
  const { client, asked } = nodeOf({ eth_getLogs: [] })
  const filter = { address: token, topics: [signatureHash, null, [pad(to)]] }
  await client.getLogs(filter)
  const range = { fromBlock: 'latest', toBlock: 'latest' }
  expect(asked).toEqual([
    { method: 'eth_getLogs', params: [{ ...filter, ...range }] },
  ])
})

test('eth_getLogs, filter: at least one criterion is provided', async () => {
  const { client, asked } = nodeOf()
  await expect(client.getLogs({})).rejects.toThrow(InvalidFieldError)
  expect(asked).toEqual([])
})

test('eth_getLogs, fromBlock and toBlock: latest when absent', async () => {
  const { topics, receiptOf } = await transfer()
  await receiptOf()
  expect((await reader.getLogs({ topics })).length).toBe(1)
  await node.mine({ blocks: 1 })
  expect(await reader.getLogs({ topics })).toEqual([])
})

test('eth_getLogs, fromBlock: a number or a tag', async () => {
  const { topics, receiptOf } = await transfer()
  const { blockNumber } = await receiptOf()
  await node.mine({ blocks: 1 })
  const count = async (fromBlock: bigint | Hex | 'earliest' | 'latest') =>
    (await reader.getLogs({ topics, fromBlock })).length
  expect(await count(blockNumber)).toBe(1)
  expect(await count(toHex(blockNumber))).toBe(1)
  expect(await count('earliest')).toBe(1)
  expect(await count(blockNumber + 1n)).toBe(0)
  expect(await count('latest')).toBe(0)
})

test('eth_getLogs, toBlock: a number or a tag', async () => {
  const { topics, receiptOf } = await transfer()
  const { blockNumber } = await receiptOf()
  const count = async (toBlock: bigint | Hex | 'earliest' | 'latest') =>
    (await reader.getLogs({ topics, fromBlock: 'earliest', toBlock })).length
  expect(await count(blockNumber)).toBe(1)
  expect(await count(toHex(blockNumber))).toBe(1)
  expect(await count('latest')).toBe(1)
  expect(await count(blockNumber - 1n)).toBe(0)
  expect(await count('earliest')).toBe(0)
})

test('eth_getLogs, address: one contract or several', async () => {
  const { topics, receiptOf } = await transfer()
  await receiptOf()
  const count = async (address: Address | Address[]) =>
    (await reader.getLogs({ topics, address })).length
  expect(await count(token)).toBe(1)
  expect(await count([to, token])).toBe(1)
  expect(await count(to)).toBe(0)
})

test('eth_getLogs, topics: by position null, one, or any of several', async () => {
  const { to: receiver, receiptOf } = await transfer()
  const { blockNumber: block } = await receiptOf()
  const other = addressTopic(token)
  const count = async (...topics: (Hex | Hex[] | null)[]) =>
    (await reader.getLogs({ topics, fromBlock: block, toBlock: block })).length
  const mine = addressTopic(receiver)
  expect(await count(null, null, mine)).toBe(1)
  expect(await count(null, null, [other, mine])).toBe(1)
  expect(await count(null, mine)).toBe(0)
  expect(await count(null, null, other)).toBe(0)
})

test('eth_getLogs, topics, position 0: the hash of the event signature', async () => {
  const { receiptOf } = await transfer()
  const { blockNumber: block } = await receiptOf()
  const [log] = await reader.getLogs({
    topics: [signatureHash],
    fromBlock: block,
    toBlock: block,
  })
  expect(log && decodeTokenLog(log)).toMatchObject({
    name: 'Transfer',
    value: 5n,
  })
})

test('eth_getLogs, blockHash: restricts to that block', async () => {
  const { topics, receiptOf } = await transfer()
  const { blockHash, blockNumber } = await receiptOf()
  await node.mine({ blocks: 1 })
  const { hash: next } = await getBlock(client)
  expect(await reader.getLogs({ topics, blockHash })).toMatchObject([
    { blockHash, blockNumber },
  ])
  expect(await reader.getLogs({ topics, blockHash: next })).toEqual([])
})

test('difference, blockHash: a range given beside it is dropped, since nodes refuse the pair', async () => {
  const { topics, receiptOf } = await transfer()
  const { blockHash } = await receiptOf()
  const range = { fromBlock: 0n, toBlock: 0n }
  const { url, posts } = await startEndpoint(chain.urls.http)
  const both = { topics, blockHash, ...range }
  expect((await createReadClient({ url }).getLogs(both)).length).toBe(1)
  const raw = { ...both, fromBlock: '0x0', toBlock: '0x0' }
  const { failure } = await tryRequest(client, 'eth_getLogs', [raw])
  expect(failure?.words).toContain('blockHash')
  expect(posts).toMatchObject([{ body: { method: 'eth_getLogs' } }])
  expect(Object(posts[0]?.body).params).toEqual([
    { topics: [null, null, topics[2]?.toLowerCase()], blockHash },
  ])
})

test('eth_getLogs, pending: both ends give the logs of pre-confirmed transactions', async () => {
  const { topics, hash } = await transfer(flash)
  await flash.preconfirmations.tick()
  const filter = { topics, fromBlock: 'pending', toBlock: 'pending' } as const
  expect(await readerOf(flash).getLogs(filter)).toMatchObject([
    { transactionHash: hash, preconfirmed: true, blockHash: undefined },
  ])
  await flash.preconfirmations.seal()
  await flash.preconfirmations.tick()
  expect(await readerOf(flash).getLogs(filter)).toEqual([])
})

test('eth_getLogs, toBlock: up to pending includes the pre-confirmed logs', async () => {
  const { to: receiver, topics, hash } = await transfer(flash)
  await flash.preconfirmations.tick()
  await flash.preconfirmations.seal()
  const next = await transfer(flash, receiver)
  await flash.preconfirmations.tick()
  const filter = { topics, fromBlock: 'earliest', toBlock: 'pending' } as const
  expect(await readerOf(flash).getLogs(filter)).toMatchObject([
    { transactionHash: hash, preconfirmed: false },
    { transactionHash: next.hash, preconfirmed: true },
  ])
  await flash.preconfirmations.seal()
})

test('eth_getLogs, pendingLogs: the stream of the same logs over WebSocket', async () => {
  const watched = new Promise<LogEvent>((onEvent) => {
    const unwatch = readerOf(flash).watchLogs({
      address: flash.token,
      webSocket: flash.urls.webSocket,
      pollingInterval: 3_600_000,
      onEvent,
    })
    onTestFinished(unwatch)
  })
  // Nothing is replayed to those who subscribe late.
  await new Promise((done) => setTimeout(done, 500))
  const { hash } = await transfer(flash)
  await flash.preconfirmations.tick()
  expect(await watched).toMatchObject({
    type: 'preconfirmed',
    log: { transactionHash: hash, blockHash: undefined },
  })
  await flash.preconfirmations.seal()
})

test('log object: every field, typed', async () => {
  const { topics, to: receiver, hash, receiptOf } = await transfer()
  const { blockHash, blockNumber } = await receiptOf()
  const { timestamp } = await getBlock(client)
  const { address } = chain.clients.payer.account
  expect(await reader.getLogs({ topics })).toEqual([
    {
      address: token.toLowerCase(),
      topics: [
        signatureHash,
        addressTopic(address),
        addressTopic(receiver),
      ].map((topic) => topic.toLowerCase()),
      data: pad('0x5'),
      blockNumber,
      blockTimestamp: timestamp,
      transactionHash: hash,
      transactionIndex: 0,
      blockHash,
      logIndex: 0,
      removed: false,
      preconfirmed: false,
    },
  ])
})

const rpcLog = {
  address: token,
  topics: [] as Hex[],
  data: '0x',
  blockNumber: '0x1',
  transactionHash: pad('0x1'),
  transactionIndex: '0x0',
  blockHash: pad('0x2'),
  logIndex: '0x0',
  removed: false,
}

test.each([0, 1, 2, 3, 4])('log object, topics: %d of them', async (count) => {
  const topics = Array.from({ length: count }, () => signatureHash)
  const { client } = nodeOf({ eth_getLogs: [{ ...rpcLog, topics }] })
  expect(await client.getLogs({ address: token })).toMatchObject([{ topics }])
})

test('log object, blockTimestamp: an extension, absent where the node lacks it', async () => {
  const { client } = nodeOf({ eth_getLogs: [rpcLog] })
  const [log] = await client.getLogs({ address: token })
  expect(log).toHaveProperty('blockTimestamp', undefined)
})

test('log object, removed: true if a reorganization removed the log', async () => {
  const { client } = nodeOf({ eth_getLogs: [{ ...rpcLog, removed: true }] })
  const logs = await client.getLogs({ address: token })
  expect(logs.map(({ removed }) => removed)).toEqual([true])
})

test('eth_getBlockReceipts, result: one receipt per transaction, its fields typed', async () => {
  const { receiptOf, hash } = await transfer()
  const { blockNumber, gasUsed } = await receiptOf()
  const { receipts } = await reader.getBlockReceipts({ block: blockNumber })
  expect(receipts).toMatchObject([
    {
      transactionHash: hash,
      blockNumber,
      status: 'success',
      gasUsed,
      type: '0x2',
    },
  ])
  expect(await reader.getBlockReceipts({ block: toHex(blockNumber) })).toEqual(
    await reader.getBlockReceipts({ block: 'latest' }),
  )
})

test('eth_getBlockReceipts, pending: the receipts of the pre-confirmed block', async () => {
  const { hash } = await transfer(flash)
  await flash.preconfirmations.tick()
  const block = 'pending'
  const { receipts } = await readerOf(flash).getBlockReceipts({ block })
  expect(receipts).toMatchObject([
    { transactionHash: hash, preconfirmed: true },
  ])
  await flash.preconfirmations.seal()
})

test('difference, pending receipts: where a node has none, the newest sealed block answers and is named', async () => {
  const { receiptOf, hash } = await transfer()
  const { blockNumber, blockHash } = await receiptOf()
  const found = await reader.getBlockReceipts({ block: 'pending' })
  expect(found).toMatchObject({ blockNumber, blockHash })
  expect(found.receipts).toMatchObject([
    { transactionHash: hash, preconfirmed: false },
  ])
})

test('eth_getTransactionCount, params: address and block are required', async () => {
  const { client, asked } = nodeOf()
  for (const wrong of [{ address: to }, { block: 'latest' }])
    await expect(client.getTransactionCount(wrong as never)).rejects.toThrow(
      InvalidFieldError,
    )
  expect(asked).toEqual([])
})

test('eth_getTransactionCount, result: the nonce of the next transaction', async () => {
  const { address } = merchant.account
  const block = 'latest'
  const nonce = await reader.getTransactionCount({ address, block })
  const { transactionHash: hash } = await sendTransactionSync(merchant, {
    to: address,
    nonce,
  })
  expect(await client.getTransaction({ hash })).toMatchObject({ nonce })
  expect(await reader.getTransactionCount({ address, block })).toBe(nonce + 1)
})

test('eth_getTransactionCount, pending: includes all pre-confirmed transactions, so no nonce is skipped', async () => {
  const { address } = flash.clients.payer.account
  const count = () =>
    readerOf(flash).getTransactionCount({ address, block: 'pending' })
  const first = await count()
  for (const sent of [1, 2]) {
    await transfer(flash)
    await flash.preconfirmations.tick()
    expect(await count()).toBe(first + sent)
  }
  await flash.preconfirmations.seal()
  expect(await count()).toBe(first + 2)
})

test('eth_getBalance, params: address and block are required', async () => {
  const { client, asked } = nodeOf()
  for (const wrong of [{ address: to }, { block: 'latest' }])
    await expect(client.getBalance(wrong as never)).rejects.toThrow(
      InvalidFieldError,
    )
  expect(asked).toEqual([])
})

test('eth_getBalance, result: the native balance in wei', async () => {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await node.setBalance({ address, value: 10n ** 24n + 1n })
  expect(await reader.getBalance({ address, block: 'latest' })).toBe(
    10n ** 24n + 1n,
  )
})

test('eth_getBalance, pending: the pre-confirmed balance', async () => {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await flash.clients.relayer.sendTransaction({ to: address, value: 7n })
  await flash.preconfirmations.tick()
  const wei = (block: 'latest' | 'pending') =>
    readerOf(flash).getBalance({ address, block })
  expect([await wei('latest'), await wei('pending')]).toEqual([0n, 7n])
  await flash.preconfirmations.seal()
})

test('errors, eth_getBlockReceipts: HTTP status 403 on a public endpoint', async () => {
  const { url, asked } = await startEndpoint(limited.urls.http, () => ({
    status: 403,
    body: {},
  }))
  await expect(
    createReadClient({ url }).getBlockReceipts({ block: 'latest' }),
  ).rejects.toThrow(BlockReceiptsForbiddenError)
  expect(asked).toEqual([['eth_getBlockReceipts']])
  await expect(
    readerOf(limited).getBlockReceipts({ block: 'latest' }),
  ).rejects.toThrow(BlockReceiptsForbiddenError)
})

test('errors, eth_getLogs: a very large range that is rejected is read in parts', async () => {
  const { topics, hash, receiptOf } = await transfer(limited)
  await receiptOf()
  await limited.clients.test.mine({ blocks: 100 })
  const raw = [{ topics, fromBlock: '0x0', toBlock: 'latest' }]
  const plain = limited.clients.public
  expect((await tryRequest(plain, 'eth_getLogs', raw)).failure?.code).toBe(
    -32614,
  )
  const logs = await readerOf(limited).getLogs({ topics, fromBlock: 0n })
  expect(logs).toMatchObject([{ transactionHash: hash }])
})

test('limits, block range: at most 2,000 blocks in one request', async () => {
  const { client, asked } = nodeOf({ eth_getLogs: [] })
  await client.getLogs({ address: token, fromBlock: 1n, toBlock: 4500n })
  const ranges = asked.map(({ params: [filter] }) => {
    const { fromBlock, toBlock } = Object(filter)
    return [Number(fromBlock), Number(toBlock)]
  })
  expect(ranges.sort(([a = 0], [b = 0]) => a - b)).toEqual([
    [1, 2000],
    [2001, 4000],
    [4001, 4500],
  ])
})

test('limits, topics: a filter of more than four positions is refused', async () => {
  const { client, asked } = nodeOf()
  const topics = Array(5).fill(null)
  await expect(client.getLogs({ topics })).rejects.toThrow(InvalidFieldError)
  expect(asked).toEqual([])
})

test('limits, pre-confirmed refresh: a transaction is seen as pending within a few ticks of 200 ms', async () => {
  const live = await startDevChain({
    preconfirmations: 'flashblocks',
    blockTime: 60,
  })
  onTestFinished(() => live.stop())
  const { hash, topics } = await transfer(live)
  const pending = { fromBlock: 'pending', toBlock: 'pending' } as const
  const seen = () => readerOf(live).getLogs({ topics, ...pending })
  for (let look = 0; look < 500 && (await seen()).length === 0; look++)
    await new Promise((done) => setTimeout(done, 20))
  expect(await seen()).toMatchObject([{ transactionHash: hash }])
})

const policy = { pollingInterval: 20, relayCancellations: 'always' } as const

/** A shop of its own seller, on the chain of this file. */
const newShop = (changes: Parameters<typeof openShop>[1] = {}) =>
  openShop(chain, { ...changes, policy: { ...policy, ...changes.policy } })

/** Lets the worker do all that is due until something holds. */
async function workFor<value>(
  { orders }: Shop,
  read: () => Promise<value>,
  wanted: value,
) {
  const ends = new AbortController()
  const running = orders.run({ signal: ends.signal })
  await expect.poll(read, { timeout: 10_000 }).toEqual(wanted)
  ends.abort()
  await running
}

const workUntil = (shop: Shop, orderId: string, state: OrderState) =>
  workFor(shop, async () => (await shop.orders.get({ orderId })).state, state)

const transactionsOf = ({ seller }: Shop) =>
  getTransactionCount(client, { address: seller, blockTag: 'pending' })

async function revokeOrder(
  { orders }: Shop,
  orderId: string,
  account: PrivateKeyAccount,
) {
  const request = await orders.requestCancellation({ orderId })
  if (!request.ok) throw new Error(`nothing to cancel: ${request.reason}`)
  const { cancellation } = request
  const wallet = { account, request: async () => '0x7a69' }
  return signCancellation(wallet, {
    cancellation,
    expect: cancelPageOf(cancellation),
  })
}

test('stored authorization: the order, the message and the signature are kept under their draft', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop)

  const { order, attempts } = await rowsOf(shop, id)
  const { from, to, value, ...window } = signed.message
  expect(attempts).toMatchObject([
    {
      orderId: id,
      payer: from,
      nonce: window.nonce,
      value,
      signedAfter: window.validAfter,
      signedBefore: window.validBefore,
      // This shop keeps it in the open, in so many words.
      signature: `plain:${signed.signature}`,
    },
  ])
  expect(order).toMatchObject({ id, recipient: to, payer: from, value })
})

test('stored authorization: it is kept server-side, for whichever process captures', async () => {
  const sellers = [await fundedAccount(chain)]
  const shop = await newShop({ sellers })
  const { id, signed } = await storedOrder(chain, shop)

  const other = await newShop({ sellers, store: shop.store })
  expect(await other.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
  })
  expect(await stateOf(signed)).toBe(true)
})

test('stored authorization: protected like a payment credential, sealed and shown by nothing', async () => {
  const keys = { test: crypto.getRandomValues(new Uint8Array(32)) }
  const shop = await newShop({ seal: sealer({ keys, current: 'test' }) })
  const { id, signed } = await storedOrder(chain, shop)
  const { orders } = shop

  await orders.capture({ orderId: id })
  const told = await Promise.all([
    orders.get({ orderId: id }),
    orders.list({}),
    orders.events({}),
    orders.health(),
    rowsOf(shop, id),
  ])
  expect(told.map((one) => shows(one, signed))).toEqual(told.map(() => false))
})

test('stored authorization, replay key: a payment is stored for one order alone', async () => {
  const shop = await newShop()
  const { signed } = await storedOrder(chain, shop)
  const { order } = await shop.orders.draft({ amount })

  expect(
    await shop.orders.accept({ orderId: order.id, payment: signed }),
  ).toMatchObject({ ok: false, reason: 'wrongNonce' })
})

test('stored authorization, replay key: the store holds a payer and a nonce once', async () => {
  const shop = await newShop()
  const { id } = await storedOrder(chain, shop)
  const { attempts } = await rowsOf(shop, id)
  const { order } = await shop.orders.draft({ amount })
  const [first] = attempts
  if (!first) throw new Error('no attempt')

  const again = { ...first, orderId: order.id, number: 2 }
  await expect(
    shop.store.write((tables) => tables.attempts.insert([again])),
  ).rejects.toMatchObject({ name: 'DuplicateRecordError' })
})

test('orders, labels: drafted, signed and unused, stored and unused, used and captured', async () => {
  const shop = await newShop()
  const { orders } = shop
  const buyer = await fundedAccount(chain, 12_500_000n)
  const drafted = await orders.draft({ amount })
  const orderId = drafted.order.id
  expect(drafted.order.state).toBe('drafted')

  // The merchant does not see that it is signed.
  const payment = await pay(buyer, drafted.payment)
  expect((await orders.get({ orderId })).state).toBe('drafted')
  await orders.accept({ orderId, payment })
  expect((await orders.get({ orderId })).state).toBe('stored')
  expect(await stateOf(payment)).toBe(false)
  await orders.capture({ orderId })
  expect((await orders.get({ orderId })).state).toBe('captured')
  expect(await eventsOf(shop, orderId)).toEqual([
    'drafted',
    'accepted',
    'captureRequested',
    'capturing',
    'captured',
  ])
})

test('orders, labels: voided offchain, and canceled', async () => {
  const shop = await newShop()
  const { orders } = shop
  const voided = await storedOrder(chain, shop)
  const canceled = await storedOrder(chain, shop)

  await orders.void({ orderId: voided.id })
  const cancellation = await revokeOrder(shop, canceled.id, canceled.buyer)
  await orders.cancel({ orderId: canceled.id, cancellation })
  await workUntil(shop, canceled.id, 'canceled')
  expect((await orders.get({ orderId: voided.id })).state).toBe('voided')
  const payments = [voided.signed, canceled.signed]
  expect(await Promise.all(payments.map(stateOf))).toEqual([false, true])
})

test('orders, payer signs: stored against the order, no transaction and no transfer', async () => {
  const shop = await newShop()
  const { id, buyer, signed } = await storedOrder(chain, shop)

  expect((await rowsOf(shop, id)).order.state).toBe('stored')
  expect(await stateOf(signed)).toBe(false)
  expect(await balanceOf(buyer.address)).toBe(12_500_000n)
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, payer signs: amount, recipient, window and fresh nonce are bound by the draft', async () => {
  const shop = await newShop()
  const { payment } = await shop.orders.draft({ amount })
  const time = await now()

  expect(payment.message).toEqual({
    to: shop.seller,
    value: 12_500_000n,
    validAfter: time - 60n,
    validBefore: time + 900n,
    nonce: expect.stringMatching(/^0x[\da-f]{64}$/),
  })
})

test.each<[string, Partial<SignedPayment['message']>]>([
  ['wrongAmount', { value: 12_499_999n }],
  ['wrongRecipient', { to: '0x2222222222222222222222222222222222222222' }],
  ['wrongWindow', { validAfter: 0n }],
  ['wrongWindow', { validBefore: 4_000_000_000n }],
  ['wrongNonce', { nonce }],
])(
  'orders, payer signs: what is bound otherwise than drafted is not stored (%s)',
  async (reason, changes) => {
    const { orders } = await newShop()
    const buyer = await fundedAccount(chain, 12_500_000n)
    const { order, payment } = await orders.draft({ amount })

    const signed = await pay(buyer, payment, changes)
    expect(
      await orders.accept({ orderId: order.id, payment: signed }),
    ).toMatchObject({ ok: false, reason })
    expect((await orders.get({ orderId: order.id })).state).toBe('drafted')
  },
)

test('orders, payer signs: only the payer the order names can', async () => {
  const { orders } = await newShop()
  const [named, other] = [
    await fundedAccount(chain, 12_500_000n),
    await fundedAccount(chain, 12_500_000n),
  ]
  const payer = named.address
  const { order, payment } = await orders.draft({ amount, payer })
  const accept = async (buyer: PrivateKeyAccount) =>
    orders.accept({ orderId: order.id, payment: await pay(buyer, payment) })

  expect(await accept(other)).toMatchObject({ ok: false, reason: 'wrongPayer' })
  expect(await accept(named)).toMatchObject({ ok: true })
})

test('orders, nonce: generated per attempt, and never reused for another order', async () => {
  const shop = await newShop()
  const drafts = await Promise.all(
    Array.from({ length: 50 }, () => shop.orders.draft({ amount })),
  )
  const nonces = drafts.map(({ payment }) => payment.message.nonce)
  expect(new Set(nonces).size).toBe(50)

  const { id, buyer, signed } = await storedOrder(chain, shop)
  const cancellation = await revokeOrder(shop, id, buyer)
  await shop.orders.cancel({ orderId: id, cancellation })
  await workUntil(shop, id, 'canceled')
  const again = await shop.orders.reauthorize({ orderId: id })
  expect(again).toMatchObject({ ok: true, order: { attempt: 2 } })
  expect(again.ok && again.payment.message.nonce).not.toBe(signed.message.nonce)
})

test('orders, capture: the named recipient submits, and the order carries the transaction', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop)

  const result = await shop.orders.capture({ orderId: id })
  if (result.status !== 'captured') throw new Error(result.status)
  const { transactionHash, submitter, logIndex } = result.proof
  const { from, logs } = await receiptOf(transactionHash)
  expect([submitter, from]).toEqual([shop.seller, shop.seller])
  expect(logs.map(({ topics }) => topics[0])).toEqual([
    keccak256(stringToHex('AuthorizationUsed(address,bytes32)')),
    signatureHash,
  ])
  // The one of the transfer.
  expect(logs[1]?.logIndex).toBe(logIndex)
  expect(await stateOf(signed)).toBe(true)
  expect(await balanceOf(shop.seller)).toBe(12_500_000n)
})

test('orders, capture, condition: the current time is inside the window', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop, { window: 60n })

  await mineAt(signed.message.validBefore)
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'expired',
  })
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, capture, condition: the payer still has enough balance', async () => {
  const shop = await newShop()
  const { id, buyer } = await storedOrder(chain, shop)
  const wallet = { ...relayer, account: buyer } as Wallet

  await moveFunds(wallet)
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'insufficientFunds',
    order: { state: 'stored' },
  })
  expect(await transactionsOf(shop)).toBe(0)
})

test.each([
  ['paused', (_: Address, on: boolean) => chain.pause(on)],
  [
    'payerBlocked',
    (account: Address, blocked: boolean) => chain.block({ account, blocked }),
  ],
])(
  'orders, capture, condition: token policy allows the transfer (%s)',
  async (reason, set) => {
    const shop = await newShop()
    const { id, buyer } = await storedOrder(chain, shop)

    await set(buyer.address, true)
    const refused = await shop.orders.capture({ orderId: id })
    await set(buyer.address, false)
    expect(refused).toMatchObject({ status: 'rejected', reason })
    expect(await shop.orders.capture({ orderId: id })).toMatchObject({
      status: 'captured',
    })
  },
)

test('orders, capture: guaranteed only by the successful transaction, not by one on its way', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop)

  await node.setAutomine(false)
  const sent = shop.orders.capture({ orderId: id, timeout: 500 })
  expect(await sent).toMatchObject({
    status: 'unknown',
    order: { state: 'capturing', capture: undefined },
    resolvedBy: 'chain',
    until: signed.message.validBefore,
  })
  await node.setAutomine(true)
  await node.mine({ blocks: 1 })
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
  })
})

test('orders, cancel: the payer signs, the merchant relays, and any later capture is refused', async () => {
  const shop = await newShop()
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const cancellation = await revokeOrder(shop, id, buyer)

  await shop.orders.cancel({ orderId: id, cancellation })
  await workUntil(shop, id, 'canceled')
  const { cancellation: shown } = await shop.orders.get({ orderId: id })
  const { from, logs } = await receiptOf(shown?.transactionHash ?? '0x')
  expect(isAddressEqual(from, shop.seller)).toBe(true)
  expect(logs.map(({ topics }) => topics)).toEqual([
    [
      keccak256(stringToHex('AuthorizationCanceled(address,bytes32)')),
      pad(signed.message.from),
      signed.message.nonce,
    ],
  ])
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
  })
  expect(await transactionsOf(shop)).toBe(1)
})

test('orders, cancel, condition: before expiry, without spending gas after it', async () => {
  const shop = await newShop()
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const cancellation = await revokeOrder(shop, id, buyer)

  await mineAt(signed.message.validBefore)
  expect(await shop.orders.cancel({ orderId: id, cancellation })).toMatchObject(
    { ok: false, reason: 'expired' },
  )
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, cancel, condition: signed by the payer, for this nonce', async () => {
  const shop = await newShop()
  const [one, two] = [
    await storedOrder(chain, shop),
    await storedOrder(chain, shop),
  ]
  const cancellation = await revokeOrder(shop, two.id, two.buyer)

  expect(
    await shop.orders.cancel({ orderId: one.id, cancellation }),
  ).toMatchObject({ ok: false, reason: 'otherPayment' })
  const { signature } = cancellation
  const own = await revokeOrder(shop, one.id, one.buyer)
  expect(
    await shop.orders.cancel({
      orderId: one.id,
      cancellation: { ...own, signature },
    }),
  ).toMatchObject({ ok: false, reason: 'wrongSigner' })
})

test('orders, void: a voided order is never submitted by us', async () => {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  const shop = await newShop({
    store,
    sellers,
    policy: { capture: 'onAccept' },
  })
  const twin = await newShop({
    store,
    sellers,
    policy: { capture: 'onAccept' },
  })
  const { id, signed } = await storedOrder(chain, shop)
  const next = await storedOrder(chain, shop)

  expect(await shop.orders.void({ orderId: id })).toMatchObject({ ok: true })
  for (const { orders } of [shop, twin])
    expect(await orders.capture({ orderId: id })).toMatchObject({
      status: 'rejected',
      reason: 'notOpen',
    })
  // Both work on all that is due, and on the voided one up to its end.
  await Promise.all([
    workUntil(shop, next.id, 'captured'),
    workUntil(twin, next.id, 'captured'),
  ])
  await mineAt(signed.message.validBefore + 1n)
  const unpaid = await storedOrder(chain, shop)
  await workUntil(twin, unpaid.id, 'captured')
  expect(await transactionsOf(shop)).toBe(2)
  expect(await stateOf(signed)).toBe(false)
  expect((await shop.orders.get({ orderId: id })).state).toBe('voided')
  expect(await eventsOf(shop, id)).toEqual(['drafted', 'accepted', 'voided'])
})

test('orders, void: no chain call, and the signature stays valid until it expires', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop, {
    primaryType: 'TransferWithAuthorization',
  })

  expect(await shop.orders.void({ orderId: id })).toMatchObject({
    ok: true,
    spendableUntil: signed.message.validBefore,
  })
  expect(await transactionsOf(shop)).toBe(0)
  expect(await mine(relayer, captureCall({ payment: signed }))).toBe('success')
  await shop.orders.reconcile()
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    state: 'captured',
    unexpected: true,
    capture: { submitter: relayer.account.address.toLowerCase() },
  })
  expect(await eventsOf(shop, id)).toEqual([
    'drafted',
    'accepted',
    'voided',
    'captured',
    'refundDue',
  ])
})

test('orders, time passes validBefore: expired, unused on chain, no longer capturable', async () => {
  const shop = await newShop()
  const { id, signed } = await storedOrder(chain, shop)

  await mineAt(signed.message.validBefore)
  await workUntil(shop, id, 'expired')
  expect(await stateOf(signed)).toBe(false)
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'expired',
  })
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, events, Transfer: the payer is derived from it where the draft named none', async () => {
  const shop = await newShop()
  const { orders } = shop
  const { order, payment } = await orders.draft({
    amount,
    primaryType: 'TransferWithAuthorization',
  })
  const buyer = await fundedAccount(chain, 12_500_000n)
  const signed = await pay(buyer, payment)

  // Nobody shows it to the shop.
  expect(await mine(relayer, captureCall({ payment: signed }))).toBe('success')
  await orders.reconcile()
  expect(await orders.get({ orderId: order.id })).toMatchObject({
    state: 'captured',
    payer: signed.message.from,
  })
})

test('orders, events, removed: what a reorganization drops is taken back, and captured again', async () => {
  const own = await startDevChain({ blockTime: 0, epochBlocks: 8 })
  onTestFinished(() => own.stop())
  const shop = await openShop(own, { policy })
  const { id } = await storedOrder(own, shop)
  await shop.orders.capture({ orderId: id })
  await own.clients.test.mine({ blocks: 1 })
  await shop.orders.reconcile()

  await own.reorg({ depth: 2, transactions: 'dropped' })
  await workFor(shop, () => eventsOf(shop, id), [
    ...['drafted', 'accepted', 'captureRequested', 'capturing', 'captured'],
    ...['reorged', 'captured'],
  ])
})

test('orders, errors, capture after the nonce was canceled elsewhere: nothing is sent', async () => {
  const shop = await newShop()
  const { id, buyer } = await storedOrder(chain, shop)
  const cancellation = await revokeOrder(shop, id, buyer)

  await receiptOf(await cancelPayment(relayer, { cancellation }))
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
    order: { state: 'canceled' },
  })
  expect(await transactionsOf(shop)).toBe(0)
})

test('orders, limits: the window is 15 minutes unless asked for otherwise, and no longer than allowed', async () => {
  const shop = await newShop()
  const { order } = await shop.orders.draft({ amount })
  expect(order.validBefore - order.validAfter).toBe(960n)

  await expect(
    shop.orders.draft({ amount, window: 86_401n }),
  ).rejects.toMatchObject({ name: 'InvalidFieldError' })
})

test('orders, transitions (not shown): where an order can go is one table, and only the chain ends it', () => {
  const ends = ['captured', 'canceled', 'consumed'] as const
  for (const [from, next] of Object.entries(nextStates)) {
    const state = from as OrderState
    for (const to of Object.keys(nextStates) as OrderState[])
      if (next.includes(to))
        expect(() => checkTransition(state, to)).not.toThrow()
      else expect(() => checkTransition(state, to)).toThrow(/./)
    // What the chain shows is never refused.
    const others = ends.filter((end) => end !== state)
    expect(next).toEqual(expect.arrayContaining(others))
  }
})
