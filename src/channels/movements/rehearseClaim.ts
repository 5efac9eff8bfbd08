import type { Address, Client } from 'viem'
import { askInChunks } from '../../chain/rpc/askInChunks.js'
import { same } from '../../core/receiptProof.js'
import type { LeftOut, SettlingCall } from '../../payments/kind.js'
import {
  channelMulticall,
  claimCall,
  claimWithSignatureCall,
  settleCall,
} from '../contract/channelCalls.js'
import { getChannels } from '../contract/getChannel.js'
import { getSettled } from '../contract/getSettled.js'
import type { ChannelCall, ClaimRow } from '../contract/types.js'
import { movementReason } from './channelRefusal.js'
import {
  type ClaimSignatures,
  decodeClaimSignatures,
} from './claimSignatures.js'
import { estimateCall, tryCall } from './estimateCall.js'
import type { MovementOf } from './movementTerms.js'

/** A row of the claim with all that its call needs. */
type Row = ClaimRow & Pick<LeftOut, 'channelId'> & { at: number }

type Claim = {
  account: Address
  payment: MovementOf<'claim'>
  signatures: ClaimSignatures
  /** All rows, as they were signed together. */
  rows: readonly Row[]
}

/**
 * Simulates the claim of all channels with the settlement behind it. If that
 * fails, tries each channel alone, and leaves out those that fail. If settling
 * fails, claims without it: a claim alone protects the money from the payer's
 * withdrawal.
 */
export async function rehearseClaim(
  client: Client,
  payment: MovementOf<'claim'>,
  { account, secret }: { account: Address; secret: string },
): Promise<SettlingCall> {
  const { movement } = payment
  const { receiver, token } = movement
  const signatures = decodeClaimSignatures(secret, movement.rows.length)
  if (!signatures) return { ok: false, reason: 'malformedSignature' }
  const { vouchers } = signatures
  const rows = movement.rows.map(
    (row, at): Row => ({ ...row, signature: vouchers[at] ?? '0x', at }),
  )
  const claim = { account, payment, signatures, rows }
  const channelIds = rows.map(({ channelId }) => channelId)
  const [channels, totals] = await Promise.all([
    getChannels(client, { channelIds }),
    getSettled(client, { receiver, token }),
  ])
  const open = rows.filter(({ at, claimed }) => {
    const channel = channels[at]
    return channel && channel.claimed < claimed
  })
  const covered = open.filter(({ at, claimed }) => {
    const channel = channels[at]
    return channel && channel.balance >= claimed
  })
  const short = open
    .filter((row) => !covered.includes(row))
    .map(
      ({ channelId }): LeftOut => ({ channelId, reason: 'channelWithdrawn' }),
    )
  const isSettled = totals.claimed === totals.settled
  if (covered.length === 0 && isSettled)
    return { ok: false, reason: short[0]?.reason ?? 'nothingToClaim' }
  const whole = await tryRows(client, claim, covered, short)
  if (whole.ok) return whole
  const { passing, failing } = await tryEach(client, claim, covered)
  const leftOut = [...short, ...failing]
  const [first] = failing
  if (passing.length === 0 && isSettled)
    return first ? { ok: false, reason: first.reason } : whole
  if (first) {
    const rest = await tryRows(client, claim, passing, leftOut)
    if (rest.ok || passing.length === 0) return rest
  }
  const alone = await tryRows(client, claim, passing, leftOut, false)
  return alone.ok ? alone : whole
}

async function tryRows(
  client: Client,
  claim: Claim,
  rows: readonly Row[],
  leftOut: readonly LeftOut[],
  settles = true,
): Promise<SettlingCall> {
  const { account, payment } = claim
  const { receiver, token } = payment.movement
  const isWhole = leftOut.length === 0
  const claims = claimCalls(claim, rows, isWhole)
  // A signature of all rows together is no use once one of them is left out.
  if (rows.length > 0 && claims.length === 0)
    return { ok: false, reason: leftOut[0]?.reason ?? 'malformedSignature' }
  const calls = [
    ...claims,
    ...(settles ? [settleCall({ receiver, token })] : []),
  ]
  const [only, second] = calls
  if (!only) return { ok: false, reason: 'malformedSignature' }
  const call = second ? channelMulticall({ calls }) : only
  const estimated = await estimateCall(client, account, call)
  if (!estimated.ok)
    return {
      ok: false,
      reason: movementReason(payment.movement, estimated.refusal),
    }
  return { ...estimated, leftOut }
}

/**
 * The calls that claim some rows. The receiver needs no signature. Rows that are
 * claimed already have no effect, so all rows together keep their signature as
 * long as none is left out.
 */
function claimCalls(
  { account, payment, signatures, rows: all }: Claim,
  rows: readonly Row[],
  isWhole: boolean,
): ChannelCall[] {
  if (rows.length === 0) return []
  if (same(account, payment.movement.receiver))
    return [claimCall({ rows: rows.map(plain) })]
  const { together, alone } = signatures
  if (isWhole && together !== undefined)
    return [
      claimWithSignatureCall({ rows: all.map(plain), signature: together }),
    ]
  return rows.flatMap((row) => {
    const signature = alone[row.at]
    if (signature === undefined) return []
    return [claimWithSignatureCall({ rows: [plain(row)], signature })]
  })
}

function plain({ config, maxClaimable, signature, claimed }: Row): ClaimRow {
  return { config, maxClaimable, signature, claimed }
}

async function tryEach(
  client: Client,
  claim: Claim,
  rows: readonly Row[],
): Promise<{ passing: Row[]; failing: LeftOut[] }> {
  const { account, payment } = claim
  const tried = await askInChunks(rows, async (row) => {
    const [call] = claimCalls(claim, [row], false)
    if (!call) return { refusal: { words: 'invalid signature' } }
    const parameters = [{ from: account, ...call }, 'latest']
    return tryCall(client, 'eth_call', parameters)
  })
  const passing: Row[] = []
  const failing: LeftOut[] = []
  for (const [at, row] of rows.entries()) {
    const { channelId } = row
    const one = tried[at]
    if (one && 'refusal' in one) {
      const reason = movementReason(payment.movement, one.refusal)
      failing.push({ channelId, reason })
    } else passing.push(row)
  }
  return { passing, failing }
}
