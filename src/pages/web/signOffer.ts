import type { PaymentRequirements } from '@x402/core/types'
import { formatAmount } from '../../core/amount.js'
import { drawNonce } from '../../core/drawNonce.js'
import type { Payment } from '../../core/types.js'
import { buildPayment } from '../../payments/message/buildPayment.js'
import { signPayment } from '../../payments/sign/signPayment.js'
import { encodeHeader } from '../../x402/wire/headers.js'
import { chainIdOf } from '../../x402/wire/requirements.js'
import { toExactPayload } from '../../x402/wire/toSignedPayment.js'
import type { PageDraft } from './draft.js'
import type { PageToken, PaywallData } from './pageData.js'
import type { Connection } from './wallets.js'

/** An offer, with the token to pay it in. */
export type PageOffer = {
  accepted: PaymentRequirements
  token: PageToken
  /** A decimal in whole tokens. */
  amount: string
}

/** Returns the offers that this page can show and sign. */
export function readOffers({
  accepts,
  tokens,
}: Pick<PaywallData, 'accepts' | 'tokens'>): readonly PageOffer[] {
  return accepts.flatMap((accepted) => {
    const token = tokens.find(
      (one) =>
        one.chainId === chainIdOf(accepted.network) &&
        one.token === accepted.asset.toLowerCase(),
    )
    if (!token || accepted.scheme !== 'exact') return []
    const amount = formatAmount(BigInt(accepted.amount), token.decimals)
    return [{ accepted, token, amount }]
  })
}

type PaymentParameters = PageOffer & {
  from: `0x${string}`
  /** Unix seconds. */
  now: number
}

/** Builds the payment that the wallet is asked to sign. */
export function buildOfferPayment(parameters: PaymentParameters): Payment {
  const { accepted, token, amount, from, now } = parameters
  const { extra, payTo, maxTimeoutSeconds } = accepted
  return buildPayment({
    domain: {
      name: String(extra.name),
      version: String(extra.version),
      chainId: token.chainId,
      verifyingContract: token.token,
    },
    decimals: token.decimals,
    from,
    to: payTo as `0x${string}`,
    amount,
    primaryType: 'TransferWithAuthorization',
    now: BigInt(now),
    validBefore: BigInt(now + maxTimeoutSeconds),
  })
}

/** Converts a payment to the form that the page shows. */
export function describePayment({
  primaryType,
  domain,
  message,
}: Payment): PageDraft {
  const shown = Object.entries(message).map(([name, value]) => [
    name,
    String(value),
  ])
  return { primaryType, domain, message: Object.fromEntries(shown) }
}

type SignParameters = Omit<PaymentParameters, 'from'> & {
  payment: Payment
  connection: Connection
  needsIdentifier: boolean
  signal: AbortSignal
}

/**
 * Has the wallet sign a payment. Returns the value of the header that programs
 * send.
 */
export async function signOffer(parameters: SignParameters): Promise<string> {
  const { accepted, token, amount, payment, connection } = parameters
  const { now, needsIdentifier, signal } = parameters
  const { account, wallet } = connection
  const signed = await signPayment(
    { request: (args) => wallet.provider.request(args), account },
    {
      payment,
      expect: {
        chainId: token.chainId,
        token: token.token,
        to: accepted.payTo as `0x${string}`,
        decimals: token.decimals,
        amount,
        primaryType: 'TransferWithAuthorization',
        maxWindow: BigInt(accepted.maxTimeoutSeconds),
      },
      now: BigInt(now),
      signal,
    },
  )
  const id = drawNonce().slice(2)
  // Leaves out the optional members: a cookie holds at most 4 kB.
  return encodeHeader({
    x402Version: 2,
    accepted,
    payload: toExactPayload(signed),
    ...(needsIdentifier
      ? { extensions: { 'payment-identifier': { info: { id } } } }
      : {}),
  })
}
