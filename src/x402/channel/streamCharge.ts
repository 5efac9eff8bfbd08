import type { Hex } from 'viem'
import { leftOf } from '../../channels/engine.js'
import { keepTrying } from '../../core/keepTrying.js'
import type { ChannelRecord } from '../../store/types.js'
import { ChargeRejectedError } from '../gate/errors.js'
import { type Sent, settlementOf } from './channelState.js'
import { pauseUntil } from './pauseUntil.js'
import type { SignedCall, StreamCharge } from './types.js'
import { loadAnswer, noteOfAnswer } from './voucherAnswer.js'

/** The state of a stream on record. */
type OnRecord = {
  channel: ChannelRecord
  charged: bigint
  /**
   * The key of the answer on record: `bound` of the call. Another one if the
   * stream began at 0: the client's next voucher is then the same one, and must
   * not find this answer.
   */
  bound: Hex
}

type Stream = {
  call: SignedCall
  /** The deposit of the request, if there is one. */
  sent: Sent | undefined
  /** Random name of the run. */
  run: string
}

/** Most tries to write one total while others change the channel. */
const mostTries = 20

/**
 * Opens the charging of a stream. It ends by itself when nothing is left to
 * charge, once a charge was rejected, or after the offer's `maxTimeoutSeconds`: a
 * stream that never ends must not hold up the other requests of its channel.
 */
export function openStreamCharge(stream: Stream): StreamCharge {
  const { gate, terms } = stream.call
  const begun = openLatch()
  const over = openLatch()
  let known: OnRecord | undefined
  let wanted = 0n
  let isOver = false
  let writing: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  const end = () => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    begun.open()
    const last = writing ?? Promise.resolve()
    last.then(over.open, over.open)
  }
  const write = async (from: OnRecord) => {
    try {
      known = await gate.instance.hold(raiseTotal(stream, from, wanted))
      if (known.charged === terms.value) end()
    } catch (error) {
      // It cannot cost more, so it need not hold up other requests.
      if (error instanceof ChargeRejectedError) end()
      throw error
    }
  }
  return {
    over: over.opened,
    end,
    begin: (channel, charged) => {
      const bound: Hex = charged > 0n ? stream.call.bound : `0x${stream.run}`
      known = { channel, charged, bound }
      begun.open()
      if (charged === terms.value) return end()
      timer = setTimeout(end, terms.offer.maxTimeoutSeconds * 1000)
      Object(timer).unref?.()
    },
    raise: async (total) => {
      wanted = total
      await begun.opened
      while (!known || known.charged < total) {
        if (!known || isOver) throw new ChargeRejectedError({ reason: 'ended' })
        writing ??= write(known).finally(() => {
          writing = undefined
        })
        await writing
      }
    },
  }
}

/** A promise that is resolved from outside. */
function openLatch(): { opened: Promise<void>; open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/**
 * Writes a higher total. Tries again for up to the gate's `timeout` while the
 * database does not answer.
 *
 * @throws {@link ChargeRejectedError}
 * @throws the last failure of the database.
 */
async function raiseTotal(
  stream: Stream,
  from: OnRecord,
  total: bigint,
): Promise<OnRecord> {
  const { gate, desk, named } = stream.call
  let known = from.channel
  const isOfRun = async (channel: ChannelRecord) =>
    (await loadAnswer(gate, channel, from.bound))?.run === stream.run
  const tryOnce = async (): Promise<OnRecord | ChargeRejectedError> => {
    for (let tries = 0; tries < mostTries; tries++) {
      const charged = known.charged + total - from.charged
      if (charged > (leftOf(known) ?? 0n))
        return new ChargeRejectedError({ reason: 'stopped' })
      const written = await writeTotal(
        stream,
        { ...from, channel: known },
        total,
      )
      if (written) return { ...from, channel: written, charged: total }
      const changed = await desk.reload(named.id)
      if (!changed) break
      // A failed write has reached the database after all.
      const isOurs = changed.charged === charged && (await isOfRun(changed))
      if (isOurs) return { ...from, channel: changed, charged: total }
      if (changed.charged !== known.charged || changed.signed !== known.signed)
        break
      known = changed
    }
    return new ChargeRejectedError({ reason: 'channelChanged' })
  }
  const raised = await keepTrying(tryOnce, pauseUntil(gate.timeout))
  if (raised instanceof ChargeRejectedError) throw raised
  return raised
}

async function writeTotal(
  { call, sent, run }: Stream,
  { channel, charged, bound }: OnRecord,
  total: bigint,
): Promise<ChannelRecord | undefined> {
  const { gate, desk, payload, signature } = call
  const value = total - charged
  const next = { ...channel, charged: channel.charged + value }
  const settled = settlementOf({ channel: next, charged: total, sent })
  const note = await noteOfAnswer(gate, next, {
    bound,
    answer: { run, response: undefined, settled },
  })
  const { maxClaimable } = payload
  return desk.charge({ channel, value, maxClaimable, signature, note })
}
