import type { Abi, Address, Hex } from 'viem'
import { InvalidFieldError } from '../base/errors.js'
import { readPayment } from '../base/fields.js'
import { tokenSignature } from '../base/signature.js'
import { eip3009Abi, selectors } from '../base/tokenAbi.js'
import type { SignedPayment } from '../base/types.js'
import { authorizationWords, bytesWords, word } from '../base/words.js'

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

export type CaptureCallParameters = {
  payment: SignedPayment
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
  const { signature: given, ...unsigned } = Object(parameters.payment)
  const payment = readPayment(unsigned)
  const signature = readTokenSignature(given)
  const { from, to, value, validAfter, validBefore, nonce } = payment.message
  const receives = payment.primaryType === 'ReceiveWithAuthorization'
  const words = authorizationWords(payment.message)
  return signedCall({
    token: payment.domain.verifyingContract,
    functionName: receives
      ? 'receiveWithAuthorization'
      : 'transferWithAuthorization',
    selector: receives
      ? { vrs: selectors.receiveVrs, bytes: selectors.receiveBytes }
      : { vrs: selectors.transferVrs, bytes: selectors.transferBytes },
    words,
    args: [from, to, value, validAfter, validBefore, nonce],
    signature,
  })
}

/** The signature in the form tokens take, or an error that never shows it. */
export function readTokenSignature(signature: unknown): Hex {
  const normal = tokenSignature(signature)
  if (!normal)
    throw new InvalidFieldError('signature', signature, 'a wallet signature')
  return normal
}

/** A call whose arguments are static words followed by a signature. */
export function signedCall({
  token,
  functionName,
  selector,
  words,
  args,
  signature,
}: {
  token: Address
  functionName: string
  selector: { vrs: string; bytes: string }
  words: string
  args: readonly unknown[]
  signature: Hex
}): TokenCall {
  const plain = signature.length === 132
  const [r, s] = [signature.slice(2, 66), signature.slice(66, 130)]
  const v = Number(`0x${signature.slice(130, 132)}`)
  const tail = plain
    ? word(v) + r + s
    : word(words.length / 2 + 32) + bytesWords(signature)
  return {
    to: token,
    data: `0x${plain ? selector.vrs : selector.bytes}${words}${tail}`,
    address: token,
    abi: eip3009Abi.filter(
      (item) =>
        item.name === functionName &&
        item.inputs.length === args.length + (plain ? 3 : 1),
    ),
    functionName,
    args: plain ? [...args, v, `0x${r}`, `0x${s}`] : [...args, signature],
  }
}
