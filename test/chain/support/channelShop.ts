import { x402Client } from '@x402/core/client'
import { toClientEvmSigner } from '@x402/evm'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import {
  type Channels,
  type CreateChannelsParameters,
  channels,
  createChannels,
} from 'countersign/channels'
import type { PaymentStore } from 'countersign/store'
import {
  createX402Gate,
  type X402ChannelOffer,
  type X402Handler,
} from 'countersign/x402'
import type { PrivateKeyAccount } from 'viem'
import { readContract } from 'viem/actions'
import { fundedAccount } from './desk.js'
import { openShop, type Shop } from './shop.js'
import { chain, serveApp } from './x402Desk.js'

/** What a request costs, and what stock clients deposit, in token units. */
export const most = 10_000n
export const deposit = 1_000_000n

const tokens: X402ChannelOffer = {
  flow: 'channel',
  atMost: '0.01',
  deposit: '1.00',
  withdrawDelay: 900,
}

export type ChannelShop = Shop & {
  channels: Channels
  answer: (request: Request) => Promise<Response>
  url: string
}

/** A shop that sells requests over channels, served on loopback. */
export async function openChannelShop(
  handler: X402Handler,
  {
    offer,
    policy,
    recoverAddress,
    timeout,
    orders: settings,
    ...given
  }: {
    /** Further parameters of the orders. */
    orders?: Parameters<typeof openShop>[1]
    store?: PaymentStore | undefined
    /** Who sells. Default: someone new. */
    sellers?: readonly PrivateKeyAccount[] | undefined
    offer?: Partial<X402ChannelOffer> | undefined
    policy?: CreateChannelsParameters['policy']
    recoverAddress?: CreateChannelsParameters['recoverAddress']
    /** The gate's, in milliseconds. */
    timeout?: number | undefined
  } = {},
): Promise<ChannelShop> {
  const shop = await openShop(chain, {
    ...given,
    ...settings,
    kinds: [channels()],
  })
  const { orders } = shop
  const made = createChannels({ orders, policy, recoverAddress })
  const offers = { tokens: { ...tokens, ...offer } }
  const gate = createX402Gate({ orders, channels: made, offers, timeout })
  const answer = gate.protect('tokens', handler)
  const url = await serveApp(answer)
  return { ...shop, channels: made, answer, url }
}

/** A stock client of the scheme, with its state in memory. */
export function stockChannel(
  account: PrivateKeyAccount,
  calls: string[] = [],
  ask: typeof fetch = fetch,
) {
  const signer = toClientEvmSigner(account, {
    readContract: (given) => {
      calls.push('readContract')
      return readContract(chain.clients.public, given as never)
    },
  })
  const scheme = new BatchSettlementEvmScheme(signer)
  const client = x402Client.fromConfig({
    schemes: [{ network: 'eip155:*', client: scheme }],
    // The token of the dev chain is none that the client knows.
    spendControls: { allowedAssets: true },
  })
  return { scheme, fetch: wrapFetchWithPayment(ask, client), client }
}

/** Somebody with the stock client, who can deposit so often. */
export async function stockPayer(deposits = 1n) {
  const account = await fundedAccount(chain, deposits * deposit)
  return { account, ...stockChannel(account) }
}
