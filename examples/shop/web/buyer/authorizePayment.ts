import { type AnyPayment, parseAmount, signPayment } from 'countersign'
import type { ClientKind } from 'countersign/client'
import { developmentChainId, getTokenBalance } from '../api/chain.js'
import { keepTrying } from '../api/keepTrying.js'
import type { KeptOrder } from '../api/keptOrders.js'
import {
  type BuyerOrder,
  type OrderAccess,
  openBuyer,
} from '../api/openBuyer.js'
import { terms } from '../api/terms.js'
import type { Connection } from './connection.js'
import { NotOpen, TooLittleMoney, WrongNetwork } from './failures.js'
import { loadKind } from './loadKind.js'

export type PayPhase = 'checking' | 'signing' | 'sending'

export type AuthorizePaymentParameters = {
  access: OrderAccess
  connection: Connection
  kept: KeptOrder
  onPhase: (phase: PayPhase) => void
  onReachable: (isReachable: boolean) => void
  /** Whether the order still waits for a payment. */
  isOpen: () => boolean
  signal: AbortSignal
}

/**
 * Has the wallet sign what the buyer was shown, and hands it to the shop. The
 * signature stays in memory: who reloads before the shop has it signs again.
 */
export async function authorizePayment(
  parameters: AuthorizePaymentParameters,
): Promise<BuyerOrder> {
  const { access, connection, kept, onPhase, isOpen } = parameters
  onPhase('checking')
  const kind = await keepTrying(() => loadKind(kept.total), parameters)
  const payment = await check(parameters, kind)
  if (!isOpen()) throw new NotOpen()
  onPhase('signing')
  const signed = await signPayment(connection.provider, {
    payment,
    kind,
    expect: { ...expected, ...shownTotal(kept) },
  })
  // Whoever holds two payments of two accounts can collect both.
  if (!isOpen()) throw new NotOpen()
  onPhase('sending')
  const buyer = openBuyer(access)
  const options = { kind, signal: parameters.signal }
  return keepTrying(() => buyer.sendPayment(signed, options), parameters)
}

const expected = {
  // Not from the terms: no public chain is ever signed for.
  chainId: developmentChainId,
  token: terms.token,
  to: terms.recipient,
  decimals: terms.decimals,
  maxWindow: BigInt(terms.window) + 120n,
}

function shownTotal({
  amount,
  total,
}: KeptOrder): { amount: string } | { atMost: string } {
  return total === 'atMost' ? { atMost: amount } : { amount }
}

/** What can be known before the wallet is asked. */
async function check(
  {
    access,
    connection: { provider, account: payer },
    kept,
    ...options
  }: AuthorizePaymentParameters,
  kind: ClientKind | undefined,
): Promise<AnyPayment> {
  const buyer = openBuyer(access)
  const { signal } = options
  const [chainId, balance, payment] = await Promise.all([
    provider.request({ method: 'eth_chainId' }).then(Number),
    keepTrying(() => getTokenBalance(terms.token, payer), options),
    keepTrying(() => buyer.requestPayment({ payer, kind, signal }), options),
  ])
  if (chainId !== developmentChainId) throw new WrongNetwork(chainId)
  if (balance < parseAmount(kept.amount, terms.decimals))
    throw new TooLittleMoney(balance)
  return payment
}
