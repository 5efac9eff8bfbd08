import { createReadClient } from '../../chain/state/createReadClient.js'
import { getToken } from '../../chain/state/getToken.js'
import { formatAmount } from '../../core/amount.js'
import { wallTime } from '../../core/clock.js'
import { parseWrittenPayment } from '../../core/fields.js'
import { hashPayment } from '../../core/hashPayment.js'
import { findKnownToken } from '../../core/knownTokens.js'
import type { SignedPayment } from '../../core/types.js'
import {
  explainSignature,
  type SignatureDifference,
} from '../../payments/verify/explainSignature.js'
import { verifyPayment } from '../../payments/verify/verifyPayment.js'
import { UsageError } from '../terminal/errors.js'
import { formatSeconds } from '../terminal/formats.js'
import type { Explanation } from './types.js'

/** One check of a payment, and what it found. */
type Check = { check: string; ok: boolean; words: string }

/**
 * Explains a payment: its fields, its digest, who signed it, and which check
 * fails. With a URL, also asks the token at that node whether it would accept
 * the payment.
 */
export async function explainPayment(
  value: unknown,
  url: string | undefined,
): Promise<Explanation> {
  const given = parseWrittenPayment(value)
  const signed = 'signature' in given ? given : undefined
  const { primaryType, domain, message } = given
  const payment = { primaryType, domain, message }
  const digest = hashPayment(payment)
  const checks = [
    checkWindow(message),
    ...(signed ? [await checkSigner(signed)] : []),
    ...(signed && url ? [await askToken(signed, url)] : []),
  ]
  return {
    facts: { kind: 'payment', ...payment, digest, checks },
    lines: [
      primaryType,
      `  token ${domain.name} ${domain.version}, ${domain.verifyingContract} on chain ${domain.chainId}`,
      `  from ${message.from}`,
      `  to ${message.to}`,
      `  amount ${describeAmount(given)}`,
      `  window ${formatSeconds(message.validAfter)} to ${formatSeconds(message.validBefore)}`,
      `  payment nonce ${message.nonce}`,
      `  digest ${digest}`,
      ...(signed ? [] : ['  not signed']),
      ...checks.map(
        ({ check, ok, words }) => `${ok ? 'ok  ' : 'fail'}  ${check}: ${words}`,
      ),
    ],
    ok: checks.every(({ ok }) => ok),
  }
}

function describeAmount({
  domain,
  message,
}: Pick<SignedPayment, 'domain' | 'message'>): string {
  const known = findKnownToken(domain.chainId, domain.verifyingContract)
  return known
    ? `${formatAmount(message.value, known.decimals)} ${known.symbol}`
    : `${message.value} token units`
}

function checkWindow({
  validAfter,
  validBefore,
}: SignedPayment['message']): Check {
  const now = wallTime()
  const check = 'window'
  if (now <= validAfter)
    return {
      check,
      ok: false,
      words: 'begins later than this machine’s clock shows',
    }
  if (now >= validBefore)
    return { check, ok: false, words: 'is over by this machine’s clock' }
  return { check, ok: true, words: `open for ${validBefore - now} seconds` }
}

async function checkSigner(payment: SignedPayment): Promise<Check> {
  const check = 'signature'
  const found = await explainSignature({ payment })
  if (!found.found)
    return {
      check,
      ok: false,
      words: found.signer
        ? `not of the payer: ${found.signer} signed this message`
        : 'no account can be recovered: a contract wallet may have signed, which only a node can check (--url)',
    }
  const { differences } = found
  if (differences.every(({ field }) => field === 'form'))
    return {
      check,
      ok: true,
      words:
        differences.length === 0
          ? 'of the payer'
          : 'of the payer, in a form that countersign converts before it sends',
    }
  return {
    check,
    ok: false,
    words: `of the payer, but of another message: ${differences.map(describeDifference).join('; ')}`,
  }
}

function describeDifference({
  field,
  signed,
  presented,
}: SignatureDifference): string {
  return `${field} was ${JSON.stringify(signed)}, and is ${JSON.stringify(presented)}`
}

/**
 * Asks the token contract whether it would accept the payment. No order is
 * known here, so the payment is compared with its own token, recipient and
 * amount.
 */
async function askToken(payment: SignedPayment, url: string): Promise<Check> {
  if (!/^https?:\/\//.test(url))
    throw new UsageError('--url must be the http or https address of a node.')
  const client = createReadClient({ url })
  const { domain, message, primaryType } = payment
  const token = domain.verifyingContract
  const { decimals } = await getToken(client, { token })
  const verdict = await verifyPayment(client, {
    payment,
    expect: {
      token,
      to: message.to,
      amount: formatAmount(message.value, decimals),
      primaryType,
    },
  })
  return {
    check: 'token',
    ok: verdict.ok,
    words: verdict.ok ? 'accepts the payment now' : verdict.reason,
  }
}
