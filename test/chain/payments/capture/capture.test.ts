import {
  AccountError,
  CaptureRejectedError,
  cancelPayment,
  capturePayment,
  InvalidFieldError,
  SendError,
  type SignedPayment,
  SigningDeclinedError,
  signCapture,
  verifyPayment,
  WrongWalletError,
  waitForOutcome,
} from 'countersign'
import {
  deployDevContract,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import {
  createClient,
  createNonceManager,
  custom,
  defineChain,
  http,
  keccak256,
  parseTransaction,
  serializeTransaction,
} from 'viem'
import { toAccount } from 'viem/accounts'
import {
  getTransaction,
  sendRawTransaction,
  waitForTransactionReceipt,
} from 'viem/actions'
import { jsonRpc } from 'viem/nonce'
import { afterAll, expect, test } from 'vitest'
import {
  countOf,
  domainOf,
  draft,
  fakeNode,
  fundedAccount,
  mined,
  newAccount,
  revoke,
  rpcError,
} from '../../support/desk.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: reader, payer, merchant, relayer } = chain.clients
const seller = merchant.account
const transfer = { primaryType: 'TransferWithAuthorization' } as const

const rpcClient = createClient({
  account: seller.address,
  chain: chain.chain,
  transport: http(),
})
const providerClient = createClient({
  account: seller.address,
  transport: custom({ request: (sent) => reader.request(sent) }),
})

async function gasUsedBy(payment: SignedPayment): Promise<bigint> {
  const { message, domain } = payment
  const verdict = await verifyPayment(reader, {
    payment,
    expect: {
      token: domain.verifyingContract,
      to: message.to,
      amount: '12.50',
    },
  })
  return verdict.at?.gasUsed ?? 0n
}

test.each([
  ['a local account', merchant],
  ['a JSON-RPC account', rpcClient],
  ['an EIP-1193 provider', providerClient],
])('%s captures under a gas limit from the rehearsal', async (_, client) => {
  const payment = await draft(chain)
  const gasUsed = await gasUsedBy(payment)
  const hash = await capturePayment(client, { payment })
  const { gas } = await getTransaction(reader, { hash })
  expect(gas).toBe((gasUsed * 125n) / 100n)
  expect(await waitForOutcome(reader, { payment, hash })).toMatchObject({
    status: 'captured',
    proof: { transactionHash: hash, submitter: seller.address.toLowerCase() },
  })
})

test('the rehearsed gas is within five percent of the gas used', async () => {
  const payment = await draft(chain)
  const rehearsed = Number(await gasUsedBy(payment))
  const hash = await capturePayment(merchant, { payment })
  const { gasUsed } = await waitForTransactionReceipt(reader, { hash })
  expect(Math.abs(rehearsed / Number(gasUsed) - 1)).toBeLessThan(0.05)
})

test('the gas limit never exceeds maxCaptureGas', async () => {
  const payment = await draft(chain)
  const maxCaptureGas = ((await gasUsedBy(payment)) * 110n) / 100n
  const hash = await capturePayment(merchant, { payment, maxCaptureGas })
  const { gas } = await getTransaction(reader, { hash })
  expect(gas).toBe(maxCaptureGas)
})

test('without a rehearsal the gas limit is 300,000', async () => {
  const payment = await draft(chain)
  const { raw } = await signCapture(merchant, { payment, simulate: false })
  expect(parseTransaction(raw).gas).toBe(300_000n)
})

test.each([
  ['a local account', merchant],
  ['a JSON-RPC account', rpcClient],
])('%s sends gas, nonce and fees exactly as given', async (_, client) => {
  const payment = await draft(chain)
  const given = {
    gas: 234_567n,
    nonce: await countOf(chain, seller),
    maxFeePerGas: 7_654_321_000n,
    maxPriorityFeePerGas: 1_234_567n,
  }
  const hash = await capturePayment(client, { payment, ...given })
  expect(await getTransaction(reader, { hash })).toMatchObject(given)
})

test.each([
  ['a local account', merchant],
  ['a JSON-RPC account', rpcClient],
])('%s with a gas price sends a legacy transaction', async (_, client) => {
  const payment = await draft(chain)
  const gasPrice = 9_000_000_001n
  const hash = await capturePayment(client, { payment, gasPrice })
  expect(await getTransaction(reader, { hash })).toMatchObject({
    type: 'legacy',
    gasPrice,
  })
})

test('a fee cap alone is not paid out as the tip', async () => {
  const payment = await draft(chain)
  const maxFeePerGas = 500_000_000_000n
  const { raw } = await signCapture(merchant, { payment, maxFeePerGas })
  const sent = parseTransaction(raw)
  expect(sent.maxFeePerGas).toBe(maxFeePerGas)
  expect(sent.maxPriorityFeePerGas).toBeLessThan(maxFeePerGas / 10n)
})

test('a fee cap below the usual tip caps the tip', async () => {
  const payment = await draft(chain)
  const fees = { maxFeePerGas: 3n, simulate: false }
  const { raw } = await signCapture(merchant, { payment, ...fees })
  expect(parseTransaction(raw)).toMatchObject({
    maxFeePerGas: 3n,
    maxPriorityFeePerGas: 3n,
  })
})

test('a tip alone is kept, and the cap estimated above it', async () => {
  const payment = await draft(chain)
  const maxPriorityFeePerGas = 77_000_000_000n
  const { raw } = await signCapture(merchant, { payment, maxPriorityFeePerGas })
  const sent = parseTransaction(raw)
  expect(sent.maxPriorityFeePerGas).toBe(maxPriorityFeePerGas)
  expect(sent.maxFeePerGas).toBeGreaterThan(maxPriorityFeePerGas)
})

test('a chain without a base fee gets a legacy transaction', async () => {
  const { client } = fakeNode(
    chain,
    async ({ method }, forward) => {
      const answer = await forward()
      if (method !== 'eth_getBlockByNumber') return answer
      return { ...Object(answer), baseFeePerGas: undefined }
    },
    seller,
  )
  const payment = await draft(chain)
  const { raw } = await signCapture(client, { payment })
  const gasPrice = BigInt(await reader.request({ method: 'eth_gasPrice' }))
  expect(parseTransaction(raw)).toMatchObject({ type: 'legacy', gasPrice })
})

test('a local account with everything given asks the node once', async () => {
  const { client, methods } = fakeNode(chain, undefined, seller)
  const payment = await draft(chain)
  const fees = { maxFeePerGas: 5_000_000_000n, maxPriorityFeePerGas: 1n }
  const nonce = await countOf(chain, seller)
  const given = { gas: 200_000n, nonce, simulate: false, ...fees }
  await capturePayment(client, { payment, ...given })
  expect(methods()).toEqual(['eth_sendRawTransaction'])
})

test('a local account with fees and nonce given asks the node twice', async () => {
  const { client, methods } = fakeNode(chain, undefined, seller)
  const payment = await draft(chain)
  const fees = { maxFeePerGas: 5_000_000_000n, maxPriorityFeePerGas: 1n }
  const nonce = await countOf(chain, seller)
  await capturePayment(client, { payment, nonce, ...fees })
  expect(methods()).toEqual(['eth_call', 'eth_sendRawTransaction'])
})

test('the chain’s own serializer is used', async () => {
  const payment = await draft(chain)
  const seen: unknown[] = []
  const own = defineChain({
    ...chain.chain,
    serializers: {
      transaction: (transaction, signature) => {
        seen.push(transaction.nonce)
        return serializeTransaction(transaction, signature)
      },
    },
  })
  const client = createClient({
    account: seller,
    chain: own,
    transport: http(),
  })
  const { nonce } = await signCapture(client, { payment })
  expect(seen).toContain(nonce)
})

const refusals: [string, string, () => Promise<SignedPayment>][] = [
  [
    'a Transfer signature presented as Receive',
    'wrongSigner',
    async () => ({
      ...(await draft(chain, transfer)),
      primaryType: 'ReceiveWithAuthorization',
    }),
  ],
  [
    'a Receive signature presented as Transfer',
    'wrongSigner',
    async () => ({ ...(await draft(chain)), ...transfer }),
  ],
  [
    'a Receive payment to someone else',
    'wrongSender',
    () => draft(chain, { to: relayer.account.address }),
  ],
  [
    'a window that is over',
    'expired',
    () => draft(chain, { validAfter: 1n, validBefore: 1000n }),
  ],
  [
    'a window yet to open',
    'notYetValid',
    () =>
      draft(chain, { validAfter: 5_000_000_000n, validBefore: 6_000_000_000n }),
  ],
  [
    'more than the payer holds',
    'insufficientFunds',
    () => draft(chain, { amount: '99000' }),
  ],
  [
    'another chain',
    'wrongChain',
    () => draft(chain, { domain: { ...domainOf(chain.token), chainId: 8453 } }),
  ],
  [
    'an address without code',
    'unsupportedToken',
    () => draft(chain, { domain: domainOf(newAccount().address) }),
  ],
  [
    'another name in the domain',
    'wrongDomain',
    () => draft(chain, { domain: domainOf(chain.token, 'USDC') }),
  ],
  [
    'a payment to oneself',
    'selfPayment',
    async () => {
      const payment = await draft(chain)
      const { from } = payment.message
      return { ...payment, message: { ...payment.message, to: from } }
    },
  ],
  [
    'a payment of nothing',
    'wrongAmount',
    async () => {
      const payment = await draft(chain)
      return { ...payment, message: { ...payment.message, value: 0n } }
    },
  ],
]

test.each(refusals)(
  '%s is refused, and nothing is sent',
  async (_, reason, make) => {
    const payment = await make()
    const before = await countOf(chain, seller)
    const error = await capturePayment(merchant, { payment }).catch((e) => e)
    expect(error).toBeInstanceOf(CaptureRejectedError)
    expect(error).toMatchObject({ reason, retryable: false })
    expect(await countOf(chain, seller)).toBe(before)
  },
)

test.each([
  [
    'captured',
    (payment: SignedPayment) =>
      mined(chain, capturePayment(merchant, { payment })),
  ],
  [
    'canceled',
    async (payment: SignedPayment) =>
      mined(
        chain,
        cancelPayment(relayer, {
          cancellation: await revoke(chain, payment),
        }),
      ),
  ],
])('a nonce that is %s is refused', async (_, spend) => {
  const payment = await draft(chain)
  await spend(payment)
  const before = await countOf(chain, seller)
  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'consumed',
    details: { words: 'FiatTokenV2: authorization is used or canceled' },
  })
  expect(await countOf(chain, seller)).toBe(before)
})

test.each([
  ['payer', 'payerBlocked'],
  ['recipient', 'recipientBlocked'],
] as const)('a blocked %s is refused', async (who, reason) => {
  const [from, to] = [
    await fundedAccount(chain, 12_500_000n),
    await fundedAccount(chain),
  ]
  const payment = await draft(chain, { signer: from, to: to.address })
  await chain.block({ account: who === 'payer' ? from.address : to.address })
  await expect(
    capturePayment(reader, { payment, account: to }),
  ).rejects.toMatchObject({ name: 'CaptureRejectedError', reason })
  expect(await countOf(chain, to)).toBe(0)
})

test('a paused token is refused', async () => {
  const payment = await draft(chain)
  await chain.pause()
  const refused = capturePayment(merchant, { payment })
  await expect(refused).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    message: 'Capture rejected: paused (Pausable: paused).',
    reason: 'paused',
  })
  await chain.pause(false)
})

test('a client of another chain is refused before anything is asked', async () => {
  const { client, asked } = fakeNode(chain, undefined, seller)
  const domain = { ...domainOf(chain.token), chainId: 8453 }
  const payment = await draft(chain, { domain })
  await expect(capturePayment(client, { payment })).rejects.toMatchObject({
    reason: 'wrongChain',
  })
  expect(asked).toEqual([])
})

test.each([
  ['a contract payer', 'unsimulatedWallet', { from: chain.token }],
  ['an expired window', 'expired', { validAfter: 1n, validBefore: 1000n }],
] as const)(
  'without a rehearsal %s is refused unasked',
  async (_, reason, changes) => {
    const { client, asked } = fakeNode(chain, undefined, seller)
    const payment = await draft(chain, changes)
    const refused = capturePayment(client, { payment, simulate: false })
    await expect(refused).rejects.toMatchObject({ reason })
    expect(asked).toEqual([])
  },
)

test('without a rehearsal a window of a live chain must be open', async () => {
  const { client, asked } = fakeNode(
    { ...chain, chain: { ...chain.chain, id: 8453 } },
    undefined,
    seller,
  )
  const payment = await draft(chain, {
    domain: { ...domainOf(chain.token), chainId: 8453 },
    validAfter: BigInt(Math.floor(Date.now() / 1000)) + 500n,
    validBefore: 9_000_000_000n,
  })
  const refused = capturePayment(client, { payment, simulate: false })
  await expect(refused).rejects.toMatchObject({ reason: 'notYetValid' })
  expect(asked).toEqual([])
})

test.each(['relayer', 'merchant'] as const)(
  'a Transfer payment is captured by the %s',
  async (who) => {
    const { [who]: wallet } = chain.clients
    const payment = await draft(chain, transfer)
    const hash = await capturePayment(wallet, { payment })
    expect(await waitForOutcome(reader, { payment, hash })).toMatchObject({
      status: 'captured',
      proof: { submitter: wallet.account.address.toLowerCase() },
    })
  },
)

test('signed bytes settle when they are sent later', async () => {
  const payment = await draft(chain)
  const before = await countOf(chain, seller)
  const { hash, raw, nonce } = await signCapture(merchant, { payment })
  expect([await countOf(chain, seller), nonce]).toEqual([before, before])
  expect(hash).toBe(keccak256(raw))
  const sent = await sendRawTransaction(relayer, { serializedTransaction: raw })
  expect(sent).toBe(hash)
  const outcome = await waitForOutcome(reader, { payment, hash })
  expect(outcome.status).toBe('captured')
})

test.each([
  ['drops the connection', new TypeError('fetch failed')],
  ['answers an internal error', rpcError(-32603, 'Internal error')],
  ['answers that it timed out', rpcError(-32002, 'request timed out')],
])(
  'a node that takes the transaction and %s leaves a hash to wait for',
  async (_, failure) => {
    const { client, methods } = fakeNode(
      chain,
      async ({ method }, forward) => {
        const answer = await forward()
        if (method === 'eth_sendRawTransaction') throw failure
        return answer
      },
      seller,
    )
    const payment = await draft(chain)
    const error = await capturePayment(client, { payment }).catch((e) => e)
    expect(error).toBeInstanceOf(SendError)
    expect(error).toMatchObject({ retryable: true, maybeSent: true })
    const sends = methods().filter((it) => it === 'eth_sendRawTransaction')
    expect(sends).toHaveLength(1)
    const hash = error.details.transactionHash
    const outcome = await waitForOutcome(reader, { payment, hash })
    expect(outcome).toMatchObject({
      status: 'captured',
      proof: { transactionHash: hash },
    })
  },
)

/** A node that refuses each transaction in these words. */
const refusing = (code: number, words: string, data?: unknown) =>
  fakeNode(
    chain,
    async ({ method }, forward) => {
      if (method !== 'eth_sendRawTransaction') return forward()
      throw rpcError(code, words, data)
    },
    seller,
  ).client

test.each([
  'already known',
  'transaction already imported',
  'AlreadyKnown',
  'Known transaction',
  `known transaction: 0x${'ab'.repeat(32)}`,
])('a node that says "%s" took the transaction', async (words) => {
  const payment = await draft(chain)
  const hash = await capturePayment(refusing(-32000, words), { payment })
  expect(hash).toMatch(/^0x[\da-f]{64}$/)
})

test.each([
  [-32000, 'insufficient funds for gas * price + value'],
  [-32003, 'nonce too low'],
  [-32000, 'replacement transaction underpriced'],
  [-32000, 'unknown transaction type'],
  [-32602, 'invalid params'],
])('a node that answers %d "%s" refused for good', async (code, words) => {
  const payment = await draft(chain)
  const error = await capturePayment(refusing(code, words), { payment }).catch(
    (e) => e,
  )
  expect(error).toBeInstanceOf(SendError)
  expect(error).toMatchObject({
    message: `The transaction was not sent: ${words}.`,
    retryable: false,
    maybeSent: false,
    details: {
      words,
      code,
      transactionHash: expect.stringMatching(/^0x.{64}$/),
    },
  })
})

test('a full pool is a reason to send the same bytes later', async () => {
  const payment = await draft(chain)
  const client = refusing(-32000, 'txpool is full')
  await expect(capturePayment(client, { payment })).rejects.toMatchObject({
    name: 'SendError',
    retryable: true,
  })
})

test('real refusals of a node are final', async () => {
  const poor = newAccount()
  const payment = await draft(chain, { ...transfer })
  const given = { payment, account: poor, nonce: 0 }
  await expect(capturePayment(reader, given)).rejects.toMatchObject({
    name: 'SendError',
    retryable: false,
    details: { words: expect.stringMatching(/insufficient funds/i) },
  })
  await expect(
    capturePayment(merchant, { payment, nonce: 0 }),
  ).rejects.toMatchObject({
    retryable: false,
    details: { words: 'nonce too low' },
  })
})

test('a nonce used by these very bytes is no refusal', async () => {
  const payment = await draft(chain)
  const { raw } = await signCapture(merchant, { payment })
  const given = parseTransaction(raw)
  const options = {
    payment,
    nonce: given.nonce,
    gas: given.gas,
    maxFeePerGas: given.maxFeePerGas,
    maxPriorityFeePerGas: given.maxPriorityFeePerGas,
    simulate: false,
  }
  const hash = await mined(chain, capturePayment(merchant, options))
  expect(await capturePayment(merchant, options)).toBe(hash)
})

test('a wallet that agrees only when gas is free is refused', async () => {
  const owner = newAccount()
  const liar = await deployDevContract(chain, {
    contract: devContracts.lyingWallet,
    args: [owner.address],
  })
  await chain.mint({ to: liar, value: 12_500_000n })
  const payment = await draft(chain, { signer: owner, from: liar })
  const before = await countOf(chain, seller)
  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    name: 'CaptureRejectedError',
    reason: 'gasTooHigh',
  })
  expect(await countOf(chain, seller)).toBe(before)
})

test('a capture dearer than maxCaptureGas is refused', async () => {
  const payment = await draft(chain)
  const refused = capturePayment(merchant, { payment, maxCaptureGas: 50_000n })
  await expect(refused).rejects.toMatchObject({ reason: 'gasTooHigh' })
})

test('a contract wallet pays', async () => {
  const owner = newAccount()
  const wallet = await deployDevContract(chain, {
    contract: devContracts.strictWallet,
    args: [owner.address],
  })
  await chain.mint({ to: wallet, value: 12_500_000n })
  const payment = await draft(chain, { signer: owner, from: wallet })
  const hash = await capturePayment(merchant, { payment })
  const outcome = await waitForOutcome(reader, { payment, hash })
  expect(outcome.status).toBe('captured')
})

test.each([
  [rpcError(4001, 'User rejected the request.'), SigningDeclinedError, {}],
  [
    rpcError(-32603, 'Internal JSON-RPC error.'),
    SendError,
    { retryable: false, maybeSent: true },
  ],
  [new Error('disconnected'), SendError, { retryable: false, maybeSent: true }],
  [
    rpcError(-32000, 'insufficient funds'),
    SendError,
    { retryable: false, maybeSent: false },
  ],
])(
  'a wallet that fails with %s is asked once',
  async (failure, kind, facts) => {
    const { client, methods } = fakeNode(
      chain,
      async ({ method }, forward) => {
        if (method === 'eth_sendTransaction') throw failure
        return forward()
      },
      seller.address,
    )
    const payment = await draft(chain)
    const error = await capturePayment(client, { payment }).catch((e) => e)
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject(facts)
    const sends = methods().filter((it) => it === 'eth_sendTransaction')
    expect(sends).toHaveLength(1)
  },
)

test.each([null, '0x', 'sent', { hash: '0x' }])(
  'a wallet that answers %j may have sent',
  async (answer) => {
    const { client } = fakeNode(
      chain,
      async ({ method }, forward) =>
        method === 'eth_sendTransaction' ? answer : forward(),
      seller.address,
    )
    const payment = await draft(chain)
    await expect(capturePayment(client, { payment })).rejects.toMatchObject({
      name: 'SendError',
      maybeSent: true,
      retryable: false,
    })
  },
)

test('a wallet that moved to another chain is not asked to send', async () => {
  const { client, methods } = fakeNode(
    chain,
    async ({ method }, forward) =>
      method === 'eth_chainId' ? '0x1' : forward(),
    seller.address,
  )
  const payment = await draft(chain)
  const refused = capturePayment(client, { payment, simulate: false })
  await expect(refused).rejects.toBeInstanceOf(WrongWalletError)
  expect(methods()).toEqual(['eth_chainId'])
})

test('an account of another kind cannot sign here', async () => {
  const payment = await draft(chain)
  const error = AccountError
  await expect(signCapture(rpcClient, { payment })).rejects.toThrow(error)
  await expect(capturePayment(reader, { payment })).rejects.toThrow(error)
})

const managed = () => createNonceManager({ source: jsonRpc() })

test('a nonce manager numbers captures under way at the same time', async () => {
  const signer = { ...seller, nonceManager: managed() }
  const payments = await Promise.all([1, 2, 3].map(() => draft(chain)))
  const hashes = await Promise.all(
    payments.map((payment) =>
      capturePayment(merchant, { payment, account: signer }),
    ),
  )
  const nonces = await Promise.all(
    hashes.map(async (hash) => (await getTransaction(reader, { hash })).nonce),
  )
  const [first = 0] = nonces.sort((a, b) => a - b)
  expect(nonces).toEqual([first, first + 1, first + 2])
})

test.each([
  [
    'the signer fails',
    async () => {
      throw new Error('no')
    },
    undefined,
  ],
  ['the node refuses', seller.signTransaction, 'eth_sendRawTransaction'],
  ['the fees cannot be read', seller.signTransaction, 'eth_getBlockByNumber'],
])(
  'a nonce manager keeps no gap when %s',
  async (_, signTransaction, failing) => {
    const nonceManager = managed()
    const broken = {
      ...toAccount({ ...seller, signTransaction }),
      nonceManager,
    }
    const { client } = fakeNode(chain, async ({ method }, forward) => {
      if (method === failing) throw rpcError(-32000, 'no')
      return forward()
    })
    const payment = await draft(chain)
    await capturePayment(merchant, {
      payment: await draft(chain),
      account: { ...seller, nonceManager },
    })
    await expect(
      capturePayment(client, { payment, account: broken }),
    ).rejects.toMatchObject({ retryable: expect.any(Boolean) })
    const expected = await countOf(chain, seller)
    const sound = { ...seller, nonceManager }
    const { nonce } = await signCapture(merchant, { payment, account: sound })
    expect(nonce).toBe(expected)
  },
)

test('a signer that gives no transaction is an error of its own', async () => {
  const account = toAccount({ ...seller, signTransaction: async () => '0xzz' })
  const payment = await draft(chain)
  await expect(signCapture(reader, { payment, account })).rejects.toMatchObject(
    {
      name: 'SendError',
      message: 'The transaction was not sent: the signer gave no transaction.',
    },
  )
})

test('a malformed payment is named by its field', async () => {
  const { signature: _, ...unsigned } = await draft(chain)
  const payment = { ...unsigned, signature: '0x12' } as const
  const error = await capturePayment(merchant, { payment }).catch((e) => e)
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error.details.field).toMatch(/signature/)
})

test('the payer’s own wallet can relay a Transfer payment', async () => {
  const payment = await draft(chain, transfer)
  const hash = await capturePayment(payer, { payment })
  const outcome = await waitForOutcome(reader, { payment, hash })
  expect(outcome.status).toBe('captured')
})
