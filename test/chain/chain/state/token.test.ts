import {
  cancelCall,
  captureCall,
  DomainMismatchError,
  getAuthorizationState,
  getToken,
  InvalidFieldError,
  NodeError,
  type Payment,
  preparePayment,
  UnsupportedTokenError,
  verifyPayment,
} from 'countersign'
import {
  deployDevToken,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import {
  type Abi,
  type Address,
  type Client,
  createClient,
  custom,
  type Hex,
  hashDomain,
  http,
  keccak256,
  stringToHex,
} from 'viem'
import { getBlock, sendTransactionSync, setCode } from 'viem/actions'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { typedDataTypes } from '../../../../src/core/typedDataTypes.js'
import type { TokenDomain } from '../../../../src/core/types.js'
import { devAuthority } from '../../../../src/devchain/initializeToken.js'
import { sendAs } from '../../../../src/devchain/sendAs.js'
import { deployFamilies, type FamilyName } from '../../support/families.js'
import { account, sign } from '../../support/signing.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
afterEach(() => {
  vi.useRealTimers()
})

const { merchant, relayer, test: node } = chain.clients
const families = await deployFamilies(chain)
const { circle22 } = families
const direct = createClient({
  transport: http(chain.urls.http, { retryCount: 0 }),
})

type Request = { method: string; params: readonly unknown[] }

/** A client that counts what it asks; with `plain`, without overrides. */
function newClient({ plain = false } = {}): Client & { asked: Request[] } {
  const asked: Request[] = []
  const request = ({ method, params = [] }: Request) => {
    asked.push({ method, params })
    const kept = plain && method === 'eth_call' ? params.slice(0, 2) : params
    return direct.request({ method, params: kept } as never)
  }
  return Object.assign(
    createClient({ transport: custom({ request }, { retryCount: 0 }) }),
    {
      asked,
    },
  )
}

const separatorOf = ({ chainId, ...domain }: TokenDomain): Hex =>
  hashDomain({
    domain: { ...domain, chainId: BigInt(chainId) },
    types: typedDataTypes,
  })

const everything = {
  receive: true,
  transfer: true,
  cancel: true,
  bytes: true,
  pause: true,
  blockList: true,
  stateEnum: false,
}

const told = [
  ['usdc', 6, everything],
  ['circle22', 6, everything],
  ['circle21', 6, { ...everything, bytes: false }],
  [
    'circle20',
    6,
    { ...everything, receive: false, bytes: false, stateEnum: true },
  ],
  ['paxos', 6, everything],
  [
    'openZeppelin',
    18,
    { ...everything, bytes: false, pause: false, blockList: false },
  ],
  ['decimals18', 18, everything],
] as const

for (const plain of [false, true]) {
  const way = plain ? 'plain calls' : 'one request'

  test.each(told)(
    `%s tells what it is by ${way}`,
    async (name, decimals, capabilities) => {
      const { token, domain } = families[name as FamilyName]
      const client = newClient({ plain })
      const found = await getToken(client, { token })
      expect(found).toEqual({ domain, decimals, capabilities })
      if (!plain) expect(client.asked).toHaveLength(1)
    },
  )

  test(`a paused token tells the same (${way})`, async () => {
    const { token, domain, pause } = families.paxos
    await pause?.(true)
    const found = await getToken(newClient({ plain }), { token })
    await pause?.(false)
    expect(found).toEqual({ domain, decimals: 6, capabilities: everything })
  })

  test.each([
    ['an account', account('nobody').address, undefined],
    [
      'a wallet',
      account('a wallet').address,
      devContracts.strictWallet.deployedBytecode,
    ],
    [
      'a contract that succeeds at everything',
      account('yes').address,
      '0x60015f5260205ff3',
    ],
    [
      'a contract that is silent at everything',
      account('silence').address,
      '0x00',
    ],
    [
      'a contract that refuses everything',
      account('no').address,
      '0x63deadbeef5f526004601cfd',
    ],
    ['a contract that burns everything', account('burn').address, '0xfe'],
  ] as const)(`%s is no token (${way})`, async (_, address, bytecode) => {
    if (bytecode) await setCode(node, { address, bytecode })
    const found = getToken(newClient({ plain }), { token: address })
    const problem = bytecode
      ? 'has no function of EIP-3009'
      : 'has no code on chain 31337'
    const token = address.toLowerCase()
    await expect(found).rejects.toThrow(
      new UnsupportedTokenError({ token, problem }),
    )
  })

  test(`the state of a nonce, of three values or of two (${way})`, async () => {
    for (const { token } of [families.circle20, circle22]) {
      const spent = {
        captured: await spend(token),
        canceled: await revoke(token),
      }
      const state = (nonce: Hex) =>
        getAuthorizationState(newClient({ plain }), { token, payer, nonce })
      expect(await state(spent.captured)).toBe(true)
      expect(await state(spent.canceled)).toBe(true)
      expect(await state(freshNonce())).toBe(false)
    }
  })

  test(`the state is that of the block asked for (${way})`, async () => {
    const { token } = circle22
    const block = (await getBlock(direct)).number
    const nonce = await revoke(token)
    const client = newClient({ plain })
    const state = (at?: bigint) =>
      getAuthorizationState(client, { token, payer, nonce, block: at })
    expect(await state(block)).toBe(false)
    expect(await state(block + 1n)).toBe(true)
    expect(await state()).toBe(true)
  })

  test(`no token has no state (${way})`, async () => {
    const parameters = {
      token: account('none').address,
      payer,
      nonce: freshNonce(),
    }
    const state = getAuthorizationState(newClient({ plain }), parameters)
    await expect(state).rejects.toThrow(UnsupportedTokenError)
  })
}

const signer = account('token payer')
const payer = signer.address
for (const { mint } of Object.values(families)) await mint(payer, 10n ** 9n)

let nonces = 0
const freshNonce = (): Hex => keccak256(stringToHex(`token ${nonces++}`))

const familyOf = (token: Address) => {
  const family = Object.values(families).find((it) => it.token === token)
  if (!family) throw new Error(`No family has ${token}.`)
  return family
}

function payment(token: Address, nonce = freshNonce()): Payment {
  return {
    primaryType: 'TransferWithAuthorization',
    domain: familyOf(token).domain,
    message: {
      from: payer.toLowerCase() as Address,
      to: merchant.account.address.toLowerCase() as Address,
      value: 1n,
      validAfter: 0n,
      validBefore: 2n ** 40n,
      nonce,
    },
  }
}

/** Uses a nonce and gives it. */
async function spend(token: Address): Promise<Hex> {
  const unsigned = payment(token)
  const signature = await sign(signer, unsigned)
  const { to, data } = captureCall({ payment: { ...unsigned, signature } })
  await sendTransactionSync(relayer, { to, data })
  return unsigned.message.nonce
}

/** Cancels a nonce and gives it. */
async function revoke(token: Address): Promise<Hex> {
  const { domain, message } = payment(token)
  const { nonce, from: authorizer } = message
  const primaryType = 'CancelAuthorization'
  const unsigned = {
    primaryType,
    domain,
    message: { authorizer, nonce },
  } as const
  const signature = await sign(signer, unsigned)
  const { to, data } = cancelCall({ cancellation: { ...unsigned, signature } })
  await sendTransactionSync(relayer, { to, data })
  return nonce
}

test('a mistyped address is refused before anything is asked', async () => {
  const client = newClient()
  const token = circle22.token.replace('0x', '0X').toUpperCase() as Address
  await expect(
    getToken(client, { token: `${token}0` as Address }),
  ).rejects.toThrow(InvalidFieldError)
  const mixed = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914'
  await expect(getToken(client, { token: mixed })).rejects.toThrow(
    InvalidFieldError,
  )
  const state = getAuthorizationState(client, {
    token: circle22.token,
    payer,
    nonce: '0x01',
  })
  await expect(state).rejects.toThrow(InvalidFieldError)
  expect(client.asked).toEqual([])
})

async function rename(token: Address, name: string): Promise<void> {
  const { abi } = devContracts.fiatTokenV2_2
  const call = { address: token, abi, functionName: 'updateName', args: [name] }
  await sendAs(chain.clients, { from: devAuthority, calls: [call] })
}

/** A token whose separator stays at the name it had first. */
async function renamed(contract: { abi: Abi; bytecode: Hex }) {
  const name = 'Euro Coin'
  const deployed = await deployDevToken(chain, { contract, name })
  const token = deployed.toLowerCase() as Address
  await rename(token, 'Coin')
  const domain = { version: '2', chainId: 31337, verifyingContract: token }
  const separator = separatorOf({ ...domain, name: 'Coin' })
  return { token, separator, onChain: separatorOf({ ...domain, name }) }
}

test('a name that no longer gives the separator is an error with both', async () => {
  const contract = devContracts.fiatTokenV2_1
  const { token, onChain, separator } = await renamed(contract)
  const error = await getToken(newClient(), { token }).catch((it) => it)
  expect(error).toBeInstanceOf(DomainMismatchError)
  expect(error.message).toContain(onChain)
  expect(error.message).toContain(separator)
  expect(error.details).toMatchObject({ token, onChain })
  const [first] = error.details.tried
  expect(first).toEqual({ name: 'Coin', version: '2', separator })
})

test('without a version the usual ones are tried, and named when none fits', async () => {
  const { token } = await renamed(devContracts.fiatTokenV2_0)
  const error = await getToken(newClient(), { token }).catch((it) => it)
  expect(error.details.tried.slice(0, 2)).toMatchObject([
    { name: 'Coin', version: '2' },
    { name: 'Coin', version: '1' },
  ])
})

test('a renamed token whose separator follows is read under its new name', async () => {
  const token = await deployDevToken(chain)
  await rename(token, 'Digital Dollar')
  const { domain } = await getToken(newClient(), { token })
  expect(domain.name).toBe('Digital Dollar')
})

test('a token that signs under the name of a known one is proven by it', async () => {
  const contract = devContracts.fiatTokenV2_1
  const token = await deployDevToken(chain, { contract, name: 'USDC' })
  await rename(token, 'Renamed')
  const { domain } = await getToken(newClient(), { token })
  expect(domain).toEqual({
    name: 'USDC',
    version: '2',
    chainId: 31337,
    verifyingContract: token.toLowerCase(),
  })
})

test('a token is remembered for ten minutes, by the client that asked', async () => {
  const client = newClient()
  const { token } = circle22
  const start = Date.now()
  vi.useFakeTimers({ now: start, toFake: ['Date'] })
  const first = await getToken(client, { token })
  vi.setSystemTime(start + 599_000)
  expect(await getToken(client, { token })).toEqual(first)
  expect(client.asked).toHaveLength(1)
  vi.setSystemTime(start + 600_000)
  await getToken(client, { token })
  expect(client.asked).toHaveLength(2)
  const other = newClient()
  await getToken(other, { token })
  expect(other.asked).toHaveLength(1)
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

test('a separator that an override forges is a mismatch', async () => {
  const forged = keccak256('0x01')
  const real = separatorOf(circle22.domain)
  const request = async ({ method, params }: Request) => {
    const answer = await direct.request({ method, params } as never)
    return String(answer).replace(real.slice(2), forged.slice(2))
  }
  const client = createClient({
    transport: custom({ request }, { retryCount: 0 }),
  })
  const error = await getToken(client, { token: circle22.token }).catch(
    (it) => it,
  )
  expect(error).toBeInstanceOf(DomainMismatchError)
  expect(error.details.onChain).toBe(forged)
})
