import { devContracts, startDevChain } from 'countersign/devchain'
import {
  type Address,
  type Client,
  createClient,
  custom,
  type Hex,
  http,
  pad,
} from 'viem'
import { getBlock, setCode } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { runCalls } from '../../../../src/chain/state/runCalls.js'
import { runPlainCalls } from '../../../../src/chain/state/runPlainCalls.js'
import type { Call } from '../../../../src/chain/state/types.js'
import { selectors } from '../../../../src/core/tokenAbi.js'
import { word } from '../../../../src/core/words.js'
import { balanceCall } from '../../../../src/payments/verify/rehearse.js'
import { delegate } from '../../support/families.js'
import { account } from '../../support/signing.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { token, clients } = chain
const { public: client, test: node } = clients
const [payer, merchant] = chain.accounts.map(
  ({ address }) => address.toLowerCase() as Address,
) as [Address, Address]
const block = 'latest'

/** Puts code where nothing is, and gives the place. */
async function place(label: string, bytecode: Hex): Promise<Address> {
  const address = account(label).address.toLowerCase() as Address
  await setCode(node, { address, bytecode })
  return address
}

const direct = createClient({
  transport: http(chain.urls.http, { retryCount: 0 }),
})

/** The node without overrides. */
const plainClient = (): Client =>
  createClient({
    transport: custom({
      request: ({ method, params = [] }) =>
        direct.request({
          method,
          params: method === 'eth_call' ? params.slice(0, 2) : params,
        } as never),
    }),
  })

const ask = (target: Address, data = '', gas = 100_000): Call => ({
  target,
  data,
  gas,
})

const balanceOf = (owner: Address) => ask(token, balanceCall(token, owner).data)

/** `transfer(address,uint256)` */
const transfer = (to: Address, value: bigint) =>
  ask(token, `a9059cbb${word(to)}${word(value)}`)

/** Returns caller, origin, gas price, each a word. */
const mirror = await place('mirror', '0x335f52326020523a60405260605ff3')
const burner = await place('burner', '0xfe')
const refuser = await place('refuser', '0x63deadbeef5f526004601cfd')

test('a call comes from the account, in a transaction of the origin', async () => {
  const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 5n }
  const { baseFeePerGas } = await getBlock(client)
  const { calls } = await runCalls(client, {
    fallback: runPlainCalls,
    from: merchant,
    origin: payer,
    fees,
    calls: { mirror: ask(mirror) },
    block,
  })
  const price = (baseFeePerGas ?? 0n) + 5n
  expect(calls.mirror.data).toBe(
    pad(merchant) + pad(payer).slice(2) + word(price),
  )
})

test('without an origin the account sends for itself, at a real price', async () => {
  const { calls } = await runCalls(client, {
    fallback: runPlainCalls,
    from: merchant,
    calls: { mirror: ask(mirror) },
    block,
  })
  const [caller, origin, price] =
    calls.mirror.data.slice(2).match(/.{64}/g) ?? []
  expect([caller, origin]).toEqual([word(merchant), word(merchant)])
  expect(BigInt(`0x${price}`)).toBeGreaterThan(0n)
})

test('steps are simulated in order and undone before the calls', async () => {
  const before = await balance(payer)
  const { steps, calls } = await runCalls(client, {
    fallback: runPlainCalls,
    from: payer,
    steps: [transfer(merchant, 7n), balanceOf(payer), transfer(merchant, 1n)],
    calls: { payer: balanceOf(payer) },
    block,
  })
  expect(steps.map(({ ok }) => ok)).toEqual([true, true, true])
  expect(BigInt(steps[1]?.data ?? '0x')).toBe(before - 7n)
  expect(BigInt(calls.payer.data)).toBe(before)
  expect(await balance(payer)).toBe(before)
})

async function balance(owner: Address): Promise<bigint> {
  const { data = '0x' } = await client.call({
    to: token,
    data: `0x${balanceCall(token, owner).data}`,
  })
  return BigInt(data)
}

test('what is asked beside the steps does not change their gas', async () => {
  const gasOf = async (calls: Record<string, Call>) => {
    const steps = [transfer(merchant, 7n)]
    const run = await runCalls(client, {
      fallback: runPlainCalls,
      from: payer,
      steps,
      calls,
      block,
    })
    return run.steps[0]?.gasUsed
  }
  const alone = await gasOf({})
  expect(alone).toBeGreaterThan(20_000n)
  expect(await gasOf({ a: balanceOf(payer), b: balanceOf(merchant) })).toBe(
    alone,
  )
})

test('the head is that of the block asked for', async () => {
  const { number, timestamp } = await getBlock(client, { blockNumber: 2n })
  const { head } = await runCalls(client, {
    fallback: runPlainCalls,
    from: payer,
    calls: {},
    block: 2n,
  })
  expect(head).toEqual({ number, timestamp, chainId: 31337, via: 'override' })
})

for (const [via, by] of [
  ['override', () => client],
  ['calls', plainClient],
] as const) {
  test(`each call keeps its own answer, name and gas (${via})`, async () => {
    const { calls, head } = await runCalls(by(), {
      fallback: runPlainCalls,
      from: payer,
      calls: {
        burnt: ask(burner),
        refused: ask(refuser),
        empty: ask(account('nobody').address as Address, '00'),
        told: ask(token, selectors.decimals),
      },
      block,
    })
    expect(head.via).toBe(via)
    expect(calls).toMatchObject({
      burnt: { ok: false, data: '0x' },
      refused: { ok: false, data: '0xdeadbeef' },
      empty: { ok: true, data: '0x' },
      told: { ok: true, data: pad('0x06') },
    })
  })

  test(`code is seen where it is, delegated code too (${via})`, async () => {
    const { address } = account('delegated')
    await delegate(chain, address, devContracts.strictDelegate)
    const { calls } = await runCalls(by(), {
      fallback: runPlainCalls,
      from: payer,
      calls: {
        token: ask(token, '', 0),
        delegated: ask(address, '', 0),
        key: ask(account('key').address, '', 0),
      },
      block,
    })
    const seen = Object.values(calls).map(({ hasCode }) => hasCode)
    expect(seen).toEqual([true, true, false])
  })

  test(`a call gets its own gas and no more (${via})`, async () => {
    const enough = async (gas: number) => {
      const calls = { it: ask(token, balanceOf(payer).data, gas) }
      return (
        await runCalls(by(), {
          fallback: runPlainCalls,
          from: payer,
          calls,
          block,
        })
      ).calls.it.ok
    }
    expect(await enough(10_000)).toBe(true)
    expect(await enough(500)).toBe(false)
  })
}
