import { type Address, createClient, custom, defineChain, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { memoryStore } from '../store/memoryStore.js'
import type { CreateOrdersParameters } from './context/types.js'
import { createContext } from './createContext.js'

const silent = custom({ request: async () => null })
const chainOf = (id: number) =>
  defineChain({
    id,
    name: `Chain ${id}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })
const reader = (id = 1) =>
  createClient({ chain: chainOf(id), transport: silent })
const walletOf = (account: Address, id = 1) =>
  createClient({ chain: chainOf(id), transport: silent, account })

const token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const [one, two, three] = ['1', '2', '3'].map(
  (digit) => `0x${digit.repeat(40)}` as Address,
) as [Address, Address, Address]

const valid: CreateOrdersParameters = {
  store: memoryStore(),
  seal: 'none',
  tokens: [{ client: reader(), token }],
  wallets: [walletOf(one)],
}

test('everything is answered for: each token with each recipient of its chain', () => {
  const { destinations, recipients, wallets, policy, tokens } = createContext({
    ...valid,
    tokens: [
      { client: reader(1), token },
      { client: reader(2), token: three },
    ],
    wallets: [walletOf(one, 1), walletOf(two, 1), walletOf(two, 2)],
    recipients: [three, two],
    relayers: [two],
  })
  const usdc = token.toLowerCase()
  expect(destinations).toEqual([
    { chainId: 1, token: usdc, recipient: one },
    { chainId: 1, token: usdc, recipient: two },
    { chainId: 1, token: usdc, recipient: three },
    { chainId: 2, token: three, recipient: two },
    { chainId: 2, token: three, recipient: three },
  ])
  expect(recipients).toEqual([one, two, three])
  expect(wallets.map(({ submitter }) => submitter)).toEqual([
    { chainId: 1, account: one },
    { chainId: 1, account: two },
    { chainId: 2, account: two },
  ])
  expect(tokens.map(({ chainId }) => chainId)).toEqual([1, 2])
  expect(policy.capture).toBe('manual')
})

test('addresses are kept in lower case', () => {
  const { address } = privateKeyToAccount(`0x${'7'.repeat(64)}`)
  const { wallets, destinations } = createContext({
    ...valid,
    wallets: [walletOf(address)],
  })
  expect(wallets[0]?.submitter.account).toBe(address.toLowerCase())
  expect(destinations[0]?.recipient).toBe(address.toLowerCase())
})

test('each instance has a name of its own', () => {
  const [one, two] = [createContext(valid), createContext(valid)]
  expect(one.owner).toMatch(/^[\da-f]{32}$/)
  expect(one.owner).not.toBe(two.owner)
})

test('secrets are sealed, or said to be left open', async () => {
  const sealer = {
    current: 'sealed',
    keyNames: ['sealed'],
    seal: async () => 'sealed',
    open: async () => 'opened',
  }
  const { sealer: kept } = createContext({ ...valid, seal: sealer })
  expect(await kept.open('secret', {} as never)).toBe('opened')
  expect(kept).toMatchObject({ current: 'sealed', keyNames: ['sealed'] })
  const { sealer: open } = createContext(valid)
  expect(await open.seal('secret', {} as never)).toBe('none secret')
  // `createOrders` must refuse a broken sealer at once, and not when the first
  // buyer pays.
  const { seal, open: opened } = sealer
  for (const wrong of [
    undefined,
    'NONE',
    true,
    {},
    { seal },
    { seal, open: opened },
    { seal, open: opened, current: 'sealed' },
    { seal, open: opened, current: 'sealed', keyNames: 'sealed' },
  ])
    expect(() => createContext({ ...valid, seal: wrong as never })).toThrow(
      expect.objectContaining({
        name: 'OrdersSetupError',
        message: expect.stringContaining("give seal a sealer, or 'none'"),
      }),
    )
})

const chainless = createClient({ transport: silent, account: one })

test.each<[string, object]>([
  ['store', { store: undefined }],
  ['store', { store: { open: () => undefined } }],
  ['observe', { observe: 'console' }],
  ['recipients', { recipients: one }],
  ['tokens', { tokens: [] }],
  ['tokens', { tokens: token }],
  ['tokens[0].token', { tokens: [undefined] }],
  ['tokens[0].client', { tokens: [{ token }] }],
  ['wallets', { wallets: undefined }],
  ['wallets', { wallets: walletOf(one) }],
  ['wallets[0]', { wallets: [undefined] }],
  ['policy', { policy: null }],
  ['tokens[0].token', { tokens: [{ client: reader(), token: '0x12' }] }],
  [
    'tokens[0].token',
    { tokens: [{ client: reader(), token: token.replace('f', 'F') }] },
  ],
  ['tokens[0].client', { tokens: [{ client: chainless, token }] }],
  ['tokens[0].client', { tokens: [{ client: reader(9), token }] }],
  [
    'tokens[1].token',
    {
      tokens: [
        { client: reader(), token },
        { client: reader(), token: token.toLowerCase() },
      ],
    },
  ],
  ['tokens[0].client', { wallets: [] }],
  ['wallets[0]', { wallets: [chainless] }],
  ['wallets[1]', { wallets: [walletOf(one), walletOf(one)] }],
  ['recipients[1]', { recipients: [two, 'three'] }],
  ['policy.window', { policy: { window: 0 } }],
])('%s is refused where it is wrong', (field, changes) => {
  expect(() => createContext({ ...valid, ...changes })).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      details: expect.objectContaining({ field }),
    }),
  )
})

test('a wallet without an account is refused', () => {
  expect(() => createContext({ ...valid, wallets: [reader()] })).toThrow(
    expect.objectContaining({ name: 'AccountError' }),
  )
})

test('a promise of who watches that fails is nobody’s failure', async () => {
  const failures: unknown[] = []
  const note = (failure: unknown) => failures.push(failure)
  process.on('unhandledRejection', note)
  const observe = async () => {
    throw new Error('broken')
  }
  createContext({ ...valid, observe }).observe({ name: 'x', attributes: {} })
  // Node emits `unhandledRejection` only after the microtasks of a turn have
  // run.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(failures).toEqual([])
})

test('the only wallet of a chain sends for recipients without one', () => {
  const { relayers } = createContext({ ...valid, recipients: [three] })
  expect(relayers).toEqual([{ chainId: 1, account: one }])
})

test('of several wallets those are relayers that are named', () => {
  const wallets = [walletOf(one), walletOf(two)]
  const named = { ...valid, wallets, relayers: [two], recipients: [three] }
  expect(createContext(named).relayers).toEqual([{ chainId: 1, account: two }])
  expect(createContext({ ...valid, wallets }).relayers).toEqual([])
})

test.each([
  ['nobody is named', undefined],
  ['nobody is a relayer', []],
])(
  'orders do not start for a recipient whose payments nobody would send, as %s',
  (_, relayers) => {
    const wallets = [walletOf(one), walletOf(two)]
    const given = { ...valid, wallets, relayers, recipients: [three] }
    expect(() => createContext(given)).toThrow(
      expect.objectContaining({
        name: 'OrdersSetupError',
        details: expect.objectContaining({ chainId: 1, recipient: three }),
      }),
    )
  },
)

test.each([
  ['no wallet', [two]],
  ['no address', ['one' as Address]],
  ['no list', one as unknown as Address[]],
])('relayers that are %s are refused', (_, relayers) => {
  expect(() => createContext({ ...valid, relayers })).toThrow('relayers')
})

test.each([
  [{}, 'delegates must be a list of delegates, not'],
  [[{ address: one }], 'delegates[0].codeHash must be 0x'],
  [[{ address: '0x12', codeHash: zeroHash }], 'delegates[0].address must be'],
])('delegates %o are refused', (delegates, words) => {
  const given = { ...valid, delegates } as never
  expect(() => createContext(given)).toThrow(words)
})

test('a keccak256 that is no function is refused', () => {
  const parameters = { ...valid, keccak256: 'fast' }
  expect(() => createContext(parameters as never)).toThrow(
    'keccak256 must be a function, not "fast".',
  )
})
