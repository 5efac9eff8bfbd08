import {
  type CapturePaymentSyncParameters,
  CaptureRejectedError,
  capturePaymentSync,
  type SignedPayment,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { createNonceManager, type Hex, keccak256, zeroHash } from 'viem'
import { getTransactionReceipt, mine, setAutomine } from 'viem/actions'
import { jsonRpc } from 'viem/nonce'
import { afterAll, expect, test } from 'vitest'
import {
  type Asked,
  countOf,
  draft,
  fakeNode,
  rpcError,
} from '../../support/desk.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
const { public: reader, test: node, merchant } = chain.clients
const seller = merchant.account
const syncMethod = 'eth_sendRawTransactionSync'

/** Everything given, so that only sending asks the node. */
async function given(
  payment: SignedPayment,
): Promise<CapturePaymentSyncParameters> {
  const fees = { maxFeePerGas: 50_000_000_000n, maxPriorityFeePerGas: 1n }
  const nonce = await countOf(chain, seller)
  return { payment, nonce, gas: 200_000n, simulate: false, ...fees }
}

/** A node whose sync method answers in its own way. */
const syncNode = (
  answer: (forward: () => Promise<unknown>, sent: Asked) => Promise<unknown>,
  account: Parameters<typeof fakeNode>[2] = seller,
) =>
  fakeNode(
    chain,
    async (sent, forward) =>
      sent.method === syncMethod ? answer(forward, sent) : forward(),
    account,
  )

/** Sends by the plain method, as a node that takes the transaction. */
const take = ({ params }: Asked) =>
  reader.request({
    method: 'eth_sendRawTransaction',
    params: [Object(params)[0]],
  })

test('sending and its receipt are one request', async () => {
  const payment = await draft(chain)
  const { client, methods, asked } = fakeNode(chain, undefined, seller)
  const outcome = await capturePaymentSync(client, await given(payment))
  expect(methods()).toEqual([syncMethod])
  const hash = keccak256(Object(asked[0]?.params)[0] as Hex)
  const { blockHash, gasUsed } = await getTransactionReceipt(reader, { hash })
  expect(outcome).toMatchObject({
    status: 'captured',
    proof: { transactionHash: hash, blockHash, gasUsed, finality: 'included' },
  })
})

test('a receipt without a block is only a preconfirmation', async () => {
  const payment = await draft(chain)
  const { client } = syncNode(async (forward) => ({
    ...Object(await forward()),
    blockHash: zeroHash,
  }))
  expect(await capturePaymentSync(client, { payment })).toMatchObject({
    status: 'captured',
    proof: { finality: 'preconfirmed' },
  })
})

test.each([
  [-32601, 'the method eth_sendRawTransactionSync does not exist'],
  [-32004, 'method not supported'],
  [-32600, 'Unsupported method'],
])('a node that answers %d "%s" is polled', async (code, words) => {
  const payment = await draft(chain)
  const { client, methods } = syncNode(async () => {
    throw rpcError(code, words)
  })
  const outcome = await capturePaymentSync(client, await given(payment))
  expect(outcome.status).toBe('captured')
  expect(methods().slice(0, 3)).toEqual([
    syncMethod,
    'eth_sendRawTransaction',
    'eth_getTransactionReceipt',
  ])
})

test.each([
  [
    'EIP-7966’s timeout',
    rpcError(
      4,
      'The transaction was added to the mempool but wasn’t processed',
    ),
  ],
  ['a timeout of its own', rpcError(-32000, 'request timed out')],
  ['a word that it has it', rpcError(-32000, 'already known')],
])(
  'after %s the transaction is waited for, not sent again',
  async (_, failure) => {
    const payment = await draft(chain)
    const { client, methods } = syncNode(async (_, sent) => {
      await take(sent)
      throw failure
    })
    const outcome = await capturePaymentSync(client, await given(payment))
    expect(outcome.status).toBe('captured')
    expect(methods()).not.toContain('eth_sendRawTransaction')
  },
)

test.each([
  [
    'drops the connection',
    async () => Promise.reject(new TypeError('fetch failed')),
  ],
  ['answers a hash', async () => zeroHash],
  ['answers nothing', async () => null],
  ['answers garbage', async () => ({ status: '0x1', logs: [{}] })],
  [
    'answers with a stranger’s receipt',
    async () => ({ transactionHash: zeroHash }),
  ],
])(
  'a node that takes the transaction and %s loses nothing',
  async (_, answer) => {
    const payment = await draft(chain)
    const { client } = syncNode(async (_, sent) => {
      await take(sent)
      return answer()
    })
    const outcome = await capturePaymentSync(client, await given(payment))
    expect(outcome.status).toBe('captured')
  },
)

test('a receipt of another transaction proves nothing', async () => {
  const [payment, other] = [await draft(chain), await draft(chain)]
  let receipt: unknown
  const first = syncNode(async (forward) => {
    receipt = await forward()
    return receipt
  })
  await capturePaymentSync(first.client, { payment: other })
  const { client } = syncNode(async () => receipt)
  const options = { payment, timeout: 100, pollingInterval: 5 }
  await expect(capturePaymentSync(client, options)).rejects.toMatchObject({
    name: 'OutcomeTimeoutError',
    details: { hash: expect.stringMatching(/^0x[\da-f]{64}$/) },
  })
})

test('a refusal keeps no nonce', async () => {
  const payment = await draft(chain)
  const nonceManager = createNonceManager({ source: jsonRpc() })
  const account = { ...seller, nonceManager }
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    if (/^eth_sendRaw/.test(method)) throw rpcError(-32003, 'nonce too high')
    return forward()
  })
  await expect(
    capturePaymentSync(client, { payment, account }),
  ).rejects.toMatchObject({
    name: 'SendError',
    retryable: true,
    maybeSent: false,
    details: { words: 'nonce too high' },
  })
  const next = { address: seller.address, chainId: 31337, client: reader }
  expect(await nonceManager.get(next)).toBe(await countOf(chain, seller))
})

test('a silent node leaves the hash to wait for', async () => {
  const payment = await draft(chain)
  const { client } = fakeNode(
    chain,
    async ({ method }, forward) => {
      if (/^eth_sendRaw/.test(method)) throw new TypeError('fetch failed')
      return forward()
    },
    seller,
  )
  await expect(capturePaymentSync(client, { payment })).rejects.toMatchObject({
    name: 'SendError',
    retryable: true,
    details: { transactionHash: expect.stringMatching(/^0x[\da-f]{64}$/) },
  })
})

test('a JSON-RPC account sends once and waits', async () => {
  const payment = await draft(chain)
  const { client, methods } = fakeNode(chain, undefined, seller.address)
  const outcome = await capturePaymentSync(client, { payment })
  expect(outcome).toMatchObject({
    status: 'captured',
    proof: { submitter: seller.address.toLowerCase() },
  })
  const sends = methods().filter((it) => /send/i.test(it))
  expect(sends).toEqual(['eth_sendTransaction'])
})

test('a capture that fails on chain is an error with the reason', async () => {
  const payment = await draft(chain, { amount: '90000' })
  await expect(
    capturePaymentSync(merchant, { payment, simulate: false }),
  ).rejects.toMatchObject({
    name: 'CaptureRevertedError',
    reason: 'insufficientFunds',
    details: { words: 'ERC20: transfer amount exceeds balance' },
  })
})

test('a capture that came second gives the outcome of the first', async () => {
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
  })
  const first = await capturePaymentSync(chain.clients.relayer, { payment })
  const options = { payment, simulate: false }
  expect(await capturePaymentSync(merchant, options)).toEqual(first)
})

test('what would fail is not sent', async () => {
  const payment = await draft(chain)
  await capturePaymentSync(merchant, { payment })
  const { client, methods } = fakeNode(chain, undefined, seller)
  const error = await capturePaymentSync(client, { payment }).catch((e) => e)
  expect(error).toBeInstanceOf(CaptureRejectedError)
  expect(methods()).toEqual(['eth_call'])
})

test('the time to wait counts from the sending', async () => {
  const payment = await draft(chain)
  const { client, methods } = syncNode(async (_, sent) => {
    await take(sent)
    // Longer than the whole time that the caller gives it.
    await new Promise((resolve) => setTimeout(resolve, 150))
    throw rpcError(4, 'timeout')
  })
  await setAutomine(node, false)
  const options = {
    ...(await given(payment)),
    timeout: 100,
    pollingInterval: 5,
  }
  const error = await capturePaymentSync(client, options).catch((e) => e)
  await setAutomine(node, true)
  await mine(node, { blocks: 1 })
  expect(error.name).toBe('OutcomeTimeoutError')
  // One look at what came of it, and no wait.
  expect(methods()).toEqual([syncMethod, 'eth_getTransactionReceipt'])
})
