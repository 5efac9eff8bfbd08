import { formatAmount } from '../../core/amount.js'
import { drawNonce } from '../../core/drawNonce.js'
import type { ChannelRecord } from '../../store/types.js'
import { runHandler } from '../gate/runHandler.js'
import { bookCharge } from './bookCharge.js'
import { type Sent, settlementOf } from './channelState.js'
import { findAnswer, judgePaid } from './judgePaid.js'
import { openCharge } from './openCharge.js'
import { readFirst } from './readFirst.js'
import { built, refusedBy } from './refusals.js'
import { openStreamCharge } from './streamCharge.js'
import { takeDeposit } from './takeDeposit.js'
import type { Reply, SignedCall } from './types.js'

/**
 * Serves a request that a voucher pays for: makes the deposit, if there is one,
 * then runs the handler, and writes charge, voucher and answer before the answer
 * leaves.
 */
export async function serveVoucher(call: SignedCall): Promise<Reply> {
  const { payload, asked } = call
  const known = await loadFor(call)
  const kept = known && (await findAnswer(call, known))
  if (kept)
    return {
      kind: 'answered',
      response: kept.response,
      settled: kept.settled,
    }
  const channel = await lookAt(call, known)
  if (payload.deposit) {
    const taken = await takeDeposit(call, payload.deposit, channel)
    if ('kind' in taken) return taken
    return work(call, taken.channel, taken.sent)
  }
  if (!channel) return built(refusedBy(asked, 'channel_not_found'))
  const refused = await judgePaid(call, channel)
  return refused ? built(refused) : work(call, channel, undefined)
}

/**
 * Loads the channel. Reads the store if the copy in memory does not fit the
 * voucher: another process may have charged the channel since.
 */
async function loadFor({
  desk,
  named,
  payload,
  terms,
}: SignedCall): Promise<ChannelRecord | undefined> {
  const { maxClaimable } = payload
  const loaded = await desk.load(named.id)
  const isNext = maxClaimable === (loaded?.charged ?? 0n) + terms.value
  return !loaded || isNext || maxClaimable === loaded.signed
    ? loaded
    : desk.reload(named.id)
}

/**
 * Returns the channel with a copy of the chain that is new enough to trust.
 * Returns `undefined` if neither store nor chain has the channel.
 */
async function lookAt(
  { desk, named, payload }: SignedCall,
  known: ChannelRecord | undefined,
): Promise<ChannelRecord | undefined> {
  if (!known) return desk.adopt(named)
  // Asks again before a deposit is sent, and before one is asked for.
  const isShort = payload.maxClaimable > known.balance
  return payload.deposit || isShort || !desk.isFresh(known)
    ? desk.refresh(known)
    : known
}

/** Runs the handler, and writes what it charges. */
async function work(
  call: SignedCall,
  channel: ChannelRecord,
  sent: Sent | undefined,
): Promise<Reply> {
  const { gate, request, waiting, handler, isStream, terms, named } = call
  const { offer, value, token } = terms
  const timeout = offer.maxTimeoutSeconds * 1000
  const charging = openCharge(value, token.decimals)
  const finished = await runHandler(gate, {
    request,
    handler,
    isStream,
    begin: (response) =>
      charging.hasCharged()
        ? response
        : readFirst(response, { waiting, timeout }),
    payment: {
      orderId: `x402-${call.bound.slice(2, 42)}`,
      offer: offer.name,
      payer: channel.payer,
      amount: formatAmount(value, token.decimals),
      transaction: undefined,
      channelId: named.id,
      charge: charging.charge,
    },
  })
  const run = drawNonce().slice(2, 34)
  const live =
    finished.kind === 'live'
      ? {
          response: finished.response,
          charge: openStreamCharge({ call, sent, run }),
        }
      : undefined
  const charged = charging.end(live?.charge)
  if (finished.kind === 'failed' && finished.signal)
    return { kind: 'signal', signal: finished.signal }
  // Nothing is charged, but the client must know of its deposit.
  if (finished.kind === 'failed')
    return {
      kind: 'answered',
      response: finished.response,
      settled: sent && settlementOf({ channel, charged: 0n, sent }),
    }
  return bookCharge(call, channel, {
    run,
    charged,
    sent,
    response: finished.kind === 'live' ? undefined : finished.response,
    live,
  })
}
