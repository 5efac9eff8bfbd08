import { type Hex, hexToString } from 'viem'
import { hashText } from './hashText.js'
import { redact } from './redact.js'

/** Why the token would refuse to capture a payment. */
export type RefusalReason =
  | 'malformedSignature'
  | 'wrongChain'
  | 'wrongToken'
  | 'wrongPrimaryType'
  | 'wrongNonce'
  | 'wrongPayer'
  | 'wrongRecipient'
  | 'wrongOperator'
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
  | 'insufficientAllowance'
  | 'unsupportedToken'
  | 'checkoutNotDeployed'
  | 'gasTooHigh'
  | 'simulationFailed'
  | 'wrongAmount'
  | 'expiresTooSoon'

/**
 * The reasons that the error text of a token can name. `blocked`,
 * `outsideWindow` and `approvalRefused` do not say which account, which end of
 * the window, or why the token refused a permit: that needs another check.
 */
export type RevertReason =
  | Extract<
      RefusalReason,
      | 'malformedSignature'
      | 'wrongNonce'
      | 'paused'
      | 'notYetValid'
      | 'expired'
      | 'consumed'
      | 'wrongSigner'
      | 'insufficientFunds'
      | 'insufficientAllowance'
      | 'unsupportedToken'
      | 'simulationFailed'
      | 'gasTooHigh'
    >
  | 'blocked'
  | 'outsideWindow'
  | 'approvalRefused'

/** Custom errors of OpenZeppelin, Paxos, Agora and Solady, by signature. */
const customErrors = [
  'ERC3009InvalidSignature()',
  'ERC3009UsedAuthorization(address,bytes32)',
  'ERC3009InvalidAuthorizationTime(uint256,uint256)',
  'InvalidAccountNonce(address,uint256)',
  'ERC20InsufficientBalance(address,uint256,uint256)',
  'ERC20InsufficientAllowance(address,uint256,uint256)',
  'ERC20InvalidReceiver(address)',
  'ERC2612ExpiredSignature(uint256)',
  'ERC2612InvalidSigner(address,address)',
  'ECDSAInvalidSignature()',
  'ECDSAInvalidSignatureLength(uint256)',
  'ECDSAInvalidSignatureS(bytes32)',
  'EnforcedPause()',
  'CallerMustBePayee()',
  'AuthorizationInvalid()',
  'AuthorizationExpired()',
  'InvalidSignature()',
  'InvalidECRecoverSignature()',
  'AddressFrozen()',
  'ContractPaused()',
  'InsufficientFunds()',
  'InsufficientBalance()',
  'InsufficientAllowance()',
  'PermitExpired()',
  'InvalidPermit()',
]

/**
 * Patterns for the error texts of tokens, and their meaning. The first pattern
 * that matches decides.
 */
const meanings: readonly (readonly [RegExp, RevertReason])[] = [
  [/paused?\b/i, 'paused'],
  [/black ?list|block ?list|frozen|blocked/i, 'blocked'],
  [/not yet valid|NotYetValid|AuthorizationInvalid/, 'notYetValid'],
  [/expired/i, 'expired'],
  [/AuthorizationTime/, 'outsideWindow'],
  [/nonce is used or not the next/, 'approvalRefused'],
  [/is used|is canceled|UsedAuthorization|AlreadyUsed/, 'consumed'],
  [/InvalidAccountNonce/, 'wrongNonce'],
  [
    /signature length|'[sv]' value|SignatureLength|SignatureS/,
    'malformedSignature',
  ],
  [
    /invalid signature|Invalid(ECRecover)?Sign(ature|er)|InvalidPermit/i,
    'wrongSigner',
  ],
  [/out ?of ?gas/i, 'gasTooHigh'],
  [/exceeds balance|Insufficient(Balance|Funds)/, 'insufficientFunds'],
  [
    /exceeds (\w+ )?allowance|insufficient[ -]?allowance/i,
    'insufficientAllowance',
  ],
]

/**
 * Parses the revert data of a token into a reason. Also returns the token's
 * error text if there is one.
 */
export function parseRevert(data: Hex | undefined): {
  reason: RevertReason
  words?: string
} {
  if (!data || data === '0x') return { reason: 'unsupportedToken' }
  return parseWords(revertWords(data))
}

/**
 * Like {@link parseRevert}. Without revert data, parses the error text of the
 * node instead.
 */
export function parseRefusal(refusal: {
  data?: Hex | undefined
  words?: string | undefined
}): { reason: RevertReason; words?: string } {
  const { data = '0x', words = '' } = refusal
  const told = words.replace(/^execution reverted(: )?/, '')
  return data === '0x' && told ? parseWords(told) : parseRevert(data)
}

export function parseWords(words: string): {
  reason: RevertReason
  words: string
} {
  const meaning = meanings.find(([pattern]) => pattern.test(words))
  return { reason: meaning?.[1] ?? 'simulationFailed', words: redact(words) }
}

function revertWords(data: Hex): string {
  const selector = data.slice(2, 10).toLowerCase()
  const known = customErrors.find(
    (signature) => hashText(signature).slice(2, 10) === selector,
  )
  if (known) return known.replace(/\(.*/, '()')
  if (selector !== '08c379a0') return `error 0x${selector}`
  const length = Number(`0x${data.slice(74, 138)}`) || 0
  const text = data.slice(138, 138 + Math.min(length, 500) * 2)
  return hexToString(`0x${text}`)
}
