/**
 * Replaces hex that is longer than a hash: signatures and signed transactions.
 * No command writes them; this is for text that others chose, such as ids.
 */
export function hideSecrets(text: string): string {
  return text.replace(/(0x)?[\da-f]{65,}/gi, '0x…')
}
