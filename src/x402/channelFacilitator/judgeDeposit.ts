import { getToken } from '../../chain/state/getToken.js'
import { hasCode } from '../../chain/state/hasCode.js'
import {
  depositCollector,
  depositNonce,
  getChannel,
  movementFacts,
  type PlannedMovement,
  planDeposit,
} from '../../channels/engine.js'
import { formatAmount } from '../../core/amount.js'
import { isWrappedSignature } from '../../core/signature.js'
import type { SignedPayment } from '../../core/types.js'
import { verifyPayment } from '../../payments/verify/verifyPayment.js'
import type { AskedDeposit, ChannelPayload } from '../channel/parsePayload.js'
import { depositCodes } from '../channel/takeDeposit.js'
import {
  type ChannelFacilitator,
  type RefusedCall,
  refuseCall,
  type ServedCall,
} from './context.js'
import {
  coverVoucher,
  type JudgedChannel,
  refuseVoucher,
} from './judgeVoucherCall.js'

/** A payload that contains a deposit. */
export type DepositPayload = ChannelPayload & { deposit: AskedDeposit }

/**
 * Judges a deposit that is not on record: its terms, both signatures, and
 * whether it covers the voucher.
 */
export async function judgeDeposit(
  scheme: ChannelFacilitator,
  call: ServedCall,
  payload: DepositPayload,
): Promise<JudgedChannel> {
  const { id: channelId, deposit } = payload
  const { name, version } = call.extra
  if (!name || !version) return refuseCall('missing_eip712_domain')
  if (deposit.value === 0n) return refuseCall('payload_type')
  const { policy, now } = scheme.facilitator.context
  if (deposit.validBefore > now() / 1000n + policy.maxWindow)
    return refuseCall('payload_authorization_valid_before')
  const refused =
    (await refuseVoucher(scheme, call, payload)) ??
    (await refusePayment(scheme, call, payload))
  if (refused) return refused
  const state = await getChannel(call.client, { channelId })
  const covered = coverVoucher(payload, state, deposit.value)
  if (covered) return covered
  return payload.maxClaimable <= state.claimed
    ? refuseCall('cumulative_below_claimed')
    : { ok: true, state }
}

/** Asks the token whether it would take the payment. */
async function refusePayment(
  { facilitator }: ChannelFacilitator,
  call: ServedCall,
  payload: DepositPayload,
): Promise<RefusedCall | undefined> {
  const { client, chainId, token } = call
  const { policy, now } = facilitator.context
  const { decimals } = await getToken(client, { token })
  const payment = await depositPaymentOf(call, payload)
  const [verdict, isContract] = await Promise.all([
    verifyPayment(client, {
      payment,
      expect: {
        token,
        to: depositCollector,
        amount: formatAmount(payment.message.value, decimals),
        chainId,
        from: payment.message.from,
        minRemaining: policy.safetyMargin,
      },
      now: now() / 1000n,
    }),
    hasCode(client, payload.config.payer),
  ])
  if (!isContract && isWrappedSignature(payment.signature))
    return { ok: false, code: 'eip6492_factory_not_allowed' }
  if (!verdict.ok)
    return refuseCall(
      depositCodes[verdict.reason] ?? 'deposit_simulation_failed',
    )
  return isContract && facilitator.contractPayers === 'refuse'
    ? refuseCall(
        'receive_authorization_signature',
        'This facilitator accepts no payers that are contracts.',
      )
    : undefined
}

/** Builds the EIP-3009 payment whose signature the client sent. */
export async function depositPaymentOf(
  { client, token }: ServedCall,
  { id, config, deposit }: DepositPayload,
): Promise<SignedPayment> {
  const { domain } = await getToken(client, { token })
  const { value, validAfter, validBefore, salt, signature } = deposit
  return {
    primaryType: 'ReceiveWithAuthorization',
    domain,
    message: {
      from: config.payer,
      to: depositCollector,
      value,
      validAfter,
      validBefore,
      nonce: depositNonce(id, salt),
    },
    signature,
  }
}

export async function planWanted(
  { channels }: ChannelFacilitator,
  call: ServedCall,
  payload: DepositPayload,
): Promise<PlannedMovement> {
  const { id: channelId, config, deposit } = payload
  return planDeposit(await movementFacts(channels, call), {
    channelId,
    config,
    payment: await depositPaymentOf(call, payload),
    salt: deposit.salt,
  })
}
