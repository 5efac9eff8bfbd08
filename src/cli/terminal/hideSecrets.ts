/**
 * Replaces hex that is longer than a hash, because it can be a signature or a
 * signed transaction. The library's own values are safe, but commands also
 * print text that others chose, such as order ids.
 */
export function hideSecrets(text: string): string {
  return text.replace(/(0x)?[\da-f]{65,}/gi, '0x…')
}

/**
 * Replaces, in the text of an error, the 32 bytes of hex that an argument
 * contains: they can be a private key in the wrong place. Hashes that the
 * library itself read, such as that of a transaction, stay.
 */
export function hideKeys(text: string, args: readonly string[]): string {
  const given = args.join(' ').toLowerCase()
  return text.replace(/(?:0x)?([\da-f]{64})(?![\da-f])/gi, (found, digits) =>
    given.includes(digits.toLowerCase()) ? '(32 bytes of hex)' : found,
  )
}
