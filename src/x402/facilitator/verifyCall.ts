import type { Client } from 'viem'
import type { X402ErrorCode } from '../wire/errorCodes.js'
import { orderIdOf } from '../wire/orderIdOf.js'
import type { FacilitatorDesk, SettledCaller } from './facilitatorDesk.js'
import { hasGas } from './gasBudget.js'
import { judgePayment } from './judgePayment.js'
import { loadOwned } from './ownedPayment.js'
import type { FacilitatorCall } from './parseCall.js'
import { refuseOwned } from './settlePayment.js'

/** Whether `/settle` would take a payment now. */
export type VerifyOutcome =
  | { ok: true }
  | { ok: false; code: X402ErrorCode; words?: string | undefined }

/**
 * Says whether `/settle` would take a payment now, and writes nothing.
 *
 * A payment that another `/settle` is working on, or that was answered with a
 * success, is invalid. One whose `/settle` was never answered is valid: its
 * caller does its work again, and settles again.
 */
export async function verifyCall(
  desk: FacilitatorDesk,
  {
    call,
    caller,
    client,
  }: { call: FacilitatorCall; caller: SettledCaller; client: Client },
): Promise<VerifyOutcome> {
  const owned = await loadOwned(desk.context, orderIdOf(call.payment))
  if (owned) {
    const refusal = refuseOwned(desk, owned, { caller, call })
    if (refusal) return refusal
    return owned.held
      ? { ok: false, code: 'invalid_exact_evm_nonce_already_used' }
      : { ok: true }
  }
  const judged = await judgePayment(desk, call, client)
  if (!judged.ok) return judged
  return (await hasGas(desk.context, caller))
    ? { ok: true }
    : { ok: false, code: 'gas_budget_exceeded' }
}
