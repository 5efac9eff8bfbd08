import { hashDomain } from '../base/hashPayment.js'
import {
  type RefusalReason,
  type RevertReason,
  readRevert,
  readWords,
} from '../base/revertReason.js'
import { isWrappedSignature } from '../base/signature.js'
import { refuses } from '../reads/probeToken.js'
import type { CallAnswer, RunAnswers } from '../reads/types.js'
import type { Act, FactName, JudgedAt, Rehearsal } from './types.js'

type Answers = RunAnswers<FactName>

/** What a rehearsal means, the token's refusal refined by the facts around it. */
export function judgeRehearsal(
  act: Act,
  answers: Answers,
  { gas, intrinsicGas }: { gas: number; intrinsicGas: number },
): Rehearsal {
  const { head, scene, calls } = answers
  const [played] = scene
  const at: JudgedAt = {
    block: head.number,
    time: head.timestamp,
    via: head.via,
    ...(played?.gasUsed === undefined
      ? {}
      : { gasUsed: played.gasUsed + BigInt(intrinsicGas) }),
  }
  const refuse = (reason: RefusalReason, words?: string): Rehearsal => ({
    ok: false,
    head,
    at,
    reason,
    ...(words ? { words } : {}),
  })

  if (head.chainId !== act.domain.chainId) return refuse('wrongChain')
  if (!calls.token.hasCode || !played) return refuse('unsupportedToken')
  if (!played.ok) {
    if (ranOutOfGas(played, gas)) return refuse('gasTooHigh', played.words)
    const { reason, words } = readRefusal(played)
    return refuse(refine(reason, act, answers), words)
  }
  if (isTrue(calls.consumed)) return refuse('consumed')
  if (movedOtherwise(act, answers))
    return refuse('simulationFailed', 'the exact value would not arrive')
  return { ok: true, head, at, decimals: Number(calls.decimals.data) || 0 }
}

/** A call that is cut off leaves less than the 64th it keeps per level. */
function ranOutOfGas({ gasUsed, words }: CallAnswer, gas: number): boolean {
  return gasUsed === undefined
    ? /out ?of ?gas/i.test(words ?? '')
    : Number(gasUsed) > gas * 0.96
}

function readRefusal({ data, words = '' }: CallAnswer): {
  reason: RevertReason
  words?: string
} {
  const told = words.replace(/^execution reverted(: )?/, '')
  return data === '0x' && told ? readWords(told) : readRevert(data)
}

function refine(
  reason: RevertReason,
  { domain, payer, signature, transfer }: Act,
  { head, calls }: Answers,
): RefusalReason {
  const payerHasCode = calls.payer.hasCode
  switch (reason) {
    case 'blocked': {
      if (isTrue(calls.payerBlacklisted) || isTrue(calls.payerFrozen))
        return 'payerBlocked'
      return transfer && transfer.to !== payer
        ? 'recipientBlocked'
        : 'payerBlocked'
    }
    case 'outsideWindow':
      return head.timestamp <= (transfer?.validAfter ?? 0n)
        ? 'notYetValid'
        : 'expired'
    case 'malformedSignature':
    case 'wrongSigner': {
      const { separator } = calls
      if (isWord(separator) && separator.data !== hashDomain(domain))
        return 'wrongDomain'
      if (!payerHasCode && isWrappedSignature(signature))
        return 'walletNotDeployed'
      return payerHasCode && refuses(calls.bytes) ? 'walletRejects' : reason
    }
    default:
      return reason
  }
}

/** Whether the recipient's balance rose by something else than the value. */
function movedOtherwise({ transfer }: Act, { scene, calls }: Answers): boolean {
  const after = scene[1]
  if (!transfer || !after || !isWord(after) || !isWord(calls.balance))
    return false
  return BigInt(after.data) - BigInt(calls.balance.data) !== transfer.value
}

function isTrue(answer: CallAnswer): boolean {
  return isWord(answer) && BigInt(answer.data) !== 0n
}

function isWord({ ok, data }: CallAnswer): boolean {
  return ok && data.length === 66
}
