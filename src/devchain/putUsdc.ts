import {
  type Address,
  type Hex,
  isHex,
  keccak256,
  pad,
  parseAbi,
  stringToHex,
} from 'viem'
import { setCode, setStorageAt } from 'viem/actions'
import {
  devAuthority,
  devRoles,
  type InitializeTokenParameters,
} from './initializeToken.js'
import { loadUsdcArtifacts } from './loadUsdcArtifacts.js'
import { sendAs } from './sendAs.js'
import type { DevClients } from './types.js'

/** Address of the code that every proxy of USDC on a development chain runs. */
const implementation: Address = '0x00000000000000000000000000000000c0de5166'
const signatureChecker: Address = '0x00000000000000000000000000000000c0de5167'

/**
 * Admin of the proxy, who may replace the token's code. The proxy refuses all
 * other calls of its admin, so this account has no other role.
 */
const proxyAdmin: Address = '0x00000000000000000000000000000000c0de5168'

/**
 * `initializeV2_1` moves tokens that were sent to the token contract to this
 * account. A new token has received none.
 */
const lostAndFound: Address = '0x00000000000000000000000000000000c0de5169'

const initializers = parseAbi([
  'function initialize(string name, string symbol, string currency, uint8 decimals, address masterMinter, address pauser, address blacklister, address owner)',
  'function initializeV2(string name)',
  'function initializeV2_1(address lostAndFound)',
  'function initializeV2_2(address[] blocked, string symbol)',
])

/**
 * Puts Circle's own proxy, token and library on a chain, with the proxy at the
 * given address, and initializes the token as Circle does. Sends nothing from
 * the accounts of the chain's user, so their account nonces do not change.
 *
 * @throws {@link UsdcPackageNotFoundError} when the npm package is missing.
 */
export async function putUsdc(
  clients: Pick<DevClients, 'public' | 'test'>,
  { token, name, symbol, decimals }: InitializeTokenParameters,
): Promise<void> {
  await putCode(clients, token)
  const calls = [
    ['initialize', [name, symbol, 'USD', decimals, ...devRoles]],
    ['initializeV2', [name]],
    ['initializeV2_1', [lostAndFound]],
    ['initializeV2_2', [[], symbol]],
  ] as const
  await sendAs(clients, {
    from: devAuthority,
    calls: calls.map(([functionName, args]) => ({
      address: token,
      abi: initializers,
      functionName,
      args,
    })),
  })
}

async function putCode(
  { test }: Pick<DevClients, 'test'>,
  token: Address,
): Promise<void> {
  const artifacts = await loadUsdcArtifacts()
  const codes: readonly (readonly [Address, string])[] = [
    [signatureChecker, ownAddress(artifacts.signatureChecker.deployedBytecode)],
    [implementation, linked(artifacts.implementation.deployedBytecode)],
    [token, artifacts.proxy.deployedBytecode],
  ]
  for (const [address, bytecode] of codes)
    await setCode(test, { address, bytecode: asHex(bytecode) })

  const slots = [
    ['org.zeppelinos.proxy.implementation', implementation],
    ['org.zeppelinos.proxy.admin', proxyAdmin],
  ] as const
  for (const [slot, value] of slots)
    await setStorageAt(test, {
      address: token,
      index: keccak256(stringToHex(slot)),
      value: pad(value),
    })
}

/**
 * Puts the address of the library where the compiler left a placeholder for it.
 */
const linked = (code: string): string =>
  code.replace(/__\$[0-9a-f]{34}\$__/g, signatureChecker.slice(2))

/** Writes the library's own address into its code, as its deployment would. */
const ownAddress = (code: string): string =>
  code.replace(/^0x730{40}/, `0x73${signatureChecker.slice(2)}`)

function asHex(code: string): Hex {
  if (isHex(code)) return code
  throw new Error('Code of the USDC package refers to an unknown library.')
}
