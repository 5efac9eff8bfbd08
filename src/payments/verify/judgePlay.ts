import { isWord } from '../../chain/state/answers.js'
import type { CallAnswer, RunHead } from '../../chain/state/types.js'
import { type RevertReason, readRefusal } from '../../core/revertReason.js'
import { judgeRehearsal } from './judgeRehearsal.js'
import type { Play } from './planPlay.js'
import type { FactName, Rehearsal } from './types.js'

/** What one capture among others showed, and the facts around it. */
type PlayAnswers = {
  head: RunHead
  played: CallAnswer
  /** The recipient's balance, before and after it. */
  before: CallAnswer
  after: CallAnswer
  /** Whether nothing was played before it. */
  cold: boolean
  /** Whether the recipient had tokens before any of them. */
  filled: boolean
  payerBalance: CallAnswer
  facts: Readonly<Record<'token' | 'decimals' | 'consumed', CallAnswer>>
}

/** What a play among others told. */
export type Played = {
  payerBalance: bigint
  /** Absent where a rehearsal alone has to tell. */
  rehearsal?: Rehearsal | undefined
  /** Holds where it passes alone: it failed for what came before it. */
  otherwise?: Rehearsal | undefined
  /** The same for all that were played on one state. */
  run: object | undefined
}

/** What a capture finds warm behind another, accounts and slots, at most. */
const warmth = 32_000n

/** What the first capture to an empty balance pays for the others. */
const filling = 17_100n

/** Told by the token's words alone, whatever the facts around them. */
const plainReasons: readonly RevertReason[] = [
  'paused',
  'notYetValid',
  'expired',
  'consumed',
  'insufficientFunds',
]

/** Of a wallet that changed its mind for what was played before. */
const fickleReasons: readonly RevertReason[] = [
  'wrongSigner',
  'simulationFailed',
]

export function judgePlay(
  play: Play,
  answers: PlayAnswers,
): Omit<Played, 'run'> {
  const { act, fixed, allowed } = play
  const { head, played, before, after, facts } = answers
  const payerBalance = isWord(answers.payerBalance)
    ? BigInt(answers.payerBalance.data)
    : 0n
  const { reason, words } = readRefusal(played)
  const isPlain =
    head.chainId !== act.domain.chainId ||
    !facts.token.hasCode ||
    (played.ok
      ? isWord(before) && isWord(after)
      : plainReasons.includes(reason))

  const gasUsed = boundGas(answers)
  const rehearsal = judgeRehearsal(
    act,
    {
      head,
      scene: [{ ...played, gasUsed }, after],
      calls: { ...unasked, ...facts, balance: before },
    },
    { gas: allowed, fixed },
  )
  const tight = played.ok && gasUsed > BigInt(allowed)
  if (isPlain && !tight) return { payerBalance, rehearsal }
  const { at } = rehearsal
  const fickle = fickleReasons.includes(reason) && !ranOut(play, answers)
  return !played.ok && fickle
    ? {
        payerBalance,
        otherwise: {
          ...{ ok: false, head, at, reason: 'simulationFailed' },
          ...(words ? { words } : {}),
        },
      }
    : { payerBalance }
}

/** At least what it would use alone. */
function boundGas({ played, cold, filled }: PlayAnswers): bigint {
  const { gasUsed = 0n } = played
  if (cold) return gasUsed
  return gasUsed + warmth + (filled ? 0n : filling)
}

function ranOut({ given }: Play, { played }: PlayAnswers): boolean {
  return Number(played.gasUsed) >= given * 0.9
}

export const silence: CallAnswer = { ok: false, data: '0x', hasCode: false }

/** The facts that only a refusal's own rehearsal asks. */
const unasked: Record<FactName, CallAnswer> = {
  token: silence,
  payer: silence,
  consumed: silence,
  balance: silence,
  decimals: silence,
  separator: silence,
  eip712Domain: silence,
  payerBlacklisted: silence,
  payerFrozen: silence,
  recipientBlacklisted: silence,
  recipientFrozen: silence,
  bytes: silence,
}
