import { formatAmount, parseAmount } from '../../core/amount.js'
import {
  InvalidAmountError,
  InvalidFieldError,
  shown,
} from '../../core/errors.js'

/** What a handler charges for one request. */
export type Charging = {
  /** What the handler calls. */
  charge: (amount: string) => void
  /** Ends the charging. Returns base units of the token. */
  end: () => bigint
}

/**
 * Opens the charging of one request. The handler may call `charge` until it
 * returns; without a call, it charges `most`.
 *
 * @param most base units of the token.
 */
export function openCharge(most: bigint, decimals: number): Charging {
  let charged = most
  let hasEnded = false
  return {
    charge: (amount) => {
      if (hasEnded)
        throw new InvalidFieldError(
          'charge',
          shown(amount),
          'called before the handler returns',
        )
      charged = parseCharge(amount, most, decimals)
    },
    end: () => {
      hasEnded = true
      return charged
    },
  }
}

/** @throws {@link InvalidFieldError} */
function parseCharge(amount: string, most: bigint, decimals: number): bigint {
  if (typeof amount === 'string' && /^0(\.0{1,255})?$/.test(amount)) return 0n
  try {
    const value = parseAmount(amount, decimals)
    if (value <= most) return value
  } catch (error) {
    if (!(error instanceof InvalidAmountError)) throw error
  }
  throw new InvalidFieldError(
    'charge',
    shown(amount),
    `a decimal string from '0' to '${formatAmount(most, decimals)}' with at most ${decimals} places`,
  )
}
