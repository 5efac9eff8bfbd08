import { keepTrying } from '../../core/keepTrying.js'
import type { ChannelRecord } from '../../store/types.js'
import type { KeptResponse } from '../gate/types.js'
import { type Sent, settlementOf } from './channelState.js'
import { findAnswer, judgePaid } from './judgePaid.js'
import { pauseUntil } from './pauseUntil.js'
import { built, busy } from './refusals.js'
import type { LiveAnswer, Reply, SignedCall } from './types.js'
import { noteOfAnswer } from './voucherAnswer.js'

/** The result of a handler, and what it charged. */
export type ChannelWork = {
  /** Random name of the run. */
  run: string
  /** Base units of the token. For a stream: what it costs at its beginning. */
  charged: bigint
  /** The deposit of this request, if there is one. */
  sent: Sent | undefined
  /** The answer, unless it is streamed. */
  response: KeptResponse | undefined
  live: LiveAnswer | undefined
}

/** Most tries to write one charge while others change the channel. */
const mostTries = 20

/**
 * Writes a charge with its voucher and answer, in one transaction. Tries again
 * for up to the gate's `timeout` while the database does not answer. An answer
 * whose charge is not written never leaves.
 *
 * @throws the last failure of the database.
 */
export async function bookCharge(
  call: SignedCall,
  channel: ChannelRecord,
  work: ChannelWork,
): Promise<Reply> {
  const { charged, sent, response, live } = work
  // Writes nothing: the client's next voucher is the same one, and must not find
  // this answer.
  if (charged === 0n) {
    const settled = settlementOf({ channel, charged, sent })
    live?.charge.begin(channel, charged)
    return { kind: 'answered', response, live, settled }
  }
  let isSent = false
  try {
    const write = openWrite(call, channel, work)
    const reply = await keepTrying(write, pauseUntil(call.gate.timeout))
    isSent = reply.kind === 'answered' && reply.live !== undefined
    return reply
  } finally {
    if (!isSent) {
      live?.charge.end()
      // Not awaited: the source may never let go.
      live?.response.body?.cancel().catch(() => undefined)
    }
  }
}

/**
 * Returns a function that writes the charge. Safe to repeat: it writes only if
 * nobody has changed the channel, or if the changed channel still allows it.
 */
function openWrite(
  call: SignedCall,
  channel: ChannelRecord,
  { run, charged, sent, response, live }: ChannelWork,
): () => Promise<Reply> {
  const { gate, desk, named, payload, signature, bound } = call
  const { maxClaimable } = payload
  let known = channel
  const write = async (): Promise<Reply | undefined> => {
    const next = { ...known, charged: known.charged + charged }
    const settled = settlementOf({ channel: next, charged, sent })
    const answer = { run, response, settled }
    const note = await noteOfAnswer(gate, next, { bound, answer })
    const written = await desk.charge({
      channel: known,
      value: charged,
      maxClaimable,
      signature,
      note,
    })
    if (!written) return undefined
    live?.charge.begin(written, charged)
    return { kind: 'answered', response, live, settled }
  }
  /** Judges again after somebody has changed the channel. */
  const judge = async (): Promise<Reply | undefined> => {
    const changed = await desk.reload(named.id)
    if (!changed) return built(busy)
    const kept = await findAnswer(call, changed)
    // A failed write of this run has reached the database after all.
    const isOurs = kept?.run === run
    if (isOurs) live?.charge.begin(changed, charged)
    if (kept)
      return {
        kind: 'answered',
        response: kept.response,
        settled: kept.settled,
        live: isOurs ? live : undefined,
      }
    const refused = await judgePaid(call, changed)
    known = changed
    return refused && built(refused)
  }
  return async () => {
    for (let tries = 0; tries < mostTries; tries++) {
      const reply = (await write()) ?? (await judge())
      if (reply) return reply
    }
    return built(busy)
  }
}
