import { devContracts, startDevChain } from 'countersign/devchain'
import { parseTransaction } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { sendRawBatch } from '../../../../src/payments/capture/sendRawBatch.js'
import { signFiller } from '../../../../src/payments/capture/signFiller.js'
import { fakeNode, fundedAccount } from '../../support/desk.js'
import { delegate } from '../../support/families.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: reader, test: control } = chain.clients
const gwei = 10n ** 9n
const priced = (price: bigint) =>
  ({
    type: 'eip1559',
    maxFeePerGas: price * gwei,
    maxPriorityFeePerGas: price * gwei,
  }) as const

test('a release takes the place of a transaction and frees the next', async () => {
  const account = await fundedAccount(chain)
  const { client, asked } = fakeNode(chain)
  const sign = (nonce: number, price: bigint) =>
    signFiller(client, account, { nonce, chainId: 31337, fees: priced(price) })
  const [stuck, next] = [await sign(0, 3n), await sign(1, 3n)]
  const release = await sign(0, 4n)
  expect(asked).toEqual([])
  expect(release).toMatchObject({
    nonce: 0,
    hash: expect.not.stringMatching(stuck.hash),
  })

  await control.setAutomine(false)
  // One after the other: the node takes a batch in any order.
  const outcomes = [
    ...(await sendRawBatch(reader, [stuck, next])),
    ...(await sendRawBatch(reader, [release])),
  ]
  await control.mine({ blocks: 1 })
  await control.setAutomine(true)
  expect(outcomes.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent'])
  for (const { hash } of [release, next]) {
    const { status, gasUsed } = await reader.getTransactionReceipt({ hash })
    expect([status, gasUsed]).toEqual(['success', 21_000n])
  }
  await expect(reader.getTransactionReceipt(stuck)).rejects.toThrow(
    'not be found',
  )
})

test('a release moves nothing and calls nobody else', async () => {
  const account = await fundedAccount(chain)
  const { raw } = await signFiller(reader, account, {
    nonce: 7,
    chainId: 31337,
    fees: { type: 'legacy', gasPrice: gwei },
  })
  const { to, value, data, nonce, gas, gasPrice } = parseTransaction(raw)
  expect({ to, value, data, nonce, gas, gasPrice }).toEqual({
    to: account.address.toLowerCase(),
    value: undefined,
    data: undefined,
    nonce: 7,
    gas: 21_000n,
    gasPrice: gwei,
  })
})

test('an account with delegated code is released with more gas', async () => {
  const account = await fundedAccount(chain)
  await delegate(chain, account.address, devContracts.strictDelegate)
  const release = await signFiller(reader, account, {
    nonce: 0,
    chainId: 31337,
    gas: 60_000n,
    fees: priced(3n),
  })
  await sendRawBatch(reader, [release])
  const { hash } = release
  await reader.waitForTransactionReceipt({ hash })
  expect(await reader.getTransactionCount(account)).toBe(1)
})

test('an account whose key is elsewhere cannot sign a release', async () => {
  const { address } = await fundedAccount(chain)
  const account = { address, type: 'json-rpc' } as const
  const parameters = { nonce: 0, chainId: 31337, fees: priced(1n) }
  await expect(signFiller(reader, account, parameters)).rejects.toMatchObject({
    name: 'AccountError',
  })
})
