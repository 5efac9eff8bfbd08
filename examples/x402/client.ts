import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import type { DevChain } from 'countersign/devchain'
import { type Address, erc20Abi, formatUnits } from 'viem'
import { readContract } from 'viem/actions'
import { tellExchange } from './tellExchange.js'

/** `fetch` that pays, with the packages of x402, which know nothing of countersign. */
export function createBuyer(
  { clients, token }: DevChain,
  send: typeof fetch,
): typeof fetch {
  const { account } = clients.payer
  const client = x402Client.fromConfig({
    schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],
    // Stock clients know real USDC only: this one is of the local chain.
    spendControls: { allowedAssets: [{ network: 'eip155:*', asset: token }] },
  })
  return wrapFetchWithPayment(send, client)
}

/** Buys once, and prints what the two say to each other. */
export async function buyWeather(chain: DevChain, url: string): Promise<void> {
  const { account } = chain.clients.payer
  const pay = createBuyer(chain, tellExchange(console.log))

  const before = await balanceOf(chain, account.address)
  const response = await pay(url)
  const spent = before - (await balanceOf(chain, account.address))
  console.log(`\nThe answer: ${await response.text()}`)
  console.log(`The buyer paid ${formatUnits(spent, 6)} USDC.`)
}

const balanceOf = (chain: DevChain, address: Address): Promise<bigint> =>
  readContract(chain.clients.public, {
    address: chain.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  })
