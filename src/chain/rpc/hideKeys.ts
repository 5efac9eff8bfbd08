import { decodePercent } from '../../core/decodePercent.js'
/**
 * Replaces keys and passwords from a transport's URLs and headers in an error
 * text by "…", whether they are percent-encoded or not.
 */
export function hideKeys(words: string, transport: unknown): string {
  const keys = keysOf(transport).flatMap(formsOf)
  if (keys.length === 0) return words
  const longestFirst = keys.sort((a, b) => b.length - a.length)
  const escaped = longestFirst.map((key) => {
    const text = key.replace(/\W/g, '\\$&')
    // Hides a short key only where it is a whole word: it may be part of
    // ordinary words.
    return key.length > mostShort ? text : `(?<![\\w-])${text}(?![\\w-])`
  })
  return words.replace(new RegExp(escaped.join('|'), 'gi'), '…')
}

/** Keys up to this length are hidden only where they are whole words. */
const mostShort = 5

/** Usual parts of URL paths, which are not secret. */
const usual = /^(v\d|rpc|api|eth|evm|main|mainnet|base|https?|wss?|json|key)$/i

/**
 * Returns the secrets in the URL and headers of a transport and of its
 * fallbacks.
 */
function keysOf(transport: unknown): string[] {
  const { url, fetchOptions, transports } = Object(transport)
  const [, user = '', rest = ''] =
    /^\w+:\/\/(?:([^/?#]*)@)?[^/?#]+(.*)/.exec(String(url)) ?? []
  const headers = Object(fetchOptions).headers ?? {}
  const values =
    Symbol.iterator in headers ? [...headers] : Object.values(headers)
  const secrets = [
    ...values
      .flat()
      .join(' ')
      .split(/[\s;,]/),
  ]
  const inner: unknown[] = Array.isArray(transports) ? transports : []
  return [
    ...rest
      .split(/[/?&=#]/)
      .filter((part) => part.length > 2 && !usual.test(part)),
    ...user.split(':').filter((part) => part.length > 1),
    ...secrets.filter((part) => part.length > 3),
    ...(user && [btoa(user), btoa(decodePercent(user))]),
    ...inner.flatMap((one) => keysOf(Object(one).value)),
  ]
}

function formsOf(key: string): string[] {
  const plain = decodePercent(key)
  return [key, plain, encodeURIComponent(plain)]
}
