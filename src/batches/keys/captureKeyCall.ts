import type { Address, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { type BatchedCall, parseBatchedCall } from '../calls/batchCall.js'
import { captureMethods, readPermission } from './permission.js'
import { redeemCall, redeemGas } from './redeemCall.js'

/** Parameters of {@link captureKeyCall}. */
export type CaptureKeyCallParameters = {
  /** The permission that `createCaptureKey` returned. */
  permission: Hex
  /** The capture, for example from `captureCall`. */
  call: BatchedCall
}

/**
 * Builds the transaction with which a capture key captures a payment to its
 * treasury. A key that is delegated itself can put many into {@link batchCall}.
 *
 * Asks no node: whether the permission works, see {@link getCaptureKey}.
 *
 * @throws {@link InvalidFieldError} when the permission is not one of
 * `createCaptureKey`, or does not allow the call.
 *
 * @example
 * ```ts
 * import { captureCall, type SignedPayment } from 'countersign'
 * import { captureKeyCall } from 'countersign/batches'
 * import type { Hex, WalletClient } from 'viem'
 *
 * const capture = (key: WalletClient, permission: Hex, payment: SignedPayment) =>
 *   key.sendTransaction({
 *     ...captureKeyCall({ permission, call: captureCall({ payment }) }),
 *     account: key.account ?? null,
 *     chain: key.chain,
 *   })
 * ```
 */
export function captureKeyCall(
  parameters: CaptureKeyCallParameters,
): Required<BatchedCall> & { gas: bigint } {
  checkMembers(parameters, ['permission', 'call'])
  const { permission: given, call }: CaptureKeyCallParameters =
    Object(parameters)
  const place = { chainId: 0, field: 'permission' }
  const found = readPermission(given, place)
  const { to, data, gas } = parseBatchedCall(call, 'call')
  checkAllowed(found.tokens, { to, data })
  const redeem = redeemCall(found.permission, { to, data })
  return { ...redeem, gas: gas + redeemGas(found) }
}

function checkAllowed(
  tokens: readonly Address[],
  { to, data }: { to: Address; data: Hex },
): void {
  if (!tokens.includes(to))
    throw new InvalidFieldError('call.to', shown(to), tokens)
  if (!captureMethods().includes(data.slice(2, 10)))
    throw new InvalidFieldError(
      'call.data',
      shown(data.slice(0, 10)),
      'a call of receiveWithAuthorization',
    )
}
