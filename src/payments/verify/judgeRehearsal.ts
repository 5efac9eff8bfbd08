import type { Hex } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { isTrue, isWord } from '../../chain/state/executor.js'
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
import type { JudgedAt, TokenDomain } from '../../core/types.js'
import type { FactName, FixedGas, Rehearsal, RehearsedCall } from './types.js'

type Answers = RunAnswers<FactName>

/** What a rehearsal means, the token's refusal refined by the facts around it. */
export function judgeRehearsal(
  call: RehearsedCall,
  answers: Answers,
  { gas, fixed }: { gas: number; fixed: FixedGas },
): Rehearsal {
  const { head, steps, calls } = answers
  const [result] = steps
  const at: JudgedAt = {
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
  if (fixed.least > gas + fixed.intrinsic) return refuse('gasTooHigh')
  if (isTrue(calls.consumed)) return refuse('consumed')
  if ((call.transfer?.validAfter ?? 0n) >= blockNumberFlag)
    return refuse('notYetValid', 'the window is in block numbers')
  if (movedOtherwise(call, answers))
    return refuse('simulationFailed', 'the exact value would not arrive')
  return { ok: true, head, at, decimals: parseDecimals(calls.decimals) }
}

/**
 * OpenZeppelin's token reads bounds that both have this bit as block numbers;
 * as seconds, which is what they are here, none of them is reached.
 */
const blockNumberFlag = 0x800000000000n

function wholeGas(used: bigint, { intrinsic, least }: FixedGas): bigint {
  const whole = used + BigInt(intrinsic)
  return whole > BigInt(least) ? whole : BigInt(least)
}

/** Refusals that can come from a wallet, or a token, left without gas. */
const blamesGas: readonly RevertReason[] = [
  'gasTooHigh',
  'wrongSigner',
  'unsupportedToken',
  'simulationFailed',
]

/**
 * Each level of calls keeps a 64th of the gas back; behind the proxies of token
 * and wallet a call that burns all it is given is up to six levels deep.
 */
function ranOutOfGas({ gasUsed, words }: CallAnswer, gas: number): boolean {
  if (gas === 0) return true
  return gasUsed === undefined
    ? /out ?of ?gas/i.test(words ?? '')
    : Number(gasUsed) >= gas * 0.9
}

/** What a refusal means beside the facts around it. */
export function refine(
  reason: RevertReason,
  { domain, signature, transfer }: Omit<RehearsedCall, 'encoded'>,
  { head, calls }: Pick<Answers, 'head' | 'calls'>,
): RefusalReason {
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

/** What the token signs under; some show it by ERC-5267 only. */
function separatorOf(
  { separator, eip712Domain }: Answers['calls'],
  domain: TokenDomain,
): Hex | undefined {
  if (isWord(separator)) return separator.data
  const own = decodeDomain(eip712Domain)
  return own && hashDomain({ ...domain, ...own })
}

/** Whether the recipient's balance rose by something else than the value. */
function movedOtherwise(
  { transfer }: RehearsedCall,
  { steps, calls }: Answers,
): boolean {
  const [result, after] = steps
  if (!transfer || !result) return false
  // Plain calls cannot ask for it; `false` is the token's own word.
  if (!after) return isWord(result) && !isTrue(result)
  if (!isWord(after) || !isWord(calls.balance)) return false
  return BigInt(after.data) - BigInt(calls.balance.data) !== transfer.value
}

/**
 * The error for a node that answers for the wrong chain. Use it only once the
 * payment's chain was compared with the order's: then the answer says nothing
 * about the payment.
 */
export function wrongChain({ head }: Rehearsal): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_call',
    problem: `is of chain ${head.chainId}, another one than the payment's`,
  })
}
