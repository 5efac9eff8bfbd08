import type { Client } from 'viem'
import { readQuantity, requestNode } from '../../chain/rpc/requestNode.js'
import { getBalance } from '../../chain/state/getBalance.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'

/** What an account has for gas, and how many captures wait for it. */
type LaneFunds = {
  balance: bigint
  gasPrice: bigint
  /** Counted up here until it is read again. */
  open: number
}

const milliseconds = 10_000

const known = /* @__PURE__ */ new WeakMap<
  OrderWallet,
  { funds: Promise<LaneFunds>; since: number }
>()

/**
 * What a lane can pay for, read at most every ten seconds, with requests of
 * this tick.
 *
 * Assumes that payments to recipients without a wallet are spread evenly over
 * the relayers.
 */
export function readLaneFunds(
  context: OrdersContext,
  wallet: OrderWallet,
  client: Client,
): Promise<LaneFunds> {
  const last = known.get(wallet)
  const now = performance.now()
  if (last && now - last.since < milliseconds) return last.funds
  const funds = askLaneFunds(context, wallet, client)
  known.set(wallet, { funds, since: now })
  funds.catch(() => known.delete(wallet))
  return funds
}

/**
 * Reserves gas for one more capture, or returns what is missing. Reads the
 * balance again before it refuses: otherwise one wrong answer would refuse
 * every buyer until the next reading.
 */
export async function keepGas(
  context: OrdersContext,
  wallet: OrderWallet,
  client: Client,
  gas: bigint,
): Promise<
  | { ok: true; release: () => void }
  | { ok: false; details: Readonly<Record<string, unknown>> }
> {
  const funds = await readLaneFunds(context, wallet, client)
  if (reserveGas(funds, gas).ok)
    return { ok: true, release: () => releaseGas(funds) }
  known.delete(wallet)
  const again = await readLaneFunds(context, wallet, client)
  const kept = reserveGas(again, gas)
  return kept.ok ? { ok: true, release: () => releaseGas(again) } : kept
}

/** Keeps gas for one more capture, or says what is missing. */
export function reserveGas(
  funds: LaneFunds,
  gas: bigint,
): { ok: true } | { ok: false; details: Readonly<Record<string, unknown>> } {
  const { balance, gasPrice, open } = funds
  const needed = BigInt(open + 1) * gas * gasPrice
  if (needed > balance) return { ok: false, details: { balance, needed, open } }
  funds.open++
  return { ok: true }
}

/** Gives back what `reserveGas` kept. */
export function releaseGas(funds: LaneFunds): void {
  funds.open--
}

async function askLaneFunds(
  context: OrdersContext,
  { lane }: OrderWallet,
  client: Client,
): Promise<LaneFunds> {
  const method = 'eth_gasPrice'
  const [balance, gasPrice, open] = await Promise.all([
    getBalance(client, { address: lane.account, block: 'latest' }),
    requestNode(client, method, []).then((wei) => readQuantity(wei, method)),
    countOpen(context, lane),
  ])
  return { balance, gasPrice, open }
}

async function countOpen(
  { store, scopes, wallets, relayers }: OrdersContext,
  { chainId, account }: OrderWallet['lane'],
): Promise<number> {
  const lanes = wallets
    .filter(({ lane }) => lane.chainId === chainId)
    .map(({ lane }) => lane.account)
  const here = scopes.filter((scope) => scope.chainId === chainId)
  const own = here.filter(({ recipient }) => recipient === account)
  const senders = relayers
    .filter((lane) => lane.chainId === chainId)
    .map((lane) => lane.account)
  const others = senders.includes(account)
    ? here.filter(({ recipient }) => !lanes.includes(recipient))
    : []
  const [mine, shared] = await store.read(({ orders }) =>
    Promise.all([orders.count(own), orders.count(others)]),
  )
  const waiting = ({ stored = 0, capturing = 0, canceling = 0 }) =>
    stored + capturing + canceling
  return (
    waiting(mine) + Math.ceil(waiting(shared) / Math.max(1, senders.length))
  )
}
