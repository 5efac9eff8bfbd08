import { decodePaymentHeader, paymentHeader, secretHeaders } from './headers.js'

/**
 * Removes the credentials of a request from a text, such as the message of an
 * error that quotes its headers. Also removes the signature inside a payment
 * header, and every piece of a credential that has 32 characters or more.
 */
export function withoutCredentials(text: string, headers: Headers): string {
  const given = secretHeaders.flatMap((name) => headers.get(name) ?? [])
  const secrets = [...given, signatureOf(headers)].filter(
    (secret) => secret.length >= 8,
  )
  let safe = text
  for (const secret of secrets) safe = safe.replaceAll(secret, '…')
  return safe.replace(/[\w+/-]{32,}=*/g, (run) => {
    const piece = run.replace(/^0x|=+$/g, '').toLowerCase()
    return secrets.some((secret) => secret.toLowerCase().includes(piece))
      ? '…'
      : run
  })
}

function signatureOf(headers: Headers): string {
  const decoded = decodePaymentHeader(headers.get(paymentHeader) ?? '')
  return decoded.ok ? String(decoded.payload.payload.signature ?? '') : ''
}
