import { type DevChain, devContracts } from 'countersign/devchain'
import type { Shop } from './openShop.js'
import type { Balances, Hash } from './types.js'

const { abi } = devContracts.fiatTokenV2_2

/** What every story's payer starts with at least: 10,000 USDC. */
const purse = 10_000n * 10n ** 6n

export async function fillPurse(chain: DevChain): Promise<void> {
  const to = chain.clients.payer.account.address
  const balance = await balanceOf(chain, to)
  if (balance < purse) await chain.mint({ to, value: purse - balance })
}

export async function readBalances(
  chain: DevChain,
  { merchant }: Pick<Shop, 'merchant'>,
): Promise<Balances> {
  return {
    payer: await balanceOf(chain, chain.clients.payer.account.address),
    merchant: await balanceOf(chain, merchant.account.address),
    savings: await balanceOf(chain, savingsOf(chain)),
  }
}

/** Sends all the payer has to an account nobody pays from. */
export async function moveToSavings(chain: DevChain): Promise<Hash> {
  const { payer } = chain.clients
  const balance = await balanceOf(chain, payer.account.address)
  return payer.writeContract({
    address: chain.token,
    abi,
    functionName: 'transfer',
    args: [savingsOf(chain), balance],
  })
}

function savingsOf({ accounts, token }: DevChain): DevChain['token'] {
  // Payer, merchant and relayer come first.
  return accounts[3]?.address ?? token
}

export function balanceOf(
  { clients, token }: DevChain,
  account: DevChain['token'],
): Promise<bigint> {
  return clients.public.readContract({
    address: token,
    abi,
    functionName: 'balanceOf',
    args: [account],
  })
}
