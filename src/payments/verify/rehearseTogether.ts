import type { Address, Client } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { isWord } from '../../chain/state/executor.js'
import { runCalls } from '../../chain/state/runCalls.js'
import type { Call, CallAnswer, RunHead } from '../../chain/state/types.js'
import { parseRefusal, type RevertReason } from '../../core/revertReason.js'
import { judgeRehearsal } from './judgeRehearsal.js'
import {
  balanceCall,
  factCalls,
  neutralCaller,
  type RehearsalOptions,
} from './rehearse.js'
import { balanceGas, factGas, type RehearsalPlan } from './rehearseAlone.js'
import type { FactName, Rehearsal } from './types.js'

/**
 * Simulates captures of one token, one after another in one request.
 *
 * @throws {@link NodeAnswerError} when the node cannot simulate them together.
 */
export async function rehearseTogether(
  client: Client,
  plans: readonly [RehearsalPlan, ...RehearsalPlan[]],
  { block = 'latest', origin, fees }: RehearsalOptions,
): Promise<readonly (readonly [RehearsalPlan, RehearsedTogether])[]> {
  const [{ call: first }] = plans
  const token = first.domain.verifyingContract
  const { to } = first.transfer
  const shared = plans.every(({ call }) => call.transfer.to === to)
  const { steps, places } = planSteps(token, plans)
  const { head, calls, ...run } = await runCalls(client, {
    // Only `TransferWithAuthorization` payments can have several recipients in
    // one request, and anyone may send those.
    from: shared ? to : neutralCaller,
    origin: origin?.toLowerCase() as Address | undefined,
    fees,
    steps,
    calls: askedCalls(token, plans),
    block,
    fallback: refuseTogether,
    plain: shared && to === token,
  })
  const fact = (name: string) => calls[name] ?? silence
  return plans.map((plan, at) => {
    const { capture, before } = places[at] ?? { capture: 0 }
    const step = (place: number) => run.steps[place] ?? silence
    const judged = judgeTogether(plan, {
      head,
      result: step(capture),
      before: before === undefined ? fact('balance') : step(before),
      after: step(capture + 1),
      cold: at === 0,
      filled: isWord(fact('balance')) && BigInt(fact('balance').data) > 0n,
      payerBalance: fact(`payer ${at}`),
      facts: {
        token: fact('token'),
        decimals: fact('decimals'),
        consumed: fact(`consumed ${at}`),
      },
    })
    return [plan, { ...judged, run: plans }] as const
  })
}

async function refuseTogether(): Promise<never> {
  const problem =
    'shows that this node cannot simulate several captures in one call'
  throw new NodeAnswerError({ method: 'eth_call', problem })
}

/**
 * Positions of a capture, and of the balance read before it, in the list of
 * calls.
 */
type Place = { capture: number; before?: number | undefined }

/**
 * Plans each capture, followed by a read of the recipient's balance. The read
 * also serves as the balance before the next capture. If that capture has
 * another recipient, its balance is read in between.
 */
function planSteps(
  token: Address,
  plans: readonly RehearsalPlan[],
): { steps: Call[]; places: Place[] } {
  const steps: Call[] = []
  const places: Place[] = []
  let recipient = plans[0]?.call.transfer.to
  for (const { call, given } of plans) {
    const { to } = call.transfer
    const balance = { ...balanceCall(token, to), gas: balanceGas }
    if (to !== recipient) steps.push(balance)
    const before = steps.length - 1
    recipient = to
    places.push({
      capture: steps.length,
      before: before < 0 ? undefined : before,
    })
    const data = call.encoded.data.slice(2)
    steps.push({ target: token, data, gas: given }, balance)
  }
  return { steps, places }
}

function askedCalls(
  token: Address,
  plans: readonly [RehearsalPlan, ...RehearsalPlan[]],
): Record<string, Call> {
  const common = factCalls(token, plans[0].call)
  const asked: Record<string, Call> = {
    token: common.token,
    decimals: common.decimals,
    balance: common.balance,
  }
  for (const [at, { call }] of plans.entries()) {
    asked[`consumed ${at}`] = { ...call.spentCall, gas: factGas }
    asked[`payer ${at}`] = { ...balanceCall(token, call.payer), gas: factGas }
  }
  return asked
}

/** The node's answers about one capture that was simulated with others. */
type TogetherAnswers = {
  head: RunHead
  result: CallAnswer
  /** The recipient's balance before and after the capture. */
  before: CallAnswer
  after: CallAnswer
  /**
   * True for the first capture of a request. It uses more gas, because no
   * account or storage slot was accessed before (EIP-2929).
   */
  cold: boolean
  /**
   * True when the recipient had tokens before all captures. The first transfer
   * to a recipient without tokens uses more gas.
   */
  filled: boolean
  payerBalance: CallAnswer
  facts: Readonly<Record<'token' | 'decimals' | 'consumed', CallAnswer>>
}

/** The result for one capture that was simulated with others. */
export type RehearsedTogether = {
  /** Absent if only a simulation of this capture alone can show it. */
  payerBalance?: bigint | undefined
  /** Absent if only a simulation of this capture alone can decide. */
  rehearsal?: Rehearsal | undefined
  /**
   * The verdict to use if the capture passes when simulated alone: then an
   * earlier capture of the list made this one fail.
   */
  otherwise?: Rehearsal | undefined
  /** The same object for all captures that were simulated on one state. */
  run: object | undefined
}

/**
 * Most gas that a capture saves because an earlier one in the same request has
 * accessed the same accounts and storage slots (EIP-2929).
 */
const warmth = 32_000n

/**
 * Gas of a new storage slot, which only the first capture to a recipient
 * without tokens pays.
 */
const filling = 17_100n

/**
 * Refusal reasons that need no further check. The others need facts that are
 * read only when a capture is simulated alone.
 */
const plainReasons: readonly RevertReason[] = [
  'paused',
  'notYetValid',
  'expired',
  'consumed',
  'insufficientFunds',
]

/**
 * Refusal reasons that can be caused by an earlier capture of the same request,
 * which changed the state of a contract wallet that pays.
 */
const fickleReasons: readonly RevertReason[] = [
  'wrongSigner',
  'simulationFailed',
]

function judgeTogether(
  plan: RehearsalPlan,
  answers: TogetherAnswers,
): Omit<RehearsedTogether, 'run'> {
  const { call, fixed, allowed } = plan
  const { head, result, before, after, facts } = answers
  const balances = [answers.payerBalance, before, after]
  if (facts.token.hasCode && result.ok && !balances.every(isWord)) return {}
  const payerBalance = isWord(answers.payerBalance)
    ? BigInt(answers.payerBalance.data)
    : 0n
  const { reason, words } = parseRefusal(result)
  const isPlain =
    head.chainId !== call.domain.chainId ||
    !facts.token.hasCode ||
    result.ok ||
    plainReasons.includes(reason)

  const gasUsed = boundGas(answers)
  const rehearsal = judgeRehearsal(
    call,
    {
      head,
      steps: [{ ...result, gasUsed }, after],
      calls: { ...unasked, ...facts, balance: before },
    },
    { gas: allowed, fixed },
  )
  const tight = result.ok && gasUsed > BigInt(allowed)
  if (isPlain && !tight) return { payerBalance, rehearsal }
  const { at } = rehearsal
  const fickle = fickleReasons.includes(reason) && !ranOut(plan, answers)
  return !result.ok && fickle
    ? {
        payerBalance,
        otherwise: {
          ok: false,
          head,
          at,
          reason: 'simulationFailed',
          ...(words ? { words } : {}),
        },
      }
    : { payerBalance }
}

/** Returns an upper bound of the gas that the capture would use alone. */
function boundGas({ result, cold, filled }: TogetherAnswers): bigint {
  const { gasUsed = 0n } = result
  if (cold) return gasUsed
  return gasUsed + warmth + (filled ? 0n : filling)
}

function ranOut(
  { given }: RehearsalPlan,
  { result }: TogetherAnswers,
): boolean {
  return Number(result.gasUsed) >= given * 0.9
}

const silence: CallAnswer = { ok: false, data: '0x', hasCode: false }

/**
 * Placeholders for facts that are read only when a capture is simulated alone.
 */
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
