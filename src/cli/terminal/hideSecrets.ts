/**
 * Replaces hex that is longer than a hash, because it can be a signature or a
 * signed transaction. The library's own values are safe, but commands also
 * print text that others chose, such as order ids.
 */
export function hideSecrets(text: string): string {
  return text.replace(/(0x)?[\da-f]{65,}/gi, '0x…')
}

/** Hides what may be a private key among the arguments of a command. */
export type KeyFilter = {
  /**
   * Replaces the 32 bytes of hex that an argument contains, whole or cut off.
   * Hashes that the command itself read stay.
   */
  hide(text: string): string
  /**
   * Lets an argument be printed: the record has an order or a transaction of
   * this name, so it is no key.
   */
  reveal(argument: string): void
}

/** Makes the filter of a command with these arguments. */
export function createKeyFilter(args: readonly string[]): KeyFilter {
  const keysOf = (text: string) =>
    text.toLowerCase().match(/[\da-f]{64}/g) ?? []
  const keys = new Set(args.flatMap(keysOf))
  const isKey = (digits: string) =>
    [...keys].some((key) => key.startsWith(digits.toLowerCase()))
  return {
    hide: (text) =>
      text.replace(
        /(?:0x)?([\da-f]{64}(?![\da-f])|[\da-f]{8,63}(?=…))…?/gi,
        (found, digits) => (isKey(digits) ? '(32 bytes of hex)' : found),
      ),
    reveal: (argument) => {
      for (const key of keysOf(argument)) keys.delete(key)
    },
  }
}
