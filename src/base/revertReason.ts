import type { Hex } from 'viem'

/** Why a payment cannot be captured as it stands. */
export type RefusalReason =
  | 'malformedSignature'
  | 'wrongChain'
  | 'wrongToken'
  | 'wrongPrimaryType'
  | 'wrongNonce'
  | 'wrongPayer'
  | 'wrongRecipient'
  | 'selfPayment'
  | 'windowTooLong'
  | 'paused'
  | 'payerBlocked'
  | 'recipientBlocked'
  | 'notYetValid'
  | 'expired'
  | 'consumed'
  | 'wrongDomain'
  | 'wrongSigner'
  | 'walletNotDeployed'
  | 'walletRejects'
  | 'insufficientFunds'
  | 'unsupportedToken'
  | 'gasTooHigh'
  | 'simulationFailed'
  | 'wrongAmount'
  | 'expiresTooSoon'

/**
 * What a token's words mean by themselves. `blocked` and `outsideWindow` need
 * a fact to say which account, or which bound.
 */
export type RevertReason =
  | Extract<
      RefusalReason,
      | 'malformedSignature'
      | 'paused'
      | 'notYetValid'
      | 'expired'
      | 'consumed'
      | 'wrongSigner'
      | 'insufficientFunds'
      | 'unsupportedToken'
      | 'simulationFailed'
      | 'gasTooHigh'
    >
  | 'blocked'
  | 'outsideWindow'

/** Selectors of the custom errors of OpenZeppelin, Paxos, Agora and Solady. */
const customErrors: Record<string, string> = {
  '77c207f4': 'ERC3009InvalidSignature',
  '8f7808c1': 'ERC3009UsedAuthorization',
  '4a931c17': 'ERC3009InvalidAuthorizationTime',
  e450d38c: 'ERC20InsufficientBalance',
  ec442f05: 'ERC20InvalidReceiver',
  f645eedf: 'ECDSAInvalidSignature',
  fce698f7: 'ECDSAInvalidSignatureLength',
  d78bce0c: 'ECDSAInvalidSignatureS',
  d93c0665: 'EnforcedPause',
  '5454b17d': 'CallerMustBePayee',
  c906bf28: 'AuthorizationInvalid',
  '0f05f5bf': 'AuthorizationExpired',
  '8baa579f': 'InvalidSignature',
  '3d78b040': 'InvalidECRecoverSignature',
  '1fd1cc44': 'AddressFrozen',
  ab35696f: 'ContractPaused',
  '356680b7': 'InsufficientFunds',
  f4d678b8: 'InsufficientBalance',
}

/** Tokens word their refusals alike; the first pattern that fits decides. */
const meanings: readonly (readonly [RegExp, RevertReason])[] = [
  [/paused?\b/i, 'paused'],
  [/black ?list|block ?list|frozen|blocked/i, 'blocked'],
  [/not yet valid|NotYetValid|AuthorizationInvalid/, 'notYetValid'],
  [/expired/i, 'expired'],
  [/AuthorizationTime/, 'outsideWindow'],
  [/is used|is canceled|UsedAuthorization|AlreadyUsed/, 'consumed'],
  [
    /signature length|'[sv]' value|SignatureLength|SignatureS/,
    'malformedSignature',
  ],
  [/invalid signature|Invalid(ECRecover)?Signature/i, 'wrongSigner'],
  [/out ?of ?gas/i, 'gasTooHigh'],
  [/exceeds balance|Insufficient(Balance|Funds)/, 'insufficientFunds'],
]

/** What a token's revert means, and its own words where it had any. */
export function readRevert(data: Hex | undefined): {
  reason: RevertReason
  words?: string
} {
  if (!data || data === '0x') return { reason: 'unsupportedToken' }
  return readWords(revertWords(data))
}

/** The same where a node's text of the refusal may be all there is. */
export function readRefusal(refusal: {
  data?: Hex | undefined
  words?: string | undefined
}): { reason: RevertReason; words?: string } {
  const { data = '0x', words = '' } = refusal
  const told = words.replace(/^execution reverted(: )?/, '')
  return data === '0x' && told ? readWords(told) : readRevert(data)
}

/** What a token's refusal means when only a node's text of it is left. */
export function readWords(words: string): {
  reason: RevertReason
  words: string
} {
  const meaning = meanings.find(([pattern]) => pattern.test(words))
  return { reason: meaning?.[1] ?? 'simulationFailed', words: redact(words) }
}

/**
 * Takes out every run of digits, hex digits or base64 longer than an address:
 * it may be secret.
 */
export function redact(text: string): string {
  return text
    .replace(/(0x)?[\da-f]{41,}/gi, '0x…')
    .replace(/[\w+/-]{43,}=*/g, '…')
    .slice(0, 500)
}

function revertWords(data: Hex): string {
  const selector = data.slice(2, 10).toLowerCase()
  const known = customErrors[selector]
  if (known) return `${known}()`
  if (selector !== '08c379a0') return `error 0x${selector}`
  const length = Number(`0x${data.slice(74, 138)}`) || 0
  const text = data.slice(138, 138 + Math.min(length, 500) * 2)
  const bytes = (text.match(/../g) ?? []).map((pair) => Number(`0x${pair}`))
  return new TextDecoder().decode(new Uint8Array(bytes))
}
