import {
  cancelCall,
  DomainMismatchError,
  getAuthorizationState,
  getToken,
  InvalidFieldError,
  UnsupportedTokenError,
} from 'countersign'
import { deployDevToken, devContracts } from 'countersign/devchain'
import {
  type Abi,
  type Address,
  createClient,
  custom,
  type Hex,
  hashDomain,
  keccak256,
} from 'viem'
import { getBlock, sendTransactionSync, setCode } from 'viem/actions'
import { expect, test } from 'vitest'
import { typedDataTypes } from '../../../../src/core/typedDataTypes.js'
import type { TokenDomain } from '../../../../src/core/types.js'
import type { FamilyName } from '../../support/families.js'
import { account, sign } from '../../support/signing.js'
import {
  chain,
  circle22,
  direct,
  families,
  freshNonce,
  newClient,
  node,
  payer,
  payment,
  type Request,
  relayer,
  rename,
  signer,
  spend,
} from '../../support/tokenNodes.js'

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
      ? 'has neither receiveWithAuthorization nor transferWithAuthorization'
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
