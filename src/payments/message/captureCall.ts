import type { Abi, Address, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { eip3009Abi } from '../../core/tokenAbi.js'
import type { SignedPayment } from '../../core/types.js'
import { type EncodedCall, encodeCapture, isPlain } from './encodeCall.js'

/**
 * A call to a token. Use `to` and `data` for a transaction, a batch or a user
 * operation; `address`, `abi`, `functionName` and `args` for viem's
 * `writeContract`.
 */
export type TokenCall = {
  to: Address
  data: Hex
  address: Address
  /**
   * Contains only the function to call, so that a library cannot choose the
   * other one of the same name.
   */
  abi: Abi
  functionName: string
  args: readonly unknown[]
}

/** The signed payment that {@link captureCall} encodes. */
export type CaptureCallParameters = {
  payment: SignedPayment
}

/**
 * Builds the call that captures a payment. The primary type decides the
 * function. The length of the signature decides the overload (65 bytes: `v`,
 * `r`, `s`; otherwise `bytes`). Only the recipient can call
 * `receiveWithAuthorization`.
 *
 * Does not check whether the token accepts the call: use `verifyPayment`.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { captureCall, type SignedPayment } from 'countersign'
 *
 * const calls = (payments: readonly SignedPayment[]) =>
 *   payments.map((payment) => captureCall({ payment }))
 * ```
 */
export function captureCall(parameters: CaptureCallParameters): TokenCall {
  checkMembers(parameters, ['payment'])
  const call = encodeCapture(Object(parameters).payment)
  const { primaryType, message } = call.signed
  const { from, to, value, validAfter, validBefore, nonce } = message
  return describeCall(call, {
    functionName:
      primaryType === 'ReceiveWithAuthorization'
        ? 'receiveWithAuthorization'
        : 'transferWithAuthorization',
    message: [from, to, value, validAfter, validBefore, nonce],
  })
}

/** Adds the ABI and the arguments that viem's `writeContract` takes. */
export function describeCall(
  { to, data, signature }: EncodedCall<unknown>,
  described: { functionName: string; message: readonly unknown[] },
): TokenCall {
  const { functionName, message } = described
  const v = Number(`0x${signature.slice(130)}`)
  const [r, s] = [signature.slice(2, 66), signature.slice(66, 130)]
  const args = isPlain(signature)
    ? [...message, v, `0x${r}`, `0x${s}`]
    : [...message, signature]
  return {
    to,
    data,
    address: to,
    abi: eip3009Abi.filter(
      ({ name, inputs }) =>
        name === functionName && inputs.length === args.length,
    ),
    functionName,
    args,
  }
}
