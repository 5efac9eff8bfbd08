import { type Abi, type Address, concatHex, type Hex } from 'viem'
import { setCode, writeContractSync } from 'viem/actions'
import type { TokenDomain } from '../../../src/core/types.js'
import {
  blockAccount,
  mintTokens,
  pauseToken,
} from '../../../src/devchain/controlToken.js'
import { deployDevContract } from '../../../src/devchain/deployDevContract.js'
import { deployDevToken } from '../../../src/devchain/deployDevToken.js'
import { devContracts } from '../../../src/devchain/devContracts.js'
import { putUsdc } from '../../../src/devchain/putUsdc.js'
import type { DevChain } from '../../../src/devchain/types.js'

export type FamilyName =
  | 'usdc'
  | 'circle22'
  | 'circle21'
  | 'circle20'
  | 'paxos'
  | 'openZeppelin'
  | 'decimals18'

/** A deployed token and the ways to change what it says of an account. */
export type Family = {
  name: FamilyName
  token: Address
  domain: TokenDomain
  decimals: number
  mint(to: Address, value: bigint): Promise<void>
  /** Absent where the token cannot be paused. */
  pause?: (on: boolean) => Promise<void>
  /** Absent where the token has no block list. */
  block?: (account: Address, blocked: boolean) => Promise<void>
}

/** One token of each family the library knows, on one chain. */
export async function deployFamilies(
  chain: DevChain,
): Promise<Record<FamilyName, Family>> {
  const { fiatTokenV2_0, fiatTokenV2_1 } = devContracts
  const deploy = (changes: Parameters<typeof deployDevToken>[1]) =>
    deployDevToken(chain, changes)
  return {
    usdc: await deployUsdc(chain),
    circle22: circle(chain, 'circle22', chain.token),
    circle21: circle(
      chain,
      'circle21',
      await deploy({ contract: fiatTokenV2_1 }),
    ),
    circle20: circle(
      chain,
      'circle20',
      await deploy({ contract: fiatTokenV2_0 }),
    ),
    paxos: await deployPaxos(chain),
    openZeppelin: await deployOpenZeppelin(chain),
    decimals18: circle(
      chain,
      'decimals18',
      await deploy({ name: 'Eighteen', decimals: 18 }),
      { name: 'Eighteen', decimals: 18 },
    ),
  }
}

function circle(
  { clients }: DevChain,
  family: FamilyName,
  address: Address,
  { name = 'USD Coin', decimals = 6 } = {},
): Family {
  const token = address.toLowerCase() as Address
  return {
    name: family,
    token,
    domain: domainOf(token, name, '2'),
    decimals,
    mint: (to, value) => mintTokens(clients, { token, to, value }),
    pause: (on) => pauseToken(clients, { token, on }),
    block: (account, blocked) =>
      blockAccount(clients, { token, account, blocked }),
  }
}

/** Circle's own code, beside the development token. */
async function deployUsdc(chain: DevChain): Promise<Family> {
  const token = '0x00000000000000000000000000000000c0de0dc0'
  const name = 'USD Coin'
  const words = { token, name, symbol: 'USDC', decimals: 6 } as const
  await putUsdc(chain.clients, words)
  return circle(chain, 'usdc', token)
}

async function deployPaxos(chain: DevChain): Promise<Family> {
  const contract = devContracts.paxosToken
  const args = ['PayPal USD', 'PYUSD', 6]
  const token = await deployDevContract(chain, { contract, args })
  const write = writer(chain, token, contract.abi)
  return {
    name: 'paxos',
    token: token.toLowerCase() as Address,
    domain: domainOf(token, 'PayPal USD', '1'),
    decimals: 6,
    mint: (to, value) => write('mint', to, value),
    pause: (on) => write(on ? 'pause' : 'unpause'),
    block: (account, blocked) =>
      write(blocked ? 'freeze' : 'unfreeze', account),
  }
}

async function deployOpenZeppelin(chain: DevChain): Promise<Family> {
  const contract = devContracts.ozToken
  const args = ['Open Dollar', 'OPD']
  const token = await deployDevContract(chain, { contract, args })
  const write = writer(chain, token, contract.abi)
  return {
    name: 'openZeppelin',
    token: token.toLowerCase() as Address,
    domain: domainOf(token, 'Open Dollar', '1'),
    decimals: 18,
    mint: (to, value) => write('mint', to, value),
  }
}

/** Calls the token from the account that deployed it. */
function writer({ clients }: DevChain, address: Address, abi: Abi) {
  return async (functionName: string, ...args: unknown[]): Promise<void> => {
    await writeContractSync(clients.relayer, {
      address,
      abi,
      functionName,
      args,
      gas: 500_000n,
    })
  }
}

function domainOf(token: Address, name: string, version: string): TokenDomain {
  const verifyingContract = token.toLowerCase() as Address
  return { name, version, chainId: 31337, verifyingContract }
}

/** Makes a plain account point at delegated code (EIP-7702). */
export async function delegate(
  { clients }: DevChain,
  address: Address,
  contract: { deployedBytecode: Hex },
): Promise<void> {
  const target = delegates.get(contract) ?? nextDelegate()
  delegates.set(contract, target)
  const bytecode = contract.deployedBytecode
  await setCode(clients.test, { address: target, bytecode })
  const designator = concatHex(['0xef0100', target])
  await setCode(clients.test, { address, bytecode: designator })
}

const delegates = new Map<object, Address>()
const nextDelegate = (): Address =>
  `0x7702${String(delegates.size + 1).padStart(36, '0')}`
