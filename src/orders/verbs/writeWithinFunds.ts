import type { Address, Hex } from 'viem'
import { readWord } from '../../chain/state/executor.js'
import { authorizationStateCall } from '../../chain/state/getAuthorizationState.js'
import { prober } from '../../chain/state/getToken.js'
import { runCalls } from '../../chain/state/runCalls.js'
import { runPlainCalls } from '../../chain/state/runPlainCalls.js'
import type { AnySignedPayment, VerifiedAt } from '../../core/types.js'
import { balanceCall } from '../../payments/verify/rehearse.js'
import type { OrderRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { checkChainClock } from '../model/checkChainClock.js'
import type { AcceptVerdict } from '../model/types.js'
import { serverOf } from './judgeAccept.js'

/** What the token shows about a payer at one block. */
export type PayerFunds = {
  at: VerifiedAt
  /** Balance in token units. */
  balance: bigint
  /** Payment nonces that were already used at that block. */
  consumed: ReadonlySet<Hex>
}

/** A refusal because the payer's open payments together exceed its balance. */
export type Overdrawn = Extract<AcceptVerdict, { ok: false }> & {
  /** Nonces of the payer's stored payments that can still be captured. */
  openNonces: readonly Hex[]
}

/**
 * Most nonces to ask about in one request. Payments beyond this still count as
 * open.
 */
const mostAsked = 250

/**
 * Writes an accepted payment. If the payer's open payments exceed its balance,
 * asks the token which of their nonces were used, and writes again: a capture
 * that the store does not know yet may have lowered the balance already.
 *
 * If further payments were accepted meanwhile, asks again about those only.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} {@link ClockSkewError} as
 * `accept` does.
 */
export async function writeWithinFunds<verdict extends object>(
  context: OrdersContext,
  {
    order,
    payment,
    judged,
  }: {
    order: OrderRecord
    payment: AnySignedPayment
    judged: Pick<PayerFunds, 'at' | 'balance'>
  },
  write: (funds: PayerFunds) => Promise<verdict | Overdrawn>,
): Promise<verdict | Extract<AcceptVerdict, { ok: false }>> {
  const { at, balance } = judged
  const asked = new Set<Hex>()
  let funds: PayerFunds = { at, balance, consumed: new Set() }
  for (;;) {
    const verdict = await write(funds)
    if (!('openNonces' in verdict)) return verdict
    const { openNonces, ...refusal } = verdict
    const nonces = openNonces.slice(0, mostAsked)
    if (nonces.every((nonce) => asked.has(nonce))) return refusal
    for (const nonce of nonces) asked.add(nonce)
    funds = await getPayerFunds(context, order, payment.message.from, nonces)
  }
}

/**
 * Reads the balance and the nonces in one call, so that both are from one
 * block. Reads at the newest block, not at `judged.at`: on some chains that is
 * a block number of the L1, and after a reorg the same number can mean another
 * block.
 */
async function getPayerFunds(
  context: OrdersContext,
  order: OrderRecord,
  payer: Address,
  nonces: readonly Hex[],
): Promise<PayerFunds> {
  const { token } = order
  const states = nonces.map(
    (nonce) => [nonce, authorizationStateCall(token, payer, nonce)] as const,
  )
  const { head, calls } = await runCalls<string>(
    serverOf(context, order).client,
    {
      from: prober,
      fallback: runPlainCalls,
      calls: {
        ...Object.fromEntries(states),
        balance: balanceCall(token, payer),
      },
      block: 'latest',
    },
  )
  checkChainClock(context, head)
  const { balance } = calls
  return {
    at: { block: head.number, time: head.timestamp, via: head.via },
    balance: readWord(balance, 'balance of the payer'),
    consumed: new Set(
      nonces.filter(
        (nonce) => readWord(calls[nonce], 'state of a payment nonce') !== 0n,
      ),
    ),
  }
}
