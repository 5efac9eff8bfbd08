import type { Client } from 'viem'
import type { X402ErrorCode } from '../wire/errorCodes.js'
import { orderIdOf } from '../wire/orderIdOf.js'
import type { FacilitatorContext, SettledCaller } from './facilitatorContext.js'
import { hasGas } from './gasBudget.js'
import { judgeCall } from './judgeCall.js'
import { loadOwned } from './ownedPayment.js'
import type { FacilitatorCall } from './parseCall.js'
import { refuseOwned } from './settlePayment.js'

/**
 * `ok` if `/settle` would accept a payment now; otherwise the x402 error code.
 */
export type VerifyOutcome =
  | { ok: true }
  | { ok: false; code: X402ErrorCode; words?: string | undefined }

/**
 * Checks whether `/settle` would accept a payment now. Writes nothing.
 *
 * A payment is invalid while a `/settle` call works on it, and after one
 * returned a success, unless its caller has `deduplicates`. If that success
 * never reached the server, the payment stays valid, so that the server can
 * deliver and settle again.
 */
export async function verifyCall(
  facilitator: FacilitatorContext,
  {
    call,
    caller,
    client,
  }: { call: FacilitatorCall; caller: SettledCaller; client: Client },
): Promise<VerifyOutcome> {
  const findRecorded = async (): Promise<VerifyOutcome | undefined> => {
    const owned = await loadOwned(facilitator.context, orderIdOf(call.payment))
    if (!owned) return undefined
    const refusal = refuseOwned(facilitator, owned, { caller, call })
    if (refusal) return refusal
    return owned.held
      ? { ok: false, code: 'invalid_exact_evm_nonce_already_used' }
      : { ok: true }
  }
  const recorded = await findRecorded()
  if (recorded) return recorded
  const judged = await judgeCall(facilitator, call, client)
  // A call of `/settle` may have captured the payment meanwhile.
  if (!judged.ok) return (await findRecorded()) ?? judged
  return (await hasGas(facilitator.context, caller))
    ? { ok: true }
    : { ok: false, code: 'gas_budget_exceeded' }
}
