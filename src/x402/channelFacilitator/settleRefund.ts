import type { Hex } from 'viem'
import {
  getChannel,
  movementFacts,
  type PlannedMovement,
  planChannelRefund,
} from '../../channels/engine.js'
import { wait } from '../../core/wait.js'
import type { ChannelPayload } from '../channel/parsePayload.js'
import { authorizeRefund, openOwn } from './authorize.js'
import {
  type ChannelFacilitator,
  pending,
  type RefusedCall,
  refuseCall,
  type ServedCall,
} from './context.js'
import { refuseTerms } from './judgeVoucherCall.js'
import { refundIds } from './movementIds.js'
import { admitOne, refundPlace } from './oneAtOnce.js'
import type { RefundTerms } from './parseChannelCall.js'
import { sendMovement } from './sendMovement.js'
import { settleClaim } from './settleClaims.js'
import { type ChannelSettled, stateAfter } from './stateAfter.js'

/** Seconds for which a refund prevents another one of its channel. */
const namedFor = 86_400n

type WantedRefund = { payload: ChannelPayload; terms: RefundTerms }

/**
 * Claims all charges. Then pays back the rest of the deposit, or a part of it.
 * Never signs for more than the rest.
 */
export async function settleRefund(
  scheme: ChannelFacilitator,
  call: ServedCall,
  wanted: WantedRefund,
): Promise<ChannelSettled | RefusedCall> {
  const { payload, terms } = wanted
  const { id: channelId, config, refund: asked = 0n } = payload
  const { extra } = call
  // For refunds by the server's manager, `extra` is empty.
  const named = { receiverAuthorizer: config.receiverAuthorizer, ...extra }
  const wrong = refuseTerms({ ...call, extra: named }, payload)
  if (wrong) return wrong
  if (asked === 0n) return refuseCall('refund_amount_invalid')
  if (terms.refundSignature === undefined) {
    const own = await openOwn(scheme, { caller: call.caller, config })
    if ('code' in own) return own
  }
  const { refundNonce, claim } = terms
  const { claimed } = await getChannel(call.client, { channelId })
  // Once its claim has landed, the server asks for the same refund without it.
  const charged = claim && claim.claimed > claimed ? claim.claimed : claimed
  const content = [refundNonce, asked, charged]
  const sent = await sendMovement(scheme.facilitator, {
    ...call,
    action: 'refund',
    ids: refundIds(channelId, [call.caller.name, ...content]),
    plan: () => planRefund(scheme, call, wanted),
    admit: (tables, id) => {
      const now = scheme.channels.context.now() / 1000n
      const key = refundPlace(channelId)
      return admitOne(tables, { key, id, until: now + namedFor })
    },
  })
  return sent.ok ? stateAfter(call, channelId, sent.made) : sent
}

/** Signs the refund, then claims, then plans the refund. */
async function planRefund(
  scheme: ChannelFacilitator,
  call: ServedCall,
  { payload, terms }: WantedRefund,
): Promise<PlannedMovement | RefusedCall> {
  const { id: channelId, config, refund: asked = 0n } = payload
  const { refundNonce, refundSignature, claim, claimSignature } = terms
  const before = await getChannel(call.client, { channelId })
  if (before.refundNonce !== refundNonce)
    return refuseCall(
      'refund_simulation_failed',
      `The channel's refundNonce is ${before.refundNonce}, not ${refundNonce}.`,
    )
  const owed = claim && claim.claimed > before.claimed ? claim.claimed : 0n
  const charged = owed > before.claimed ? owed : before.claimed
  const left = before.balance - charged
  if (left <= 0n) return refuseCall('refund_no_balance')
  // The server's signature is for the amount it asked, so it cannot be lowered.
  if (refundSignature && asked > left)
    return refuseCall('refund_amount_invalid')
  const value = asked < left ? asked : left
  const signature = await authorizeRefund(scheme, call, {
    channelId,
    config,
    refundNonce,
    value,
    signature: refundSignature,
  })
  if (typeof signature !== 'string') return signature
  if (claim && owed > 0n) {
    const rows = [claim]
    const claimed = await settleClaim(scheme, call, {
      rows,
      signature: claimSignature,
    })
    if (!claimed.ok) return claimed
    const isShown = await waitForClaim(call, channelId, charged)
    if (!isShown) return pending(claimed.hash)
  }
  const { channels } = scheme
  return planChannelRefund(await movementFacts(channels, call), {
    channelId,
    config,
    value,
    refundNonce,
    charged,
    signature,
  })
}

/** Milliseconds between two questions to a node that lags behind. */
const askEvery = 250

async function waitForClaim(
  { client, until }: ServedCall,
  channelId: Hex,
  charged: bigint,
): Promise<boolean> {
  for (;;) {
    const { claimed } = await getChannel(client, { channelId })
    if (claimed >= charged) return true
    if (performance.now() >= until) return false
    await wait(askEvery)
  }
}
