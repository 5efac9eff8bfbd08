import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ChannelCall,
  getChannels,
  parseChannelConfig,
} from 'countersign/channels'
import { sqliteStore } from 'countersign/sql'
import type { X402Handler } from 'countersign/x402'
import {
  type Address,
  createClient,
  createWalletClient,
  type Hash,
  type Hex,
  http,
  type PrivateKeyAccount,
} from 'viem'
import { sendTransaction, waitForTransactionReceipt } from 'viem/actions'
import { expect, onTestFinished } from 'vitest'
import { wait } from '../../../src/core/wait.js'
import {
  channelOf,
  channelOfferOf,
  type Signing,
  signChannel,
} from './channelPayer.js'
import {
  type ChannelShop,
  most,
  openChannelShop,
  stockChannel,
} from './channelShop.js'
import { fundedAccount } from './desk.js'
import { type DyingProcess, dyingProcess } from './dyingProcess.js'
import { type SwitchedFaults, switchedFaults } from './switchedFaults.js'
import { balanceOf, chain } from './x402Desk.js'

/** One process of a shop. Shares nothing with the others but the database. */
export type SaleProcess = ChannelShop & {
  dying: DyingProcess
  /** Starts its workers. Returns what ends them. */
  run(): () => Promise<void>
}

type Options = Pick<
  NonNullable<Parameters<typeof openChannelShop>[1]>,
  'offer' | 'policy' | 'timeout'
> & { faults?: SwitchedFaults | undefined }

/** What somebody asked for, and paid. */
type Purchase = Response & { asked: string; header: string }

/**
 * A shop over one database, and what it answered. All its processes are reached
 * under one name, as behind a load balancer.
 */
export type Sale = {
  open(options?: Options): Promise<SaleProcess>
  /** Asks for something new, and pays by hand. */
  buy(
    process: SaleProcess,
    account: PrivateKeyAccount,
    signing: Signing & { costs?: string },
  ): Promise<Purchase>
  /** Sends a request with its payment once more. */
  again(
    process: SaleProcess,
    purchase: Pick<Purchase, 'asked' | 'header'>,
  ): Promise<Response>
  /** Asks for something as a stock client does. */
  stock(
    account: PrivateKeyAccount,
  ): (process: SaleProcess, asked?: string) => Promise<Response>
  /** Base units of all answers that were paid over a channel. */
  servedOver(channelId: Hex): bigint
  /** How many writes of all processes were committed, and failed. */
  lostWrites(): number
  /** Claims all that is owed, and compares it with what was answered. */
  expectNothingLost(process: SaleProcess): Promise<void>
}

let requests = 0
export const nextUrl = (costs?: string | undefined) => {
  const query = costs === undefined ? '' : `?costs=${costs}`
  return `https://shop.example/${++requests}${query}`
}

/** What a request costs, in base units: its query says so. */
export const priceOf = (asked: string): bigint => {
  const costs = new URL(asked).searchParams.get('costs')
  return costs === null ? most : BigInt(Math.round(Number(costs) * 1e6))
}

/** @param handler is asked after the charge that the query names. */
export function openSale(
  handler: X402Handler = () => Response.json({ goods: true }),
): Sale {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-sale-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const opening = fundedAccount(chain)
  // The same request again is no other good.
  const goods = new Map<string, { channelId: Hex; price: bigint }>()
  const ask = async (process: SaleProcess, request: Request) => {
    const answer = await process.answer(request)
    const paid = request.headers.get('PAYMENT-SIGNATURE')
    if (!answer.ok || !paid) return answer
    const { payload } = JSON.parse(atob(paid))
    const price = priceOf(request.url)
    goods.set(request.url, { channelId: payload.voucher.channelId, price })
    return answer
  }
  const servedOver = (channelId: Hex) =>
    [...goods.values()]
      .filter((good) => good.channelId === channelId)
      .reduce((sum, { price }) => sum + price, 0n)
  const again: Sale['again'] = (process, { asked, header }) => {
    const headers = { 'PAYMENT-SIGNATURE': header }
    return ask(process, new Request(asked, { headers }))
  }
  const failing: SwitchedFaults[] = []
  return {
    servedOver,
    again,
    lostWrites: () =>
      failing.reduce((sum, faults) => sum + faults.lostWrites(), 0),
    open: async ({ faults = switchedFaults(), ...options } = {}) => {
      failing.push(faults)
      return openProcess(
        (request, payment) => {
          const costs = new URL(request.url).searchParams.get('costs')
          if (costs !== null) payment.charge?.(costs)
          return handler(request, payment)
        },
        {
          ...options,
          faults,
          file: join(folder, 'orders.db'),
          account: await opening,
        },
      )
    },
    buy: async (process, account, { costs, ...signing }) => {
      const asked = nextUrl(costs)
      const offered = await process.answer(new Request(asked))
      // The chain's clock may be ahead.
      const validBefore = BigInt(Math.floor(Date.now() / 1000)) + 86_400n
      const message = { validBefore, ...signing.message }
      const signed = { ...signing, message }
      const header = await signChannel(account, offered, signed)
      const purchase = { asked, header }
      return Object.assign(await again(process, purchase), purchase)
    },
    stock: (account) => {
      let process: SaleProcess | undefined
      const { fetch } = stockChannel(account, [], async (input, init) => {
        if (!process) throw new Error('no process')
        return ask(process, new Request(input, init))
      })
      return (next, asked = nextUrl()) => {
        process = next
        return fetch(asked)
      }
    },
    expectNothingLost: async (process) => {
      await process.channels.claim()
      const rows = (await process.channels.list({ limit: 200 })).channels
      const channelIds = rows.map(({ channelId }) => channelId)
      const found =
        rows.length > 0
          ? await getChannels(chain.clients.public, { channelIds })
          : []
      const sums = rows.map(({ channelId, charged }, at) => ({
        channelId,
        charged,
        claimed: found[at]?.claimed,
      }))
      const served = channelIds.map((channelId) => {
        const sum = servedOver(channelId)
        return { channelId, charged: sum, claimed: sum }
      })
      expect(sums).toEqual(served)
      const total = [...goods.values()].reduce(
        (sum, one) => sum + one.price,
        0n,
      )
      expect(await balanceOf((await opening).address)).toBe(total)
    },
  }
}

async function openProcess(
  handler: X402Handler,
  {
    file,
    account,
    faults,
    ...options
  }: Options & {
    file: string
    account: PrivateKeyAccount
    faults: SwitchedFaults
  },
): Promise<SaleProcess> {
  const dying = dyingProcess()
  const transport = faults.transport(dying.transport(chain.urls.http))
  const node = { chain: chain.chain, transport }
  const shop = await openChannelShop(handler, {
    ...options,
    sellers: [account],
    store: faults.store(dying.store(sqliteStore({ file }))),
    orders: {
      client: createClient(node),
      wallets: [createClient({ ...node, account })],
      policy: { pollingInterval: 20, lease: 1_000 },
    },
  })
  const run = () => {
    const ending = new AbortController()
    const { signal } = ending
    const running = Promise.all([
      shop.orders.run({ signal }),
      shop.channels.run({ signal }),
    ])
    const end = async () => {
      ending.abort()
      if (!dying.isDead()) await running
    }
    onTestFinished(end)
    return end
  }
  return { ...shop, dying, run }
}

/** The channel of a payer at a shop. */
export async function channelAt(
  { answer }: SaleProcess,
  { address }: PrivateKeyAccount,
  changes: Signing['config'] = {},
) {
  const offer = channelOfferOf(await answer(new Request(nextUrl())))
  const { id, config } = channelOf(address, offer, changes)
  return { id, config: parseChannelConfig(config) }
}

/** Sends a call, and waits until it is mined. */
export async function sendAs(
  account: PrivateKeyAccount,
  call: Pick<ChannelCall, 'data'> & { to: Address },
): Promise<Hash> {
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  const hash = await sendTransaction(wallet, call)
  await waitForTransactionReceipt(chain.clients.public, { hash })
  return hash
}

/** Waits until something holds, for a number of looks. */
export async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 600; looks++) {
    if (await isDone()) return
    await wait(50)
  }
  throw new Error('not done after 600 looks')
}
