import {
  cancelPayment,
  capturePayment,
  getPaymentOutcome,
  type Payment,
} from 'countersign'
import { type Address, type Hash, pad } from 'viem'
import {
  getBlock,
  getBlockNumber,
  mine,
  sendTransaction,
  setCode,
  setNextBlockTimestamp,
  waitForTransactionReceipt,
} from 'viem/actions'
import { expect, test } from 'vitest'
import { topics } from '../../../../src/core/tokenAbi.js'
import {
  domainOf,
  draft,
  fakeNode,
  fundedAccount,
  mined,
  newAccount,
  randomHash,
  revoke,
} from '../../support/desk.js'
import { deployFamilies } from '../../support/families.js'
import {
  capture,
  chain,
  merchant,
  node,
  reader,
  relayer,
} from '../../support/outcomeDesk.js'

const { circle20, paxos } = await deployFamilies(chain)
const transfer = { primaryType: 'TransferWithAuthorization' } as const

const cancel = async (payment: Payment, signer?: typeof merchant.account) => {
  const cancellation = await revoke(chain, payment, signer)
  return mined(chain, cancelPayment(relayer, { cancellation }))
}

/** What the receipt of a capture proves, read by other means. */
async function expectedProof(hash: Hash) {
  const receipt = await waitForTransactionReceipt(reader, { hash })
  const log = receipt.logs.find(
    ({ topics: [topic] }) => topic === topics.transfer,
  )
  return {
    transactionHash: hash,
    blockHash: receipt.blockHash,
    blockNumber: receipt.blockNumber,
    logIndex: log?.logIndex,
    submitter: receipt.from,
    gasUsed: receipt.gasUsed,
    effectiveGasPrice: receipt.effectiveGasPrice,
    finality: 'included',
  }
}

test('an unspent payment in its window is unused', async () => {
  const payment = await draft(chain)
  expect(await getPaymentOutcome(reader, { payment })).toEqual({
    status: 'unused',
  })
})

test.each([
  ['known', true],
  ['found in the logs', false],
])('a capture whose transaction is %s is proven', async (_, known) => {
  const payment = await draft(chain)
  const hash = await capture(payment)
  const asked = { payment, ...(known ? { hash } : {}) }
  expect(await getPaymentOutcome(reader, asked)).toEqual({
    status: 'captured',
    proof: await expectedProof(hash),
  })
})

test('a payment is expired from validBefore on, to the second', async () => {
  const { timestamp } = await getBlock(reader)
  const validBefore = timestamp + 100n
  const payment = await draft(chain, { validBefore })
  const statusAt = async (time: bigint) => {
    await setNextBlockTimestamp(node, { timestamp: time })
    await mine(node, { blocks: 1 })
    return (await getPaymentOutcome(reader, { payment })).status
  }
  expect(await statusAt(validBefore - 1n)).toBe('unused')
  expect(await statusAt(validBefore)).toBe('expired')
})

test('a cancellation is found with its transaction', async () => {
  const payment = await draft(chain)
  const transactionHash = await cancel(payment)
  const blockNumber = await getBlockNumber(reader, { cacheTime: 0 })
  const canceled = { status: 'canceled', transactionHash, blockNumber }
  expect(await getPaymentOutcome(reader, { payment })).toEqual(canceled)
  const hash = transactionHash
  expect(await getPaymentOutcome(reader, { payment, hash })).toEqual(canceled)
})

test.each([
  ['a smaller amount', { amount: '0.01' }],
  ['another recipient', { to: newAccount().address }],
])('a nonce spent on %s is consumed, not captured', async (_, changes) => {
  const payment = await draft(chain, transfer)
  const { nonce } = payment.message
  const other = await draft(chain, { ...transfer, nonce, ...changes })
  const transactionHash = await capture(other)
  const blockNumber = await getBlockNumber(reader, { cacheTime: 0 })
  const consumed = { status: 'consumed', transactionHash, blockNumber }
  expect(await getPaymentOutcome(reader, { payment })).toEqual(consumed)
  const hash = transactionHash
  expect(await getPaymentOutcome(reader, { payment, hash })).toEqual(consumed)
})

test('a capture by a third party is a capture', async () => {
  const payment = await draft(chain, transfer)
  const hash = await mined(chain, capturePayment(relayer, { payment }))
  expect(await getPaymentOutcome(reader, { payment })).toEqual({
    status: 'captured',
    proof: await expectedProof(hash),
  })
})

test('the same message settled as another type is a capture all the same', async () => {
  const payment = await draft(chain, transfer)
  const { nonce, validAfter, validBefore } = payment.message
  const same = { nonce, validAfter, validBefore }
  const hash = await capture(await draft(chain, same))
  expect(await getPaymentOutcome(reader, { payment })).toMatchObject({
    status: 'captured',
    proof: { transactionHash: hash },
  })
})

test('a hash of an unrelated transaction changes nothing', async () => {
  const [payment, other] = [await draft(chain), await draft(chain)]
  const unrelated = await capture(other)
  expect(await getPaymentOutcome(reader, { payment, hash: unrelated })).toEqual(
    {
      status: 'unused',
    },
  )
  const hash = await capture(payment)
  for (const misleading of [unrelated, randomHash()])
    expect(
      await getPaymentOutcome(reader, { payment, hash: misleading }),
    ).toMatchObject({ status: 'captured', proof: { transactionHash: hash } })
})

test('a cancellation before the window is found with since only', async () => {
  const { timestamp } = await getBlock(reader)
  const payment = await draft(chain, {
    validAfter: timestamp + 1000n,
    validBefore: timestamp + 90_000n,
  })
  const transactionHash = await cancel(payment)
  const canceledAt = await getBlockNumber(reader, { cacheTime: 0 })
  await mine(node, { blocks: 10 })
  await chain.warp(2000)
  const search = { payment, maxBlockRange: 5n }
  const unknown = await getPaymentOutcome(reader, search)
  expect(unknown).toEqual({ status: 'unknown', searchedFrom: canceledAt + 7n })
  const since = timestamp - 1n
  expect(await getPaymentOutcome(reader, { ...search, since })).toEqual({
    status: 'canceled',
    transactionHash,
    blockNumber: canceledAt,
  })
})

test.each(['safe', 'finalized'] as const)(
  'judged at %s, a capture counts once its block does',
  async (block) => {
    await mine(node, { blocks: 70 })
    const payment = await draft(chain)
    const hash = await capture(payment)
    const asked = { payment, hash, block }
    expect(await getPaymentOutcome(reader, asked)).toEqual({ status: 'unused' })
    await mine(node, { blocks: 70 })
    expect(await getPaymentOutcome(reader, asked)).toEqual({
      status: 'captured',
      proof: { ...(await expectedProof(hash)), finality: block },
    })
  },
)

test('a block number is judged at as it was', async () => {
  const payment = await draft(chain)
  const hash = await capture(payment)
  const { blockNumber } = await expectedProof(hash)
  const at = (block: bigint) =>
    getPaymentOutcome(reader, { payment, hash, block })
  expect(await at(blockNumber - 1n)).toEqual({ status: 'unused' })
  expect((await at(blockNumber)).status).toBe('captured')
})

test('a receipt newer than the judged block is not believed', async () => {
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    const answer = await forward()
    if (method !== 'eth_getTransactionReceipt') return answer
    return { ...Object(answer), blockNumber: '0xffffff' }
  })
  const payment = await draft(chain)
  const hash = await capture(payment)
  await expect(
    getPaymentOutcome(client, { payment, hash }),
  ).rejects.toMatchObject({ name: 'NodeAnswerError' })
})

test('the token of 2020 with three states has every outcome', async () => {
  const signer = await fundedAccount(chain)
  await circle20.mint(signer.address, 50_000_000n)
  const { domain } = circle20
  const make = () => draft(chain, { signer, domain, ...transfer })
  const [unused, captured, canceled] = [
    await make(),
    await make(),
    await make(),
  ]
  await capture(captured)
  await cancel(canceled, signer)
  const statuses = await Promise.all(
    [unused, captured, canceled].map(async (payment) => {
      const { status } = await getPaymentOutcome(reader, { payment })
      return status
    }),
  )
  expect(statuses).toEqual(['unused', 'captured', 'canceled'])
})

/** A token whose functions all answer 1 and emit `AuthorizationUsed` alone. */
async function putEventOnly(payment: Payment): Promise<Address> {
  const { address } = newAccount()
  const { from, nonce } = payment.message
  const push = (value: string) => `7f${value.slice(2)}`
  const bytecode =
    `0x${push(nonce)}${push(pad(from))}${push(topics.used)}60006000a3600160005260206000f3` as const
  await setCode(node, { address, bytecode })
  return address
}

test('the event alone is never a capture', async () => {
  const first = await draft(chain)
  const token = await putEventOnly(first)
  const payment = { ...first, domain: domainOf(token.toLowerCase() as Address) }
  const sent = sendTransaction(relayer, { to: token, gas: 200_000n })
  const hash = await mined(chain, sent)
  const consumed = { status: 'consumed', transactionHash: hash }
  expect(await getPaymentOutcome(reader, { payment })).toMatchObject(consumed)
  expect(await getPaymentOutcome(reader, { payment, hash })).toMatchObject(
    consumed,
  )
})

test('an address without a token is an error', async () => {
  const payment = await draft(chain, { domain: domainOf(newAccount().address) })
  await expect(getPaymentOutcome(reader, { payment })).rejects.toMatchObject({
    name: 'UnsupportedTokenError',
    retryable: false,
  })
})

test('a Paxos capture and its silent repetition have one proof', async () => {
  const signer = await fundedAccount(chain)
  await paxos.mint(signer.address, 12_500_000n)
  const { domain } = paxos
  const payment = await draft(chain, { signer, domain, ...transfer })
  const hash = await capture(payment)
  const again = await mined(
    chain,
    capturePayment(merchant, { payment, simulate: false }),
  )
  for (const known of [hash, again, undefined])
    expect(
      await getPaymentOutcome(reader, { payment, hash: known }),
    ).toMatchObject({ status: 'captured', proof: { transactionHash: hash } })
})

test('a node without state overrides tells the same outcome', async () => {
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    if (method === 'eth_call' && (params as unknown[]).length > 2) return '0x'
    return forward()
  })
  const payment = await draft(chain)
  const hash = await capture(payment)
  expect(await getPaymentOutcome(client, { payment })).toEqual({
    status: 'captured',
    proof: await expectedProof(hash),
  })
})
