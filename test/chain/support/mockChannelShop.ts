import {
  createX402Gate,
  type X402ChannelOffer,
  type X402GateParameters,
  type X402Handler,
} from 'countersign/x402'
import type { PrivateKeyAccount } from 'viem'
import { type Signing, signChannel } from './channelPayer.js'
import { fundedAccount } from './desk.js'
import { type MockChannels, mockChannels } from './mockChannels.js'
import { openShop, type Shop } from './shop.js'
import { chain, serveApp } from './x402Desk.js'

/** Everything in these tests costs at most so much, in token units. */
export const most = 10_000n
export const deposit = 1_000_000n

const tokens: X402ChannelOffer = {
  flow: 'channel',
  atMost: '0.01',
  deposit: '1.00',
  withdrawDelay: 900,
  description: 'Some tokens',
}

/** A shop that sells requests over channels that are a mock. */
export async function openMockShop(
  handler: X402Handler,
  given: Partial<Omit<X402GateParameters, 'orders' | 'channels'>> = {},
): Promise<Shop & MockChannels & { url: string }> {
  const shop = await openShop(chain)
  const mock = mockChannels(shop.store)
  const offers = {
    tokens,
    work: { amount: '0.01' },
    stream: { ...tokens, stream: true },
    ...given.offers,
  }
  const { orders } = shop
  const { channels } = mock
  const gate = createX402Gate({ orders, channels, ...given, offers })
  const url = await serveApp((request) => {
    const name = new URL(request.url).pathname.slice(1).split('/')[0] ?? ''
    const offer = name === 'both' ? ['work', 'tokens'] : name
    return gate.protect(offer, handler)(request)
  })
  return { ...shop, ...mock, url }
}

/** Asks, and pays by hand. `header` sends the same payment again. */
export async function payBy(
  account: PrivateKeyAccount,
  url: string,
  signing: Signing,
  init: RequestInit = {},
): Promise<Response & { header: string }> {
  const header = await signChannel(account, await fetch(url, init), signing)
  return Object.assign(await sendHeader(url, header, init), { header })
}

export const sendHeader = (
  url: string,
  header: string,
  init: RequestInit = {},
): Promise<Response> =>
  fetch(url, { ...init, headers: { 'PAYMENT-SIGNATURE': header } })

/** Somebody who has deposited, and paid for one request. */
export async function openedChannel(url: string): Promise<PrivateKeyAccount> {
  const account = await fundedAccount(chain, 5n * deposit)
  const first = await payBy(account, `${url}/tokens?first`, {
    max: most,
    deposit,
  })
  if (first.status !== 200) throw new Error(await first.text())
  return account
}
