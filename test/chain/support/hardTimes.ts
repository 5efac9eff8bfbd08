import { isDeepStrictEqual } from 'node:util'
import { knownTokens } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { type Orders, toHledger } from 'countersign/orders'
import {
  type Account,
  type Client,
  createClient,
  custom,
  erc20Abi,
  formatUnits,
} from 'viem'
import { readContract } from 'viem/actions'
import { type Asked, rpcError } from './desk.js'
import { findProblems } from './faultRun.js'
import type { FaultShop } from './faultShop.js'
import { judgeJournal } from './hledger.js'

/** What answers a request instead of the chain. */
export type Stand = (
  asked: Asked,
  forward: () => Promise<unknown>,
) => Promise<unknown>

/** A node of a chain whose answers a test can change while workers use it. */
export type HardNode = {
  connect(account?: Account | undefined): Client
  /** Answers every request until it is set to `undefined`. */
  stand: Stand | undefined
  /** How often the newest head was asked for. */
  looks(): number
  /** Resolves once the last change is over. */
  restored: Promise<void>
  /** Changes the node at its n-th request from now, for so many looks. */
  standAt(request: number, looks: number, stand: Stand): void
}

export function startHardNode({ chain, clients }: DevChain): HardNode {
  let looks = 0
  let requests = 0
  let begin: { at: number; looks: number; stand: Stand } | undefined
  let end: number | undefined
  let restore: () => void = () => undefined
  const request = async (asked: Asked): Promise<unknown> => {
    requests++
    if (isHead(asked)) looks++
    if (begin && requests >= begin.at) {
      node.stand = begin.stand
      end = looks + begin.looks
      begin = undefined
    }
    if (end !== undefined && looks >= end) {
      node.stand = undefined
      end = undefined
      restore()
    }
    const forward = () =>
      clients.public.request(asked as never) as Promise<unknown>
    return node.stand ? node.stand(asked, forward) : forward()
  }
  const node: HardNode = {
    stand: undefined,
    looks: () => looks,
    restored: Promise.resolve(),
    standAt: (at, forLooks, stand) => {
      begin = { at: requests + at, looks: forLooks, stand }
      node.restored = new Promise((resolve) => {
        restore = resolve
      })
    },
    connect: (account) =>
      createClient({
        ...(account ? { account } : {}),
        chain,
        transport: custom({ request }, { retryCount: 0 }),
      }),
  }
  return node
}

function isHead({ method, params }: Asked): boolean {
  return method === 'eth_getBlockByNumber' && Object(params)[0] === 'latest'
}

/** Answers as the node of another chain does. */
export function standOf({ clients }: Pick<DevChain, 'clients'>): Stand {
  return (asked) =>
    (clients.public.request(asked as never) as Promise<unknown>).catch(
      (error: unknown) => {
        const { code = -32_000, details, message } = Object(error)
        throw rpcError(Number(code), String(details ?? message))
      },
    )
}

/** What is wrong once every order is decided: orders, alarms, audit, books. */
export async function findAllProblems(
  chain: DevChain,
  { honest, ...shop }: FaultShop,
): Promise<string[]> {
  const problems = await findProblems(chain, { honest, ...shop })
  return problems.concat(await findBookProblems(chain, honest))
}

/** Where hledger or the token's balances disagree with the books. */
export async function findBookProblems(
  chain: DevChain,
  orders: Pick<Orders, 'ledger' | 'list'>,
): Promise<string[]> {
  const problems: string[] = []
  const lines: string[] = []
  for await (const line of toHledger(orders.ledger({ transfers: true })))
    lines.push(line)
  const { read, judged = read } = await judgeJournal(lines.join(''))
  if (!isDeepStrictEqual(judged, read))
    problems.push(`hledger reads ${JSON.stringify(judged)}`)
  const { orders: sold } = await orders.list({ limit: 200 })
  for (const recipient of new Set(sold.map((order) => order.recipient))) {
    const balance = await readContract(chain.clients.public, {
      address: chain.token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [recipient],
    })
    // The books name a known token by its symbol.
    const { id: chainId } = chain.chain
    const known = knownTokens.find(
      (one) => one.chainId === chainId && one.address === chain.token,
    )
    const unit = known?.symbol ?? chain.token
    const account = `assets:${chainId}:${unit}:${recipient}`
    const shown = read[account] ?? '0'
    if (shown !== formatUnits(balance, 6))
      problems.push(`${account} is ${shown}, with ${balance} on chain`)
  }
  return problems
}
