/**
 * Removes the contents of a transport's URLs and headers from a peer's words,
 * in encoded and decoded form.
 */
export function hideKeys(words: string, transport: unknown): string {
  const keys = keysOf(transport).flatMap(formsOf)
  if (keys.length === 0) return words
  const longestFirst = keys.sort((a, b) => b.length - a.length)
  const escaped = longestFirst.map((key) => key.replace(/\W/g, '\\$&'))
  return words.replace(new RegExp(escaped.join('|'), 'gi'), '…')
}

/** The secrets in the URL and headers of a transport and of its fallbacks. */
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
    // Shorter parts of a path are ordinary words, such as a chain's name.
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

/** Decodes percent escapes; returns text with a malformed one unchanged. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
