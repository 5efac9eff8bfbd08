import type { Client } from 'viem'
import { parseQuantity, requestNode } from '../../chain/rpc/requestNode.js'
import { getBalance } from '../../chain/state/getBalance.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import { paidBy } from '../model/sendersOf.js'

/**
 * An account's balance for gas in wei, and the number of captures that it has
 * to pay for.
 */
type SubmitterFunds = {
  balance: bigint
  gasPrice: bigint
  /** Counts up with each reservation until the balance is read again. */
  open: number
}

const milliseconds = 10_000

const known = /* @__PURE__ */ new WeakMap<
  OrderWallet,
  { funds: Promise<SubmitterFunds>; since: number }
>()

/**
 * Returns how much gas a submitter can pay for. Reads the balance at most every
 * ten seconds, in the same batch as other requests of this turn of the event
 * loop.
 *
 * Assumes that payments to recipients without a wallet are spread evenly over
 * the relayers, and those of a treasury over its capture keys.
 */
export function getSubmitterFunds(
  context: OrdersContext,
  wallet: OrderWallet,
  client: Client,
): Promise<SubmitterFunds> {
  const last = known.get(wallet)
  const now = performance.now()
  if (last && now - last.since < milliseconds) return last.funds
  const funds = askSubmitterFunds(context, wallet, client)
  known.set(wallet, { funds, since: now })
  funds.catch(() => known.delete(wallet))
  return funds
}

/**
 * Reserves gas for one more capture, or returns what is missing. Reads the
 * balance again before it refuses: otherwise one wrong answer of the node would
 * refuse every buyer for ten seconds.
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
  const funds = await getSubmitterFunds(context, wallet, client)
  if (reserveGas(funds, gas).ok)
    return { ok: true, release: () => releaseGas(funds) }
  known.delete(wallet)
  const again = await getSubmitterFunds(context, wallet, client)
  const kept = reserveGas(again, gas)
  return kept.ok ? { ok: true, release: () => releaseGas(again) } : kept
}

/** Reserves gas for one more capture, or returns what is missing. */
export function reserveGas(
  funds: SubmitterFunds,
  gas: bigint,
): { ok: true } | { ok: false; details: Readonly<Record<string, unknown>> } {
  const { balance, gasPrice, open } = funds
  const needed = BigInt(open + 1) * gas * gasPrice
  if (needed > balance) return { ok: false, details: { balance, needed, open } }
  funds.open++
  return { ok: true }
}

export function releaseGas(funds: SubmitterFunds): void {
  funds.open--
}

async function askSubmitterFunds(
  context: OrdersContext,
  wallet: OrderWallet,
  client: Client,
): Promise<SubmitterFunds> {
  const method = 'eth_gasPrice'
  const address = wallet.submitter.account
  const [balance, gasPrice, open] = await Promise.all([
    getBalance(client, { address, block: 'latest' }),
    requestNode(client, method, []).then((wei) => parseQuantity(wei, method)),
    countOpen(context, wallet),
  ])
  return { balance, gasPrice, open }
}

async function countOpen(
  { store, destinations, wallets, relayers }: OrdersContext,
  wallet: OrderWallet,
): Promise<number> {
  const { chainId, account } = wallet.submitter
  const paid = wallets
    .filter(({ submitter }) => submitter.chainId === chainId)
    .map(paidBy)
  const treasury = paidBy(wallet)
  const sharers = paid.filter((recipient) => recipient === treasury)
  const here = destinations.filter(
    (destination) => destination.chainId === chainId,
  )
  const own = here.filter(({ recipient }) => recipient === treasury)
  const senders = relayers
    .filter((submitter) => submitter.chainId === chainId)
    .map((submitter) => submitter.account)
  const others = senders.includes(account)
    ? here.filter(({ recipient }) => !paid.includes(recipient))
    : []
  const [mine, shared] = await store.read(({ orders }) =>
    Promise.all([orders.count(own), orders.count(others)]),
  )
  const waiting = ({ stored = 0, capturing = 0, canceling = 0 }) =>
    stored + capturing + canceling
  return (
    Math.ceil(waiting(mine) / Math.max(1, sharers.length)) +
    Math.ceil(waiting(shared) / Math.max(1, senders.length))
  )
}
