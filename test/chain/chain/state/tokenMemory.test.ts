import {
  getAuthorizationState,
  getToken,
  NodeError,
  preparePayment,
  UnsupportedTokenError,
  verifyPayment,
} from 'countersign'
import { deployDevToken } from 'countersign/devchain'
import { type Address, type Client, createClient, custom } from 'viem'
import { setCode } from 'viem/actions'
import { expect, test, vi } from 'vitest'
import { sign } from '../../support/signing.js'
import {
  chain,
  circle22,
  direct,
  freshNonce,
  merchant,
  newClient,
  node,
  payer,
  type Request,
  rename,
  signer,
  spend,
} from '../../support/tokenNodes.js'

test('a token is remembered for ten minutes, by the client that asked', async () => {
  const client = newClient()
  const { token } = circle22
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const first = await getToken(client, { token })
  // A clock that is set back makes no memory longer.
  vi.setSystemTime(Date.now() - 3_600_000)
  vi.advanceTimersByTime(599_000)
  expect(await getToken(client, { token })).toEqual(first)
  expect(client.asked).toHaveLength(1)
  vi.advanceTimersByTime(1_000)
  await getToken(client, { token })
  expect(client.asked).toHaveLength(2)
  const other = newClient()
  await getToken(other, { token })
  expect(other.asked).toHaveLength(1)
})

test('callers that ask for a token at the same time share one request', async () => {
  const client = newClient()
  const { token } = circle22
  const all = await Promise.all(
    Array.from({ length: 20 }, () => getToken(client, { token })),
  )
  expect(new Set(all).size).toBe(20)
  expect(client.asked).toHaveLength(1)
})

test('what a caller makes of a token is not what is remembered', async () => {
  const client = newClient()
  const { token } = circle22
  const told = await getToken(client, { token })
  const before = structuredClone(told)

  told.domain.name = 'Changed'
  told.decimals = 2
  told.capabilities.receive = false
  expect(await getToken(client, { token })).toEqual(before)
})

test('a token is remembered whatever the letters of its address', async () => {
  const client = newClient()
  await getToken(client, {
    token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  })
  await getToken(client, { token: circle22.token })
  expect(client.asked).toHaveLength(1)
})

test('a fault is not remembered', async () => {
  let faults = 0
  const request = ({ method, params }: Request) => {
    if (faults++ === 0) throw new TypeError('fetch failed')
    return direct.request({ method, params } as never)
  }
  const transport = custom({ request }, { retryCount: 0 })
  const client = createClient({ transport })
  const { token } = circle22
  await expect(getToken(client, { token })).rejects.toThrow(NodeError)
  expect((await getToken(client, { token })).decimals).toBe(6)
})

/** Prepares a payment and has it judged after something happened. */
async function judgeAfter(
  client: Client,
  token: Address,
  happen: () => Promise<unknown>,
) {
  const to = merchant.account.address
  const prepared = await preparePayment(client, {
    token,
    from: payer,
    to,
    amount: '0.5',
  })
  await happen()
  const signature = await sign(signer, prepared)
  const verdict = await verifyPayment(client, {
    payment: { ...prepared, signature },
    expect: { token, to, amount: '0.5' },
  })
  return verdict.ok ? 'ok' : verdict.reason
}

test('a token is forgotten when a payment turns out to have its old name', async () => {
  const token = await deployDevToken(chain)
  await chain.mint({ token, to: payer, value: 10n ** 9n })
  const client = newClient()
  const reason = await judgeAfter(client, token, () =>
    rename(token, 'New Coin'),
  )
  expect(reason).toBe('wrongDomain')
  const { domain } = await getToken(client, { token })
  expect(domain.name).toBe('New Coin')
  expect(await judgeAfter(client, token, async () => undefined)).toBe('ok')
})

test('a token is forgotten when it answers no more', async () => {
  const token = await deployDevToken(chain)
  const client = newClient()
  const reason = await judgeAfter(client, token, () =>
    setCode(node, { address: token, bytecode: '0x' }),
  )
  expect(reason).toBe('unsupportedToken')
  await expect(getToken(client, { token })).rejects.toThrow(
    UnsupportedTokenError,
  )
})

test('a token is forgotten when the state of its nonces cannot be read', async () => {
  const token = await deployDevToken(chain)
  const client = newClient()
  await getToken(client, { token })
  await setCode(node, { address: token, bytecode: '0x' })
  const state = getAuthorizationState(client, {
    token,
    payer,
    nonce: freshNonce(),
  })
  await expect(state).rejects.toThrow(UnsupportedTokenError)
  await expect(getToken(client, { token })).rejects.toThrow(
    UnsupportedTokenError,
  )
})

test('another verdict forgets nothing', async () => {
  const client = newClient()
  const { token } = circle22
  await judgeAfter(client, token, () => spend(token))
  const asked = client.asked.length
  await getToken(client, { token })
  expect(client.asked).toHaveLength(asked)
})
