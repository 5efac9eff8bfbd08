import type { Hex } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { isTrue, isWord, readWord } from '../../chain/state/executor.js'
import {
  decodeDomain,
  parseDecimals,
  refuses,
} from '../../chain/state/probeToken.js'
import type { CallAnswer, RunAnswers } from '../../chain/state/types.js'
import { hashDomain } from '../../core/hashPayment.js'
import {
  parseRefusal,
  type RefusalReason,
  type RevertReason,
} from '../../core/revertReason.js'
import { isWrappedSignature } from '../../core/signature.js'
import type { TokenDomain, VerifiedAt } from '../../core/types.js'
import type { Facts, FixedGas, Rehearsal, RehearsedCall } from './types.js'

type Answers = Omit<RunAnswers<never>, 'calls'> & { calls: Facts }

/**
 * Turns the answers of a simulated capture into a verdict. The facts that were
 * read in the same request make the reason of a refusal more precise.
 *
 * @throws {@link NodeAnswerError} when the capture succeeds, but the node does
 * not return the recipient's balance before or after it.
 */
export function judgeRehearsal(
  call: RehearsedCall,
  answers: Answers,
  { gas, fixed }: { gas: number; fixed: FixedGas },
): Rehearsal {
  const { head, steps, calls } = answers
  const [result] = steps
  const at: VerifiedAt = {
    block: head.number,
    time: head.timestamp,
    via: head.via,
    ...(result?.gasUsed === undefined
      ? {}
      : { gasUsed: wholeGas(result.gasUsed, fixed) }),
  }
  const refuse = (reason: RefusalReason, words?: string): Rehearsal => ({
    ok: false,
    head,
    at,
    reason,
    ...(words ? { words } : {}),
  })

  if (head.chainId !== call.domain.chainId) return refuse('wrongChain')
  if (!calls.token.hasCode || !result) return refuse('unsupportedToken')
  if (!result.ok) {
    const { reason, words } = parseRefusal(result)
    if (blamesGas.includes(reason) && ranOutOfGas(result, gas))
      return refuse('gasTooHigh', words)
    return refuse(refine(reason, call, answers), words)
  }
  if (call.returnsWord && !isWord(result)) return refuse('checkoutNotDeployed')
  if (fixed.least > gas + fixed.intrinsic) return refuse('gasTooHigh')
  if (isTrue(calls.consumed)) return refuse('consumed')
  if ((call.transfer?.validAfter ?? 0n) >= blockNumberFlag)
    return refuse('notYetValid', 'the window is in block numbers')
  if (movedOtherwise(call, answers))
    return refuse(
      'simulationFailed',
      'the recipient would not receive exactly the signed value',
    )
  return { ok: true, head, at, decimals: parseDecimals(calls.decimals) }
}

/**
 * OpenZeppelin's token takes the window as block numbers if both bounds have
 * this bit. Unix times in seconds never reach it.
 */
const blockNumberFlag = 0x800000000000n

function wholeGas(used: bigint, { intrinsic, least }: FixedGas): bigint {
  const whole = used + BigInt(intrinsic)
  return whole > BigInt(least) ? whole : BigInt(least)
}

/**
 * Reasons that a token may give although only the gas ran out, in a wallet or
 * in the token.
 */
const blamesGas: readonly RevertReason[] = [
  'gasTooHigh',
  'wrongSigner',
  'unsupportedToken',
  'simulationFailed',
]

/**
 * True when a call used 90% of its gas or more. A call can run out of gas
 * before it has used all: each level of calls keeps back a 64th (EIP-150), and
 * behind proxies there can be six levels.
 */
function ranOutOfGas({ gasUsed, words }: CallAnswer, gas: number): boolean {
  if (gas === 0) return true
  return gasUsed === undefined
    ? /out ?of ?gas/i.test(words ?? '')
    : Number(gasUsed) >= gas * 0.9
}

/**
 * Finds the exact reason of a refusal, from facts that were read in the same
 * request.
 */
export function refine(
  reason: RevertReason,
  call: Pick<RehearsedCall, 'domain' | 'signature' | 'transfer'>,
  answers: Pick<Answers, 'head' | 'calls'>,
): RefusalReason {
  const { domain, signature, transfer } = call
  const { head, calls } = answers
  const payerHasCode = calls.payer.hasCode
  switch (reason) {
    case 'blocked': {
      const payerIs =
        isTrue(calls.payerBlacklisted) || isTrue(calls.payerFrozen)
      const recipientIs =
        isTrue(calls.recipientBlacklisted) || isTrue(calls.recipientFrozen)
      return recipientIs && !payerIs ? 'recipientBlocked' : 'payerBlocked'
    }
    case 'outsideWindow':
      return head.timestamp <= (transfer?.validAfter ?? 0n)
        ? 'notYetValid'
        : 'expired'
    case 'approvalRefused':
      return isTrue(calls.consumed) ? 'consumed' : refineApproval(call, answers)
    // Tokens have many words for these. The nonce shows the reason.
    case 'insufficientAllowance':
    case 'simulationFailed':
    // A token with keyed nonces reverts alike for a spent nonce and for one whose
    // turn has not come.
    case 'wrongNonce':
      return isTrue(calls.consumed) ? 'consumed' : reason
    case 'malformedSignature':
    case 'wrongSigner': {
      const separator = separatorOf(calls, domain)
      if (separator && separator !== hashDomain(domain)) return 'wrongDomain'
      if (!payerHasCode && isWrappedSignature(signature))
        return 'walletNotDeployed'
      return payerHasCode && refuses(calls.bytes) ? 'walletRejects' : reason
    }
    default:
      return reason
  }
}

/**
 * Finds out why the token refused a permit whose nonce is unused. The checkout
 * contract has checked the signature. If the token refuses it all the same, the
 * permit has a later nonce than the next, or the token takes no permits of
 * contract wallets.
 */
function refineApproval(
  call: Parameters<typeof refine>[1],
  answers: Parameters<typeof refine>[2],
): RefusalReason {
  const { approval, payer } = answers.calls
  if (!approval || approval.ok) return 'simulationFailed'
  const { reason } = parseRefusal(approval)
  if (!['wrongSigner', 'unsupportedToken', 'simulationFailed'].includes(reason))
    return refine(reason, call, answers)
  return payer.hasCode ? 'unsupportedToken' : 'wrongNonce'
}

/**
 * Returns the token's domain separator. Computes it if the token has only
 * `eip712Domain()` (ERC-5267).
 */
function separatorOf(
  { separator, eip712Domain }: Answers['calls'],
  domain: TokenDomain,
): Hex | undefined {
  if (isWord(separator)) return separator.data
  const own = decodeDomain(eip712Domain)
  return own && hashDomain({ ...domain, ...own })
}

/**
 * True when the simulation did not raise the recipient's balance by exactly the
 * value.
 */
function movedOtherwise(
  { transfer }: RehearsedCall,
  { steps, calls }: Answers,
): boolean {
  const [result, after] = steps
  if (!transfer || !result) return false
  // If calls were sent one by one, the balance after the transfer is unknown.
  // Then only a returned `false` shows that nothing moved.
  if (!after) return isWord(result) && !isTrue(result)
  const balanceOf = (answer: CallAnswer) =>
    readWord(answer, 'balance of the recipient')
  return balanceOf(after) - balanceOf(calls.balance) !== transfer.value
}

/**
 * Returns the error for a node on the wrong chain. Use it only after checking
 * that the payment is for the order's chain: otherwise the payment is wrong,
 * not the node.
 */
export function wrongChain({ head }: Rehearsal): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_call',
    problem: `is of chain ${head.chainId}, another one than the payment's`,
  })
}
