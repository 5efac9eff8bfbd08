import type { Address, Hash, Hex } from 'viem'
import {
  getSettled,
  movementFacts,
  type PlannedRow,
  planClaim,
} from '../../channels/engine.js'
import { hashText } from '../../core/hashText.js'
import type { StoreReader, StoreWriter } from '../../store/types.js'
import { authorizeClaim } from './authorize.js'
import {
  type ChannelFacilitator,
  pending,
  type RefusedCall,
  refuseCall,
  type ServedCall,
} from './context.js'
import { claimIds } from './movementIds.js'
import { type MadeMovement, sendMovement } from './sendMovement.js'
import { type ChannelSettled, readAfter } from './stateAfter.js'

type WantedClaim = {
  rows: readonly PlannedRow[]
  /** Signature of the server's own authorizer. */
  signature: Hex | undefined
  /** The transaction of the same call that left out some of these rows. */
  after?: Hash | undefined
}

/**
 * Claims from channels, and pays the receiver what is claimed, in one
 * transaction. If a channel fails, claims the others, and answers with a failure
 * that names it. If the server signed the batch and the receiver's own wallet
 * does not send it, claims none then.
 */
export async function settleClaim(
  scheme: ChannelFacilitator,
  call: ServedCall,
  { rows, signature, after }: WantedClaim,
): Promise<ChannelSettled | RefusedCall> {
  const { caller, chainId, recipient: receiver, token } = call
  const wrong = refuseRows(call, rows)
  if (wrong) return wrong
  const content = rows.map(({ channelId, maxClaimable, claimed }) =>
    [channelId, maxClaimable, claimed].join(),
  )
  const sent = await sendMovement(scheme.facilitator, {
    ...call,
    action: 'claim',
    ids: claimIds([
      ...[caller.name, chainId, receiver, token],
      ...(after ? [after] : []),
      ...content,
    ]),
    plan: async () => {
      const { channels } = scheme
      const signed = await authorizeClaim(scheme, call, { rows, signature })
      if ('code' in signed) return signed
      const facts = await movementFacts(channels, call)
      const value = rows.reduce((sum, { claimed }) => sum + claimed, 0n)
      return planClaim(facts, { receiver, rows, signatures: signed, value })
    },
    keep: (tables, made) => keepSettled(tables, call, made),
  })
  if (!sent.ok && !isRehearsed(sent))
    return { ...sent, hash: sent.hash ?? after }
  const hash = sent.ok ? sent.made.transactionHash : after
  const block = sent.ok ? sent.made.blockNumber : 0n
  const unclaimed = await findUnclaimed(call, rows, block)
  if (!unclaimed) return sent.ok ? pending(hash) : sent
  // Without a hash, somebody else has claimed them all.
  if (unclaimed.length === 0) return { ok: true, hash }
  // What failed when the transaction was sent may pass by now: a channel's
  // balance may be enough. What the server signed stays together.
  if (sent.ok && hash !== after) {
    const left = rows.filter(({ channelId }) => unclaimed.includes(channelId))
    const rest = signature === undefined ? left : rows
    return settleClaim(scheme, call, { rows: rest, signature, after: hash })
  }
  const words = `Not claimed: ${unclaimed.join(', ')}.`
  return { ...refuseCall('claim_simulation_failed', words), hash }
}

const isRehearsed = ({ code }: RefusedCall) =>
  code === 'invalid_batch_settlement_evm_claim_simulation_failed'

/** A transaction can claim from channels of one receiver, token and authorizer. */
function refuseRows(
  { recipient, token }: ServedCall,
  rows: readonly PlannedRow[],
): RefusedCall | undefined {
  const authorizer = rows[0]?.config.receiverAuthorizer
  for (const { config } of rows) {
    if (config.receiver !== recipient) return refuseCall('receiver_mismatch')
    if (config.token !== token) return refuseCall('token_mismatch')
    if (config.receiverAuthorizer !== authorizer)
      return refuseCall(
        'receiver_authorizer_mismatch',
        'All channels of one claim need the same receiverAuthorizer.',
      )
  }
  return undefined
}

/** Finds the channels that do not show their claim after a block. */
async function findUnclaimed(
  call: ServedCall,
  rows: readonly PlannedRow[],
  blockNumber: bigint,
): Promise<Hex[] | undefined> {
  const channelIds = rows.map(({ channelId }) => channelId)
  const states = await readAfter(call, { channelIds, blockNumber })
  return (
    states &&
    rows.flatMap(({ channelId, claimed }, at) =>
      (states[at]?.claimed ?? 0n) < claimed ? [channelId] : [],
    )
  )
}

/**
 * Pays the receiver what is claimed. Usually a claim has done so already: then
 * returns the claim's transaction. The stock facilitator refuses such a call, but
 * its claims pay nobody: the server's manager asks after each claim, and would
 * take a refusal for a failure.
 */
export async function settleReceiver(
  scheme: ChannelFacilitator,
  call: ServedCall,
  asked: { receiver: Address; token: Address },
): Promise<ChannelSettled | RefusedCall> {
  const { caller, chainId, client, recipient: receiver, token } = call
  if (asked.receiver !== receiver) return refuseCall('receiver_mismatch')
  if (asked.token !== token) return refuseCall('token_mismatch')
  const totals = await getSettled(client, { receiver, token })
  if (totals.claimed <= totals.settled) {
    const { store } = scheme.facilitator.context
    const known = await store.read((tables) => loadSettled(tables, call))
    return known ?? refuseCall('nothing_to_settle')
  }
  const sent = await sendMovement(scheme.facilitator, {
    ...call,
    action: 'settle',
    ids: claimIds([caller.name, chainId, receiver, token, totals.claimed]),
    plan: async () => {
      const { channels } = scheme
      const value = totals.claimed - totals.settled
      return planClaim(await movementFacts(channels, call), {
        receiver,
        rows: [],
        signatures: { alone: [] },
        value,
      })
    },
    keep: (tables, made) => keepSettled(tables, call, made),
  })
  if (!sent.ok) return sent
  const { transactionHash: hash, value } = sent.made
  return { ok: true, hash, value }
}

type Receiver = { chainId: number; recipient: Address; token: Address }

/**
 * Milliseconds for which a settlement is kept for calls that ask for it. A server
 * may settle only once a day what it has claimed.
 */
const keptFor = 86_400_000n

/** Stores the newest transaction that paid a receiver. */
async function keepSettled(
  { notes }: StoreWriter,
  receiver: Receiver,
  { transactionHash, value, blockTime }: MadeMovement,
): Promise<void> {
  if (value === 0n) return
  const key = placeOf(receiver)
  const until = blockTime * 1000n + keptFor
  const data = { hash: transactionHash, value: String(value) }
  const [note] = await notes.find({ keys: [key] })
  if (note) await notes.update([{ key, until, data, version: note.version }])
  else await notes.insert([{ key, until, data }])
}

async function loadSettled(
  { notes }: Pick<StoreReader, 'notes'>,
  receiver: Receiver,
): Promise<ChannelSettled | undefined> {
  const [note] = await notes.find({ keys: [placeOf(receiver)] })
  if (!note) return undefined
  const { hash, value } = note.data
  return { ok: true, hash: hash as Hash, value: BigInt(String(value)) }
}

const placeOf = ({ chainId, recipient, token }: Receiver) =>
  `x402Settled:${hashText(`${chainId} ${recipient} ${token}`)}`
