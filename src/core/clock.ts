import { ClockSkewError, InvalidFieldError } from './errors.js'

/** Chains for development, whose clock may be moved at will. */
export const devChainIds: readonly number[] = [31337, 1337]

/** Seconds by which the clocks of chain and machine may differ. */
export const maxClockSkew = 120n

/** Later than any Unix second that counts, and a number every database takes. */
export const endOfTime: bigint = 4_611_686_018_427_387_904n

/** The clock of this machine in Unix seconds. */
export function wallTime(): bigint {
  return BigInt(Math.floor(Date.now() / 1000))
}

/** A time as given, or this machine's; a `number` is refused. */
export function parseTime(now: bigint = wallTime()): bigint {
  if (typeof now !== 'bigint')
    throw new InvalidFieldError('now', now, 'a bigint of Unix seconds')
  return now
}

/**
 * Refuses a head that disagrees with the wall clock: a lying or halted node
 * would make signatures that live for years or are born dead. Development
 * chains are exempt by their chain id.
 *
 * @throws {@link ClockSkewError}
 */
export function checkClock(
  head: { timestamp: bigint; chainId: number },
  now: bigint,
): void {
  const difference = head.timestamp - now
  const skewed = difference > maxClockSkew || -difference > maxClockSkew
  if (skewed && !devChainIds.includes(head.chainId))
    throw new ClockSkewError({ chain: head.timestamp, wall: now })
}
