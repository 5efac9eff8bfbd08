import { appendFileSync } from 'node:fs'
import { type Channels, channels, createChannels } from 'countersign/channels'
import { createX402Gate } from 'countersign/x402'
import type { Hex } from 'viem'
import { openShop, type Shop, type Wrapping } from './openShop.js'
import type { Kill, ShopPlan } from './plan.js'

/** What a process with channels does before it ends by itself. */
export type ChannelFlow =
  /** Answers one paid request. */
  | 'answer'
  /** Claims by command. */
  | 'claim'
  /** Refunds one channel by command. */
  | 'refund'
  /** Runs its workers until nothing is owed. */
  | 'work'
  /** Answers at the port that it tells, and runs its workers, until it dies. */
  | 'serve'

/** What it is told, as JSON. */
export type ChannelPlan = ShopPlan & {
  flow: ChannelFlow
  /** What clients are asked to deposit at least, in token units. */
  deposit: string
  /** Workers claim at once, without a withdrawal. */
  claimsAtOnce?: boolean | undefined
  /** For `answer`: the request's URL and its payment header. */
  asked?: { url: string; header: string } | undefined
  /** For `refund` and `work`. */
  channelId?: Hex | undefined
  /** The file that each run of the handler adds its URL to. */
  runs: string
  kill?: Kill | undefined
}

/** What it tells before it ends by itself. */
export type ChannelTold = {
  points: readonly string[]
  answer?: { status: number; body: string; headers: [string, string][] }
}

/** Seconds. */
export const withdrawDelay = 900

export type ChannelProcess = {
  shop: Shop
  channels: Channels
  answer: (request: Request) => Promise<Response>
}

/** The same gate and channels in every process; each request costs 0.01. */
export function openChannelProcess(
  plan: ChannelPlan,
  {
    work = (run) => run(),
    ...wrap
  }: Wrapping & { work?: (run: () => Promise<void>) => Promise<void> } = {},
): ChannelProcess {
  const shop = openShop(plan, { ...wrap, kinds: [channels()] })
  const made = createChannels({
    orders: shop.orders,
    policy: plan.claimsAtOnce ? { claimAfter: 0n } : {},
  })
  const gate = createX402Gate({
    orders: shop.orders,
    channels: made,
    offers: {
      work: {
        flow: 'channel',
        atMost: '0.01',
        deposit: plan.deposit,
        withdrawDelay,
      },
    },
    // Processes that serve have different ports.
    resource: ({ url }) => pathOf(url),
  })
  const answer = gate.protect('work', async ({ url }) => {
    await work(async () => appendFileSync(plan.runs, `${pathOf(url)}\n`))
    return new Response(`goods of ${pathOf(url)}`)
  })
  return { shop, channels: made, answer }
}

export const pathOf = (url: string): string => new URL(url).pathname
