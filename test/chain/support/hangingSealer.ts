import type { SealContext, Sealer } from 'countersign/store'
import { noSeal } from '../../../src/store/noSeal.js'

type IsHanging = (
  call: 'seal' | 'open',
  place: SealContext,
  text: string,
) => boolean

/** The order that a payment's secret belongs to; none for a transaction. */
export const orderOf = (place: SealContext): string | undefined =>
  'orderId' in place ? place.orderId : undefined

/** A sealer whose calls do not answer while they are told to hang. */
export type HangingSealer = {
  seal: Sealer
  /** From now on these calls hang. */
  hang(isHanging: IsHanging): void
  /** From now on no new call hangs. Those that hang never answer. */
  mend(): void
  /** Number of calls that hung. */
  hung(): number
}

/** @param latency milliseconds that each other call takes. */
export function openHangingSealer(latency = 0): HangingSealer {
  let isHanging: IsHanging = () => false
  let hung = 0
  const answer = async <result>(
    call: 'seal' | 'open',
    place: SealContext,
    text: string,
    work: () => Promise<result>,
  ): Promise<result> => {
    if (isHanging(call, place, text)) {
      hung++
      return new Promise(() => undefined)
    }
    if (latency > 0)
      await new Promise((resolve) => setTimeout(resolve, latency))
    return work()
  }
  return {
    seal: {
      current: noSeal.current,
      keyNames: noSeal.keyNames,
      seal: (secret, place) =>
        answer('seal', place, secret, () => noSeal.seal(secret, place)),
      open: (sealed, place) =>
        answer('open', place, sealed, () => noSeal.open(sealed, place)),
    },
    hang: (next) => {
      isHanging = next
    },
    mend: () => {
      isHanging = () => false
    },
    hung: () => hung,
  }
}
