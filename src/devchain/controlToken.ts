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

/** Mints tokens, sent by the account that may appoint minters. */
export async function mintTokens(
  clients: SendingClients,
  { to, value, token }: MintDevTokensParameters & { token: Address },
): Promise<void> {
  const from = await getRole(clients, token, 'masterMinter')
  const mint = { address: token, abi, functionName: 'mint', args: [to, value] }
  // Sets an unlimited minting allowance. Mints that run at the same time share
  // it, and could use up a limited one.
  const args = [from, maxUint256]
  const allow = { address: token, abi, functionName: 'configureMinter', args }
  await sendAs(clients, { from, calls: [allow, mint] })
}

/** Pauses or unpauses the token, sent by the account that is its pauser. */
export async function pauseToken(
  clients: SendingClients,
  { token, on }: { token: Address; on: boolean },
): Promise<void> {
  const from = await getRole(clients, token, 'pauser')
  const functionName = on ? 'pause' : 'unpause'
  const call = { address: token, abi, functionName, args: [] }
  await sendAs(clients, { from, calls: [call] })
}

/**
 * Adds an account to the token's block list or removes it, sent by the account
 * that is the token's blacklister.
 */
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
