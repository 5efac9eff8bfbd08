/**
 * Takes out of a peer's words what a transport's URLs and headers hold, also as
 * a peer would decode or encode it.
 */
export function hideKeys(words: string, transport: unknown): string {
  const keys = keysOf(transport).flatMap(formsOf)
  if (keys.length === 0) return words
  const longestFirst = keys.sort((a, b) => b.length - a.length)
  const escaped = longestFirst.map((key) =>
    key.replace(/[^\w]/g, (sign) => `\\${sign}`),
  )
  return words.replace(new RegExp(escaped.join('|'), 'gi'), '…')
}

/** viem's transports show theirs, and those they fall back to. */
function keysOf(transport: unknown): string[] {
  const { url, fetchOptions, transports } = Object(transport)
  const [, user = '', rest = ''] =
    /^\w+:\/\/(?:([^/?#]*)@)?[^/?#]+(.*)/.exec(String(url)) ?? []
  const headers = Object(fetchOptions).headers ?? {}
  const values =
    Symbol.iterator in headers ? [...headers] : Object.values(headers)
  const secrets = [
    ...user.split(':'),
    ...values
      .flat()
      .join(' ')
      .split(/[\s;,]/),
  ]
  const inner: unknown[] = Array.isArray(transports) ? transports : []
  return [
    // Shorter parts of a path are words such as a chain's name.
    ...rest.split(/[/?&=#]/).filter((part) => part.length > 5),
    ...secrets.filter((part) => part.length > 3),
    ...(user && [btoa(user), btoa(decode(user))]),
    ...inner.flatMap((one) => keysOf(Object(one).value)),
  ]
}

function formsOf(key: string): string[] {
  const plain = decode(key)
  return [key, plain, encodeURIComponent(plain)]
}

/** A percent sign that begins no escape stands for itself. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
