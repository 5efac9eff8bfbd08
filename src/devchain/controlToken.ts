import { type Address, maxUint256 } from 'viem'
import { readContract } from 'viem/actions'
import { fiatTokenV2_2Artifact } from './contracts/FiatTokenV2_2.generated.js'
import { type SendingClients, sendAs } from './sendAs.js'
import type {
  BlockDevAccountParameters,
  MintDevTokensParameters,
} from './types.js'

type Role = 'masterMinter' | 'pauser' | 'blacklister'

const { abi } = fiatTokenV2_2Artifact

/** Mints through the token's own master minter. */
export async function mintTokens(
  clients: SendingClients,
  { to, value, token }: MintDevTokensParameters & { token: Address },
): Promise<void> {
  const from = await getRole(clients, token, 'masterMinter')
  const mint = { address: token, abi, functionName: 'mint', args: [to, value] }
  // An unlimited allowance: parallel mints must not use up each other's.
  const args = [from, maxUint256]
  const allow = { address: token, abi, functionName: 'configureMinter', args }
  await sendAs(clients, { from, calls: [allow, mint] })
}

/** Pauses or resumes the token through its own pauser. */
export async function pauseToken(
  clients: SendingClients,
  { token, on }: { token: Address; on: boolean },
): Promise<void> {
  const from = await getRole(clients, token, 'pauser')
  const functionName = on ? 'pause' : 'unpause'
  const call = { address: token, abi, functionName, args: [] }
  await sendAs(clients, { from, calls: [call] })
}

/** Changes the token's block list through its own blacklister. */
export async function blockAccount(
  clients: SendingClients,
  {
    token,
    account,
    blocked = true,
  }: BlockDevAccountParameters & { token: Address },
): Promise<void> {
  const from = await getRole(clients, token, 'blacklister')
  const functionName = blocked ? 'blacklist' : 'unBlacklist'
  const call = { address: token, abi, functionName, args: [account] }
  await sendAs(clients, { from, calls: [call] })
}

async function getRole(
  clients: SendingClients,
  token: Address,
  role: Role,
): Promise<Address> {
  return readContract(clients.public, {
    address: token,
    abi,
    functionName: role,
  })
}
