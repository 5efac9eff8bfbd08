import type { Address, Client, Hex } from 'viem'
import type { BlockSelector } from '../../chain/rpc/requestNode.js'
import { authorizationStateCall } from '../../chain/state/getAuthorizationState.js'
import { forgetToken } from '../../chain/state/getToken.js'
import { bytesProbe } from '../../chain/state/probeToken.js'
import { runCalls } from '../../chain/state/runCalls.js'
import {
  countDataTokens,
  runPlainCalls,
} from '../../chain/state/runPlainCalls.js'
import type {
  Call,
  CallFees,
  RunCallsParameters,
} from '../../chain/state/types.js'
import { hashChecked } from '../../core/hashPayment.js'
import { selectors } from '../../core/tokenAbi.js'
import type {
  AnySignedPayment,
  PaymentAuthorization,
  SignedCancellation,
} from '../../core/types.js'
import { bytesWords, word } from '../../core/words.js'
import { type CaptureKind, eip3009Capture } from '../kind.js'
import { encodeCancel } from '../message/encodeCall.js'
import { judgeRehearsal } from './judgeRehearsal.js'
import type { FactName, FixedGas, Rehearsal, RehearsedCall } from './types.js'

/** Most gas that a capture may use, if the caller sets no limit. */
export const defaultMaxCaptureGas = 300_000n

export type RehearsalOptions = {
  /** Account that submits the transaction. */
  origin?: Address | undefined
  block?: BlockSelector | undefined
  fees?: CallFees | undefined
  maxGas?: bigint | undefined
}

export type CaptureRehearsalOptions = RehearsalOptions & {
  /** Kind of the payment. @default EIP-3009 */
  kind?: CaptureKind | undefined
  /**
   * Base units of the token to capture.
   * @default the value of the message
   */
  amount?: bigint | undefined
}

/**
 * Simulates the capture. Its sender is the only account that can capture; if
 * anyone can, the recipient.
 */
export async function rehearseCapture(
  client: Client,
  payment: AnySignedPayment,
  {
    kind = eip3009Capture,
    amount = payment.message.value,
    ...options
  }: CaptureRehearsalOptions,
): Promise<Rehearsal> {
  const call = captureCallOf(payment, kind, amount)
  const { operator = call.transfer.to } = call
  return rehearse(client, operator, options, call)
}

/**
 * Returns the call that captures an amount, and the transfer that it must
 * cause.
 */
export function captureCallOf(
  payment: AnySignedPayment,
  kind: CaptureKind,
  amount: bigint,
): RehearsedCall & { transfer: PaymentAuthorization } {
  const { domain, message, signature } = payment
  const { recipient, operator } = kind.accounts(payment)
  return {
    domain,
    encoded: kind.encodeCapture(payment, amount),
    hash: () => kind.hash(payment),
    payer: message.from,
    spentCall: kind.spentCall(payment),
    approvalCall: kind.permit?.approvalCall(payment),
    operator,
    returnsWord: kind.total === 'atMost',
    signature,
    transfer: { ...message, to: recipient, value: amount },
  }
}

export async function rehearseCancel(
  client: Client,
  cancellation: SignedCancellation,
  options: RehearsalOptions & { origin: Address },
): Promise<Rehearsal> {
  const { domain, message, signature } = cancellation
  const { authorizer: payer, nonce } = message
  return rehearse(client, neutralCaller, options, {
    domain,
    encoded: encodeCancel(cancellation),
    hash: () => hashChecked(cancellation),
    payer,
    spentCall: authorizationStateCall(domain.verifyingContract, payer, nonce),
    operator: undefined,
    returnsWord: false,
    signature,
  })
}

/**
 * The sender of simulated calls that anyone may send. It must not be the
 * submitter, because that may be the payer. The simulation replaces the code of
 * the sender, but the code of a contract wallet that pays must check the
 * signature.
 */
export const neutralCaller: Address =
  '0x3009000000000000000000000000000000003010'

async function rehearse(
  client: Client,
  from: Address,
  options: RehearsalOptions,
  call: RehearsedCall,
): Promise<Rehearsal> {
  const { block = 'latest', maxGas = defaultMaxCaptureGas } = options
  const token = call.domain.verifyingContract
  const fixed = fixedGasOf(call.encoded.data)
  const gas = Math.max(Number(maxGas) - fixed.intrinsic, 0)
  const step = rehearsalStep(call, gas)
  const { transfer } = call
  const answers = await runCalls(client, {
    from,
    origin: options.origin?.toLowerCase() as Address | undefined,
    fees: options.fees,
    steps: transfer ? [step, balanceCall(token, transfer.to)] : [step],
    fallback: plainFallback(call),
    calls: factCalls(token, call),
    block,
    plain: from === token,
  })
  const rehearsal = judgeRehearsal(call, answers, { gas, fixed })
  if (
    !rehearsal.ok &&
    (rehearsal.reason === 'wrongDomain' ||
      rehearsal.reason === 'unsupportedToken')
  )
    forgetToken(client, token)
  return rehearsal
}

/**
 * Builds the simulated call of a capture. Its `question` is the call with which
 * the token asks a contract wallet to check the signature.
 */
export function rehearsalStep(
  { encoded, hash, payer }: RehearsedCall,
  gas: number,
): Call {
  const { to, data, signature } = encoded
  return {
    target: to,
    data: data.slice(2),
    gas,
    question: () => ({
      target: payer,
      // Selector of `isValidSignature(bytes32,bytes)` (ERC-1271).
      data: `1626ba7e${hash().slice(2)}${word(64)}${bytesWords(signature)}`,
    }),
  }
}

/**
 * Simulates a call that anyone may send, on a node without state overrides.
 * Sends it from the submitter, which can pay fees, so that the call runs with a
 * real gas price.
 */
export function plainFallback({
  operator,
}: RehearsedCall): RunCallsParameters<string>['fallback'] {
  if (operator) return runPlainCalls
  return (client, parameters) => {
    const { origin, from } = parameters
    return runPlainCalls(client, {
      ...parameters,
      from: origin ?? from,
    })
  }
}

export function factCalls(
  token: Address,
  {
    payer,
    spentCall,
    approvalCall,
    transfer,
  }: Pick<RehearsedCall, 'payer' | 'spentCall' | 'approvalCall' | 'transfer'>,
): Record<FactName, Call> {
  const recipient = transfer?.to ?? payer
  const ask = (data: string): Call => ({ target: token, data, gas: 100_000 })
  return {
    token: { target: token, data: '', gas: 0 },
    payer: { target: payer, data: '', gas: 0 },
    consumed: spentCall,
    balance: balanceCall(token, recipient),
    decimals: ask(selectors.decimals),
    separator: ask(selectors.domainSeparator),
    eip712Domain: ask(selectors.eip712Domain),
    payerBlacklisted: ask(selectors.isBlacklisted + word(payer)),
    payerFrozen: ask(selectors.isFrozen + word(payer)),
    recipientBlacklisted: ask(selectors.isBlacklisted + word(recipient)),
    recipientFrozen: ask(selectors.isFrozen + word(recipient)),
    bytes: bytesProbe(token),
    // The last, because the executor keeps its effects for the calls after it.
    ...(approvalCall && { approval: approvalCall }),
  }
}

export function balanceCall(token: Address, account: Address): Call {
  return {
    target: token,
    // biome-ignore lint/style/useTemplate: fewer bytes. Selector of `balanceOf(address)`
    data: '70a08231' + word(account),
    gas: 100_000,
  }
}

/**
 * Computes the gas that follows from the data alone: the cost before the first
 * instruction (EIP-2028), and the smallest valid gas limit (EIP-7623).
 */
export function fixedGasOf(data: Hex): FixedGas {
  const tokens = countDataTokens(data.slice(2))
  return { intrinsic: 21_000 + 4 * tokens, least: 21_000 + 10 * tokens }
}
