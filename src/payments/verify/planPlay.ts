import type { SignedPayment } from '../../core/types.js'
import { encodeCapture, isPlain } from '../message/encodeCall.js'
import { defaultMaxCaptureGas, fixedGasOf } from './rehearse.js'
import type { Act, FixedGas } from './types.js'

/** A capture as it is played, alone or among others. */
export type Play = {
  act: Act & { transfer: SignedPayment['message'] }
  fixed: FixedGas
  /** Gas it may use. */
  allowed: number
  /** Gas it is given among others: all that is given counts for a node. */
  given: number
}

/** Of a key's capture: half as much again as real tokens take. */
const usualGas = 100_000

/** A balance, with the token's proxies perhaps not yet warm. */
export const balanceGas = 25_000

/** Facts that are asked when the token is warm. */
export const factGas = 20_000

export function planPlay(
  payment: SignedPayment,
  maxGas: bigint = defaultMaxCaptureGas,
): Play {
  const { domain, message, signature } = payment
  const call = encodeCapture(payment)
  const fixed = fixedGasOf(call.data)
  const allowed = Math.max(Number(maxGas) - fixed.intrinsic, 0)
  const { from: payer, nonce } = message
  return {
    act: { domain, call, payer, nonce, signature, transfer: message },
    fixed,
    allowed,
    // A contract wallet may want all of it.
    given: isPlain(call.signature) ? Math.min(usualGas, allowed) : allowed,
  }
}

/** What a play and its facts add to the gas of a request, rounded up. */
export function weightOf({ given }: Play): number {
  return (given + balanceGas + 2 * factGas) * 1.05
}
