/**
 * Replaces hex that is longer than a hash, because it can be a signature or a
 * signed transaction. The library's own values are safe, but commands also
 * print text that others chose, such as order ids.
 */
export function hideSecrets(text: string): string {
  return text.replace(/(0x)?[\da-f]{65,}/gi, '0x…')
}
