import {
  CancelRejectedError,
  cancelPayment,
  capturePayment,
  getPaymentOutcome,
  type SignedCancellation,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import {
  deployDevContract,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import { createClient, http } from 'viem'
import {
  getTransaction,
  getTransactionReceipt,
  waitForTransactionReceipt,
} from 'viem/actions'
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
import { deployFamilies } from '../../support/families.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
const { paxos, circle20, circle21, openZeppelin } = await deployFamilies(chain)

const { public: reader, payer, merchant, relayer } = chain.clients
const rpcRelayer = createClient({
  account: relayer.account.address,
  chain: chain.chain,
  transport: http(),
})

test.each([
  ['a stranger', relayer],
  ['a JSON-RPC account', rpcRelayer],
  ['the recipient', merchant],
  ['the payer', payer],
])('%s relays a cancellation', async (_, client) => {
  const payment = await draft(chain)
  const cancellation = await revoke(chain, payment)
  const hash = await cancelPayment(client, { cancellation })
  const outcome = await waitForOutcome(reader, { payment, hash })
  const { blockNumber } = await getTransactionReceipt(reader, { hash })
  const transactionHash = hash
  expect(outcome).toEqual({ status: 'canceled', transactionHash, blockNumber })
})

test.each([
  ['Circle v2.0', circle20],
  ['Circle v2.1', circle21],
  ['Paxos', paxos],
])(
  '%s cancels, and the payment can no longer be captured',
  async (_, family) => {
    const signer = await fundedAccount(chain)
    await family.mint(signer.address, 12_500_000n)
    const payment = await draft(chain, {
      signer,
      domain: family.domain,
      primaryType: 'TransferWithAuthorization',
    })
    const cancellation = await revoke(chain, payment, signer)
    const hash = await cancelPayment(relayer, { cancellation })
    const outcome = await waitForOutcome(reader, { payment, hash })
    expect(outcome.status).toBe('canceled')
    await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
      reason: 'consumed',
    })
  },
)

test('a contract wallet cancels with a signature in bytes', async () => {
  const owner = newAccount()
  const from = await deployDevContract(chain, {
    contract: devContracts.permissiveWallet,
  })
  const payment = await draft(chain, { signer: owner, from })
  const cancellation: SignedCancellation = {
    primaryType: 'CancelAuthorization',
    domain: payment.domain,
    message: { authorizer: payment.message.from, nonce: payment.message.nonce },
    signature: `0x${'ab'.repeat(90)}`,
  }
  const hash = await mined(chain, cancelPayment(relayer, { cancellation }))
  expect(await getPaymentOutcome(reader, { payment })).toMatchObject({
    status: 'canceled',
    transactionHash: hash,
  })
})

test('a cancellation goes out under a gas limit from its rehearsal', async () => {
  const cancellation = await revoke(chain, await draft(chain))
  const hash = await cancelPayment(relayer, { cancellation })
  const receipt = await waitForTransactionReceipt(reader, { hash })
  const { gas } = await getTransaction(reader, { hash })
  const ratio = Number(gas) / Number(receipt.gasUsed)
  expect(ratio).toBeGreaterThan(1.2)
  expect(ratio).toBeLessThan(1.4)
})

test('gas, nonce and fees of a cancellation are as given', async () => {
  const cancellation = await revoke(chain, await draft(chain))
  const given = {
    gas: 123_456n,
    nonce: await countOf(chain, relayer.account),
    maxFeePerGas: 7_654_321_000n,
    maxPriorityFeePerGas: 1_234_567n,
  }
  const hash = await cancelPayment(relayer, { cancellation, ...given })
  expect(await getTransaction(reader, { hash })).toMatchObject(given)
})

/** Expects a refusal, and that no transaction went out. */
async function expectRefused(
  cancellation: SignedCancellation,
  reason: string,
): Promise<void> {
  const before = await countOf(chain, relayer.account)
  const error = await cancelPayment(relayer, { cancellation }).catch((e) => e)
  expect(error).toBeInstanceOf(CancelRejectedError)
  expect(error).toMatchObject({ reason, retryable: false })
  expect(await countOf(chain, relayer.account)).toBe(before)
}

test('a captured payment cannot be canceled', async () => {
  const payment = await draft(chain)
  const cancellation = await revoke(chain, payment)
  await mined(chain, capturePayment(merchant, { payment }))
  await expectRefused(cancellation, 'consumed')
})

test('a payment is canceled once', async () => {
  const cancellation = await revoke(chain, await draft(chain))
  await mined(chain, cancelPayment(relayer, { cancellation }))
  await expectRefused(cancellation, 'consumed')
})

test('only the payer’s signature cancels', async () => {
  const cancellation = await revoke(chain, await draft(chain))
  const { signature } = await revoke(chain, await draft(chain))
  await expectRefused({ ...cancellation, signature }, 'wrongSigner')
})

test('a paused token cancels nothing', async () => {
  const cancellation = await revoke(chain, await draft(chain))
  await chain.pause()
  await expectRefused(cancellation, 'paused')
  await chain.pause(false)
})

test('a cancellation for another chain is not sent', async () => {
  const domain = { ...domainOf(chain.token), chainId: 8453 }
  const { signature } = await revoke(chain, await draft(chain))
  const payment = await draft(chain, { domain })
  const { from: authorizer, nonce } = payment.message
  const message = { authorizer, nonce }
  const primaryType = 'CancelAuthorization'
  await expectRefused({ primaryType, domain, message, signature }, 'wrongChain')
})

test('a blocked payer can still cancel a Circle payment', async () => {
  const signer = await fundedAccount(chain)
  const payment = await draft(chain, { signer })
  await chain.block({ account: signer.address })
  const cancellation = await revoke(chain, payment, signer)
  const hash = await cancelPayment(relayer, { cancellation })
  const outcome = await waitForOutcome(reader, { payment, hash })
  expect(outcome.status).toBe('canceled')
})

test('a frozen payer cannot cancel a Paxos payment', async () => {
  const signer = await fundedAccount(chain)
  const { domain } = paxos
  const payment = await draft(chain, { signer, domain })
  await paxos.block?.(signer.address, true)
  await expectRefused(await revoke(chain, payment, signer), 'payerBlocked')
})

test('Paxos’ silent success on a spent nonce is no cancellation', async () => {
  const signer = await fundedAccount(chain)
  await paxos.mint(signer.address, 12_500_000n)
  const payment = await draft(chain, { signer, domain: paxos.domain })
  const cancellation = await revoke(chain, payment, signer)
  await mined(chain, capturePayment(merchant, { payment }))
  await expectRefused(cancellation, 'consumed')
})

test('OpenZeppelin’s token cancels', async () => {
  const payment = await draft(chain, {
    domain: openZeppelin.domain,
    decimals: 18,
  })
  const cancellation = await revoke(chain, payment)
  const hash = await cancelPayment(relayer, { cancellation })
  const outcome = await waitForOutcome(reader, { payment, hash })
  expect(outcome.status).toBe('canceled')
})

test('a canceled payment is refused by verifyPayment', async () => {
  const payment = await draft(chain)
  const cancellation = await revoke(chain, payment)
  await mined(chain, cancelPayment(relayer, { cancellation }))
  const { to } = payment.message
  const expected = { token: chain.token, to, amount: '12.50' }
  expect(
    await verifyPayment(reader, { payment, expect: expected }),
  ).toMatchObject({
    ok: false,
    reason: 'consumed',
  })
})

test('a node that takes a cancellation and fails leaves its hash', async () => {
  const { client } = fakeNode(
    chain,
    async ({ method }, forward) => {
      const answer = await forward()
      if (method === 'eth_sendRawTransaction') throw rpcError(-32603, 'oops')
      return answer
    },
    relayer.account,
  )
  const payment = await draft(chain)
  const cancellation = await revoke(chain, payment)
  const error = await cancelPayment(client, { cancellation }).catch((e) => e)
  expect(error).toMatchObject({ name: 'SendError', retryable: true })
  const hash = error.details.transactionHash
  expect(await waitForOutcome(reader, { payment, hash })).toMatchObject({
    status: 'canceled',
    transactionHash: hash,
  })
})

test('an account is needed to relay', async () => {
  const cancellation = await revoke(chain, await draft(chain))
  await expect(cancelPayment(reader, { cancellation })).rejects.toMatchObject({
    name: 'AccountError',
    retryable: false,
  })
})
