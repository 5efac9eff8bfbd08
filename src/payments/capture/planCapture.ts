import { type Account, type Client, recoverAddress } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { devChainIds, maxClockSkew, wallTime } from '../../core/clock.js'
import { parseSignedPayment } from '../../core/fields.js'
import { hashChecked } from '../../core/hashPayment.js'
import { tokenSignature } from '../../core/signature.js'
import type { SignedPayment } from '../../core/types.js'
import type { TokenCall } from '../message/captureCall.js'
import { encodeCapture } from '../message/encodeCall.js'
import { defaultMaxCaptureGas, rehearseCapture } from '../verify/rehearse.js'
import { CaptureRejectedError } from './errors.js'
import {
  gasLimit,
  hasFees,
  parseAccount,
  pickFees,
  type SendOptions,
} from './planTransaction.js'

/** Options for rehearsing and sending a capture. */
export type CaptureOptions = SendOptions & {
  payment: SignedPayment
  /**
   * Rehearses the capture before sending it. `false` saves a request, but a
   * capture that fails costs gas; not allowed for payers that are contracts.
   * @default true
   */
  simulate?: boolean | undefined
}

export const captureMembers: MembersOf<CaptureOptions> = {
  payment: true,
  simulate: true,
  maxFeePerGas: true,
  maxPriorityFeePerGas: true,
  gasPrice: true,
  account: true,
  nonce: true,
  gas: true,
  maxCaptureGas: true,
}

/** A checked capture: the call, the sender and the gas limit. */
export type PlannedCapture = {
  call: Pick<TokenCall, 'to' | 'data'>
  chainId: number
  account: Account
  gas: bigint
  options: SendOptions
}

/** Checks that a payment can be captured, and decides the gas limit. */
export async function planCapture(
  client: Client,
  parameters: CaptureOptions,
): Promise<PlannedCapture> {
  checkMembers(parameters, captureMembers)
  const {
    payment: given,
    simulate = true,
    ...options
  }: CaptureOptions = Object(parameters)
  const payment = parseSignedPayment(given)
  const { maxCaptureGas = defaultMaxCaptureGas } = options
  const account = parseAccount(client, options.account)
  const { chainId } = payment.domain
  const call = encodeCapture(payment)
  if (client.chain && client.chain.id !== chainId)
    throw new CaptureRejectedError({ reason: 'wrongChain' })
  checkSender(payment, account)

  if (!simulate) await checkUnsimulated(payment)
  const rehearsal = simulate
    ? await rehearseCapture(client, payment, {
        origin: account.address,
        fees: hasFees(options) ? pickFees(options) : undefined,
        maxGas: maxCaptureGas,
      })
    : undefined
  if (rehearsal?.ok === false) throw new CaptureRejectedError(rehearsal)
  const gas = options.gas ?? gasLimit(rehearsal, maxCaptureGas)
  return { call, chainId, account, gas, options }
}

function checkSender(
  { primaryType, message }: SignedPayment,
  account: Account,
): void {
  const { from, to, value } = message
  if (from === to) throw new CaptureRejectedError({ reason: 'selfPayment' })
  if (!value) throw new CaptureRejectedError({ reason: 'wrongAmount' })
  if (
    primaryType === 'ReceiveWithAuthorization' &&
    account.address.toLowerCase() !== to
  )
    throw new CaptureRejectedError({
      reason: 'wrongSender',
      words: `${account.address} is not the recipient ${to}`,
    })
}

/** Checks the window, and that the payer is a plain account, without a node. */
async function checkUnsimulated(payment: SignedPayment): Promise<void> {
  const { domain, message } = payment
  const { from, validAfter, validBefore } = message
  const now = wallTime()
  if (now >= validBefore + maxClockSkew)
    throw new CaptureRejectedError({ reason: 'expired' })
  if (now <= validAfter - maxClockSkew && !devChainIds.includes(domain.chainId))
    throw new CaptureRejectedError({ reason: 'notYetValid' })
  const hash = hashChecked(payment)
  const signature = tokenSignature(payment.signature) ?? '0x'
  const signer = await recoverAddress({ hash, signature }).catch(() => '')
  if (signer.toLowerCase() !== from)
    throw new CaptureRejectedError({ reason: 'unsimulatedWallet' })
}
