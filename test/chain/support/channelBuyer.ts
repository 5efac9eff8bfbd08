import { getChannel } from 'countersign/channels'
import type { Hex, PrivateKeyAccount } from 'viem'
import { wait } from '../../../src/core/wait.js'
import { channelOf, channelOfferOf, signChannel } from './channelPayer.js'
import { nextUrl, priceOf, type Sale, type SaleProcess } from './channelSale.js'
import { most, stockChannel } from './channelShop.js'
import { fundedAccount } from './desk.js'
import { chain, settlementOf } from './x402Desk.js'

/** Which process a request reaches, at each try. */
type Route = (tries: number) => SaleProcess

/** A client that asks again until it knows what became of its request. */
export type Buyer = {
  account: PrivateKeyAccount
  /** Base units that the account had. */
  funds: bigint
  /** The channel; absent before the first request. */
  id: Hex | undefined
  /**
   * Base units of requests of which this cannot know whether they were charged:
   * they failed, and were refused when they came again, or they were refused
   * while a write was lost and another request of this payer came in between.
   */
  unsure: bigint[]
  /** Buys something, for what it costs. Returns the last status. */
  buy(route: Route, costs?: string): Promise<number>
  /** Asks for all that is left. */
  refund(route: Route): Promise<number>
}

const funds = 10_000_000n
const mostTries = 40

/** An answer; 0: the process died, or failed. */
async function askOnce(
  sale: Sale,
  process: SaleProcess,
  asked: string,
  header: string | undefined,
): Promise<Response | undefined> {
  const answer = header
    ? sale.again(process, { asked, header })
    : process.answer(new Request(asked))
  let isOver = false
  const died = async () => {
    while (!process.dying.isDead() && !isOver) await wait(20)
    return undefined
  }
  try {
    return await Promise.race([answer, died()])
  } catch {
    return undefined
  } finally {
    isOver = true
  }
}

const isUndecided = (answer: Response | undefined): boolean =>
  answer === undefined || answer.status >= 500

/** Somebody who signs by hand, over one of several channels. */
export async function ownBuyer(
  sale: Sale,
  { deposit, salt }: { deposit: bigint; salt: Hex },
  account?: PrivateKeyAccount,
): Promise<Buyer> {
  const owner = account ?? (await fundedAccount(chain, funds))
  let known = { charged: 0n, balance: 0n }
  const buyer: Buyer = {
    account: owner,
    funds: account ? 0n : funds,
    id: undefined,
    unsure: [],
    buy: async (route, costs) => {
      const asked = nextUrl(costs)
      for (let signed = 0; signed < 4; signed++) {
        const answer = await pay(route, asked, (offered) => {
          const max = known.charged + most
          return signChannel(owner, offered, {
            max,
            config: { salt },
            message: { validBefore: 2n ** 40n },
            ...(max > known.balance && { deposit }),
          })
        })
        if (!answer) return 0
        if (answer.ok) return answer.status
        if (!(await correct(answer))) return answer.status
      }
      return 402
    },
    refund: async (route) => {
      const answer = await pay(route, nextUrl('0'), (offered) =>
        signChannel(owner, offered, {
          max: known.charged,
          config: { salt },
          spoil: (payload) => ({ ...payload, type: 'refund' }),
        }),
      )
      return answer?.status ?? 0
    },
  }
  /** Sends one signed request until somebody decides it. */
  const pay = async (
    route: Route,
    asked: string,
    sign: (offered: Response) => Promise<string>,
  ): Promise<Response | undefined> => {
    let header: string | undefined
    let wasUnsure = false
    const lost = sale.lostWrites()
    for (let tries = 0; tries < mostTries; tries++) {
      const answer = await askOnce(sale, route(tries), asked, header)
      if (answer && !header && answer.status === 402) {
        header = await sign(answer)
        const offer = channelOfferOf(answer)
        buyer.id ??= channelOf(owner.address, offer, { salt }).id
        continue
      }
      if (answer && header && !isUndecided(answer)) {
        if (answer.ok) learn(settlementOf(answer))
        else if (wasUnsure || sale.lostWrites() > lost)
          buyer.unsure.push(priceOf(asked))
        return answer
      }
      if (header) wasUnsure = true
      await wait(50)
    }
    if (wasUnsure) buyer.unsure.push(priceOf(asked))
    return undefined
  }
  const learn = ({ extra }: { extra?: { channelState?: State } } = {}) => {
    const state = extra?.channelState
    if (state)
      known = {
        charged: BigInt(state.chargedCumulativeAmount),
        balance: BigInt(state.balance),
      }
  }
  /** Takes over what a 402 says, or else the chain. */
  const correct = async (answer: Response): Promise<boolean> => {
    const before = { ...known }
    const { extra } = channelOfferOf(answer) ?? {}
    if (extra?.channelState) learn({ extra })
    else if (buyer.id) {
      const channelId = buyer.id
      const found = await getChannel(chain.clients.public, { channelId })
      const { claimed, balance } = found
      known = { balance, charged: max(known.charged, claimed) }
    }
    return known.charged !== before.charged || known.balance !== before.balance
  }
  return buyer
}

type State = { chargedCumulativeAmount: string; balance: string }

const max = (one: bigint, other: bigint) => (one > other ? one : other)

/** Somebody with the stock client. */
export async function stockBuyer(sale: Sale): Promise<Buyer> {
  const account = await fundedAccount(chain, funds)
  let route: Route | undefined
  let tries = 0
  const sent: { header: string | undefined } = { header: undefined }
  const { fetch } = stockChannel(account, [], async (input, init) => {
    const request = new Request(input, init)
    const header = request.headers.get('PAYMENT-SIGNATURE') ?? undefined
    sent.header = header
    if (!route) throw new Error('no route')
    const answer = await askOnce(sale, route(tries), request.url, header)
    if (header && !buyer.id)
      buyer.id = JSON.parse(atob(header)).payload.voucher.channelId
    return answer ?? new Response(null, { status: 503 })
  })
  const buyer: Buyer = {
    account,
    funds,
    id: undefined,
    unsure: [],
    buy: async (given, costs) => {
      route = given
      const asked = nextUrl(costs)
      let wasUnsure = false
      const lost = sale.lostWrites()
      for (tries = 0; tries < mostTries; tries++) {
        const answer = await fetch(asked).catch(() => undefined)
        if (answer?.ok) return answer.status
        if (answer && !isUndecided(answer)) {
          if (wasUnsure || sale.lostWrites() > lost)
            buyer.unsure.push(priceOf(asked))
          return answer.status
        }
        wasUnsure ||= sent.header !== undefined
        await wait(50)
      }
      if (wasUnsure) buyer.unsure.push(priceOf(asked))
      return 0
    },
    refund: async () => 0,
  }
  return buyer
}
