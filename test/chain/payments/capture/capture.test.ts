import {
  AccountError,
  capturePayment,
  InvalidFieldError,
  type SignedPayment,
  signCapture,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import { deployDevContract, devContracts } from 'countersign/devchain'
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
import { expect, test } from 'vitest'
import {
  chain,
  merchant,
  payer,
  reader,
  relayer,
  seller,
  transfer,
} from '../../support/captureDesk.js'
import {
  countOf,
  draft,
  fakeNode,
  newAccount,
  rpcError,
} from '../../support/desk.js'

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
