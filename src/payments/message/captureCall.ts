import type { Abi, Address, Hex } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { eip3009Abi } from '../../core/tokenAbi.js'
import type { SignedPayment } from '../../core/types.js'
import { type EncodedCall, encodeCapture, isPlain } from './encodeCall.js'

/**
 * A call to a token: `to` and `data` for a transaction, a batch or a user
 * operation; `address`, `abi`, `functionName` and `args` for `writeContract`.
 */
export type TokenCall = {
  to: Address
  data: Hex
  address: Address
  /** The one function of the call, so that no overload is guessed. */
  abi: Abi
  functionName: string
  args: readonly unknown[]
}

/** What {@link captureCall} takes. */
export type CaptureCallParameters = {
  payment: SignedPayment
}

const members: MembersOf<CaptureCallParameters> = {
  payment: true,
}

/**
 * The call that settles a payment: the function follows from its primary
 * type, the overload from the length of its signature (65 bytes: `v`, `r`,
 * `s`; anything else: `bytes`). `receiveWithAuthorization` works for the
 * recipient as the caller only.
 *
 * Says nothing about whether the token accepts it; `verifyPayment` does.
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
  checkMembers(parameters, members)
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

/** A call with its ABI and its arguments, as `writeContract` takes them. */
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
