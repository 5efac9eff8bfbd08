import { delegateSubmitter, getDelegation } from 'countersign/batches'
import { type Hex, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { mine, setAutomine } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  chain,
  failure,
  node,
  nodeThat,
  openAccount,
  reader,
  walletOf,
} from '../support/batchDesk.js'

test('a transaction that is mined without its authorization is no delegation', async () => {
  const account = await openAccount()
  const early: PrivateKeyAccount = {
    ...account,
    signAuthorization: (asked) =>
      account.signAuthorization({ ...asked, nonce: asked.nonce + 5 }),
  }
  const error = await failure(delegateSubmitter(walletOf(early)))
  expect(error).toMatchObject({ reason: 'notApplied', retryable: true })
  expect(await reader.getCode(account)).toBeUndefined()
})

test('the wait ends in time, and the next call finds what was mined later', async () => {
  const account = await openAccount()
  const wallet = walletOf(account)
  await setAutomine(node, false)
  const error = await failure(delegateSubmitter(wallet, { timeout: 200 }))
  expect(error).toMatchObject({ reason: 'timeout', retryable: true })
  expect(error.details).toHaveProperty('transactionHash')
  await setAutomine(node, true)
  await mine(node, { blocks: 1 })
  expect(await delegateSubmitter(wallet)).toMatchObject({
    delegation: { status: 'known' },
    transactionHash: undefined,
  })
})

test('an aborted signal ends the call, and an error holds no signature', async () => {
  const account = await openAccount()
  const raws: Hex[] = []
  const wallet = nodeThat(account, async (method, params) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    raws.push(params[0] as Hex)
    throw Object.assign(new Error(`refused ${params[0]}`), { code: -32000 })
  })
  const error = await failure(delegateSubmitter(wallet))
  expect(error).toMatchObject({ name: 'SendError' })
  const { authorizationList } = parseTransaction(raws[0] ?? '0x')
  const { r = '' } = authorizationList?.[0] ?? {}
  expect(r).toMatch(/^0x[\da-f]{60}/)
  const written = JSON.stringify(error) + error.stack
  expect(written).not.toContain(r.slice(2))
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(
    delegateSubmitter(walletOf(account), { signal }),
  ).rejects.toThrow('enough')
})

test.each([
  ['a cut off delegation', 'eth_getCode', '0xef010063c0c19a'],
  ['no bytes', 'eth_getCode', null],
  ['another chain', 'eth_chainId', '0x1'],
])('a node that answers %s is reported', async (_, faulty, answer) => {
  const account = await openAccount()
  const wallet = nodeThat(account, async (method) =>
    method === faulty ? { answer } : undefined,
  )
  for (const ask of [
    () => getDelegation(wallet, { account: account.address }),
    () => delegateSubmitter(wallet),
  ])
    await expect(ask()).rejects.toMatchObject({ name: 'NodeAnswerError' })
})

test.each([
  [undefined, 2],
  ['calibur', 3],
  ['metamask', 6],
] as const)(
  'asking about an account that is delegated to %s takes %i requests',
  async (delegate, count) => {
    const account = await openAccount()
    if (delegate) await delegateSubmitter(walletOf(account), { delegate })
    const methods: string[] = []
    const counted = nodeThat(account, async (method) => {
      methods.push(method)
      return undefined
    })
    await getDelegation(counted, { account: account.address })
    expect(methods).toHaveLength(count)
    if (delegate) await delegateSubmitter(counted, { delegate })
    expect(methods).toHaveLength(delegate ? 2 * count : count)
  },
)

test('a node that does not answer is reported', async () => {
  const account = await openAccount()
  const wallet = nodeThat(account, async () => {
    throw new TypeError('fetch failed')
  })
  await expect(
    getDelegation(wallet, { account: account.address }),
  ).rejects.toMatchObject({ name: 'NodeError', retryable: true })
})

test.each([
  [{ delegate: 'safe' }, /delegate must be one of metamask, calibur/],
  [{ delegate: { address: chain.token } }, /delegate.codeHash must be 0x/],
  [{ delegates: 'metamask' }, /parameters must be an object with only/],
  [{ timeout: '1' }, /timeout must be milliseconds/],
  [{ gasPrice: 1n }, /parameters must be an object with only/],
])('a parameter is refused: %o', async (parameters, words) => {
  const account = await openAccount()
  await expect(
    delegateSubmitter(walletOf(account), parameters as never),
  ).rejects.toThrow(words)
})
