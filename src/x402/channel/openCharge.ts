import { formatAmount, parseAmount } from '../../core/amount.js'
import {
  InvalidAmountError,
  InvalidFieldError,
  shown,
} from '../../core/errors.js'
import type { StreamCharge } from './types.js'

/** What a handler charges for one request. */
export type Charging = {
  /** What the handler calls. */
  charge: (amount: string) => Promise<void>
  /** True once the handler has called `charge`. */
  hasCharged: () => boolean
  /**
   * Ends the charging. Returns base units of the token. With `stream`, later
   * calls raise its total.
   */
  end: (stream: StreamCharge | undefined) => bigint
}

/** The amounts that `charge` accepts, in base units of the token. */
type Bounds = { least: bigint; most: bigint }

/**
 * Opens the charging of one request. The request costs `most` if `charge` is not
 * called before the answer begins.
 *
 * @param most base units of the token.
 */
export function openCharge(most: bigint, decimals: number): Charging {
  let total: bigint | undefined
  let hasEnded = false
  let stream: StreamCharge | undefined
  return {
    // Not async: a wrong amount must fail the handler even if it does not await
    // the call.
    charge: (amount) => {
      if (hasEnded && !stream)
        throw new InvalidFieldError(
          'charge',
          shown(amount),
          'called before the handler returns',
        )
      const least = (stream && total) ?? 0n
      total = parseCharge(amount, { least, most }, decimals)
      const raised = stream?.raise(total) ?? Promise.resolve()
      raised.catch(() => undefined)
      return raised
    },
    hasCharged: () => total !== undefined,
    end: (streamed) => {
      hasEnded = true
      stream = streamed
      total ??= most
      return total
    },
  }
}

/** @throws {@link InvalidFieldError} */
function parseCharge(
  amount: string,
  { least, most }: Bounds,
  decimals: number,
): bigint {
  const value = parseTotal(amount, decimals)
  if (value !== undefined && value >= least && value <= most) return value
  const from = least === 0n ? '0' : formatAmount(least, decimals)
  throw new InvalidFieldError(
    'charge',
    shown(amount),
    `a decimal string from '${from}' to '${formatAmount(most, decimals)}' with at most ${decimals} places`,
  )
}

function parseTotal(amount: string, decimals: number): bigint | undefined {
  if (typeof amount === 'string' && /^0(\.0{1,255})?$/.test(amount)) return 0n
  try {
    return parseAmount(amount, decimals)
  } catch (error) {
    if (error instanceof InvalidAmountError) return undefined
    throw error
  }
}
