import {
  capturePayment,
  SendError,
  SigningDeclinedError,
  signCapture,
  WrongWalletError,
  waitForOutcome,
} from 'countersign'
import { HttpRequestError, parseTransaction } from 'viem'
import { expect, test } from 'vitest'
import {
  chain,
  merchant,
  reader,
  seller,
  transfer,
} from '../../support/captureDesk.js'
import {
  draft,
  fakeNode,
  mined,
  newAccount,
  rpcError,
} from '../../support/desk.js'

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
  [-32000, 'intrinsic gas too low'],
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

test.each([
  [-32003, 'nonce too low'],
  [-32000, 'replacement transaction underpriced'],
])(
  'a nonce that another process took (%d "%s") is worth another call, which draws a new one',
  async (code, words) => {
    const payment = await draft(chain)
    const client = refusing(code, words)
    const said = { name: 'SendError', maybeSent: false }
    await expect(capturePayment(client, { payment })).rejects.toMatchObject({
      ...said,
      retryable: true,
    })
    const { nonce } = await signCapture(merchant, { payment })
    await expect(
      capturePayment(client, { payment, nonce }),
    ).rejects.toMatchObject({ ...said, retryable: false })
  },
)

test.each([
  [500, -32013, 'backend returned an invalid response'],
  [500, -32020, 'backend response too large'],
  [503, -32011, 'no backend is currently healthy to serve traffic'],
  [504, -32015, 'gateway timeout'],
  [429, -32016, 'over rate limit'],
])(
  'a gateway that answers a send with %d, %d never says that nothing was sent',
  async (status, code, message) => {
    const { client } = fakeNode(
      chain,
      async ({ method }, forward) => {
        if (method !== 'eth_sendRawTransaction') return forward()
        throw new HttpRequestError({
          url: 'http://node',
          status,
          details: JSON.stringify({ code, message }),
        })
      },
      seller,
    )
    const payment = await draft(chain)
    const error = await capturePayment(client, { payment }).catch((e) => e)
    expect(error).toMatchObject({ name: 'SendError', maybeSent: true })
    expect(error).toMatchObject({ retryable: true, details: { code } })
  },
)

test.each([
  'txpool is full',
  'insufficient funds for gas * price + value',
  'Upfront cost exceeds account balance',
  'max fee per gas less than block base fee',
  'transaction underpriced',
  'FeeTooLow, MaxFeePerGas too low',
  'in-flight transaction limit reached for delegated accounts',
  'gapped-nonce tx from delegated accounts',
  'nonce too high',
])('a node that says "%s" may take the same later', async (words) => {
  const payment = await draft(chain)
  const client = refusing(-32000, words)
  await expect(capturePayment(client, { payment })).rejects.toMatchObject({
    name: 'SendError',
    retryable: true,
    maybeSent: false,
  })
})

test('real refusals of a node say whether another try can succeed', async () => {
  const poor = newAccount()
  const payment = await draft(chain, { ...transfer })
  const given = { payment, account: poor, nonce: 0 }
  await expect(capturePayment(reader, given)).rejects.toMatchObject({
    name: 'SendError',
    retryable: true,
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
    { retryable: true, maybeSent: false },
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
