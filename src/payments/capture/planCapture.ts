import { type Account, type Client, recoverAddress } from 'viem'
import { parseAmount } from '../../core/amount.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { devChainIds, maxClockSkew, wallTime } from '../../core/clock.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { requireSignature } from '../../core/fields.js'
import { tokenSignature } from '../../core/signature.js'
import type { AnySignedPayment } from '../../core/types.js'
import { type CaptureKind, eip3009Capture, type PaymentKind } from '../kind.js'
import type { TokenCall } from '../message/captureCall.js'
import { defaultMaxCaptureGas, rehearseCapture } from '../verify/rehearse.js'
import { CaptureRejectedError } from './errors.js'
import {
  gasLimit,
  hasFees,
  parseAccount,
  pickFees,
  type SendOptions,
} from './planTransaction.js'

/** Options for simulating and sending a capture. */
export type CaptureOptions = SendOptions & {
  payment: AnySignedPayment
  /** Pass `checkout` for a checkout payment. @default EIP-3009 */
  kind?: PaymentKind | undefined
  /**
   * Amount to capture of a checkout payment, such as `'42.10'`, in whole
   * tokens. Leave it out for other payments: their amount is exact.
   */
  amount?: string | undefined
  /** Decimals of the token, to parse `amount`. @default 6 */
  decimals?: number | undefined
  /**
   * True to simulate the capture with `eth_call` before sending it. `false`
   * saves a request, but a capture that fails then costs gas. It is not allowed
   * for payers that are contracts.
   * @default true
   */
  simulate?: boolean | undefined
}

export const captureMembers: MembersOf<CaptureOptions> = {
  payment: true,
  kind: true,
  amount: true,
  decimals: true,
  simulate: true,
  maxFeePerGas: true,
  maxPriorityFeePerGas: true,
  gasPrice: true,
  account: true,
  nonce: true,
  gas: true,
  maxCaptureGas: true,
}

/**
 * A checked capture: the call, the account that submits it and the gas limit.
 */
export type PlannedCapture = {
  call: Pick<TokenCall, 'to' | 'data'>
  chainId: number
  account: Account
  gas: bigint
  options: SendOptions
}

/**
 * Checks that a payment can be captured, by default with a simulation, and
 * decides the gas limit of the capture.
 */
export async function planCapture(
  client: Client,
  parameters: CaptureOptions,
): Promise<PlannedCapture> {
  checkMembers(parameters, captureMembers)
  const {
    payment: given,
    kind: named,
    amount,
    decimals = 6,
    simulate = true,
    ...options
  }: CaptureOptions = Object(parameters)
  const kind: CaptureKind = named ?? eip3009Capture
  const payment = requireSignature(kind.parse(given))
  const value = parseCaptureAmount(payment, { kind, amount, decimals })
  const { maxCaptureGas = defaultMaxCaptureGas } = options
  const account = parseAccount(client, options.account)
  const { chainId } = payment.domain
  const call = kind.encodeCapture(payment, value)
  if (client.chain && client.chain.id !== chainId)
    throw new CaptureRejectedError({ reason: 'wrongChain' })
  checkSender(payment, account, kind)

  if (!simulate) await checkUnsimulated(payment, kind)
  const rehearsal = simulate
    ? await rehearseCapture(client, payment, {
        origin: account.address,
        fees: hasFees(options) ? pickFees(options) : undefined,
        maxGas: maxCaptureGas,
        kind,
        amount: value,
      })
    : undefined
  if (rehearsal?.ok === false) throw new CaptureRejectedError(rehearsal)
  if (rehearsal && amount !== undefined && rehearsal.decimals !== decimals)
    throw new InvalidFieldError(
      'decimals',
      shown(decimals),
      `${rehearsal.decimals}, as the token has`,
    )
  const gas = options.gas ?? gasLimit(rehearsal, maxCaptureGas)
  return { call, chainId, account, gas, options }
}

/**
 * Returns the amount to capture in base units: the exact value of the payment,
 * or the caller's `amount`.
 */
function parseCaptureAmount(
  { message }: AnySignedPayment,
  {
    kind,
    amount,
    decimals,
  }: Pick<CaptureOptions, 'amount' | 'decimals'> & {
    kind: CaptureKind
  },
): bigint {
  if (kind.total === 'amount') {
    if (amount === undefined) return message.value
    throw new InvalidFieldError(
      'amount',
      shown(amount),
      "the payment's own",
      undefined,
    )
  }
  const value = parseAmount(amount ?? '', decimals)
  if (value <= message.value) return value
  throw new CaptureRejectedError({
    reason: 'wrongAmount',
    words: `${value} units are more than the ceiling of ${message.value}`,
  })
}

function checkSender(
  payment: AnySignedPayment,
  account: Account,
  kind: CaptureKind,
): void {
  const { from, value } = payment.message
  const { recipient: to, operator } = kind.accounts(payment)
  if (from === to) throw new CaptureRejectedError({ reason: 'selfPayment' })
  if (!value) throw new CaptureRejectedError({ reason: 'wrongAmount' })
  if (operator && account.address.toLowerCase() !== operator)
    throw new CaptureRejectedError({
      reason: 'wrongSubmitter',
      words: `${account.address} is not the ${operator === to ? 'recipient' : 'operator'} ${operator}`,
    })
}

/**
 * Checks a payment without a node: that its window is open, and that the
 * payer's own key signed it.
 */
async function checkUnsimulated(
  payment: AnySignedPayment,
  kind: CaptureKind,
): Promise<void> {
  const { domain, message } = payment
  const { from, validAfter, validBefore } = message
  const now = wallTime()
  if (now >= validBefore + maxClockSkew)
    throw new CaptureRejectedError({ reason: 'expired' })
  if (now <= validAfter - maxClockSkew && !devChainIds.includes(domain.chainId))
    throw new CaptureRejectedError({ reason: 'notYetValid' })
  const hash = kind.hash(payment)
  const signature = tokenSignature(payment.signature) ?? '0x'
  const signer = await recoverAddress({ hash, signature }).catch(() => '')
  if (signer.toLowerCase() !== from)
    throw new CaptureRejectedError({ reason: 'unsimulatedWallet' })
}
