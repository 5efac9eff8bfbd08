/**
 * Replaces hex that is longer than a hash, which can be a signature or a signed
 * transaction. Commands print no secrets, but they print text that others
 * chose, such as order ids.
 */
export function hideSecrets(text: string): string {
  return text.replace(/(0x)?[\da-f]{65,}/gi, '0x…')
}
