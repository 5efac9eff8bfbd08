/**
 * Removes every run of digits, hex digits or base64 that is longer than an
 * address, with or without separators, because it may be secret.
 */
export function redact(text: string): string {
  const safe = text
    .replace(/(0x)?[\da-f]{41,}/gi, '0x…')
    .replace(/[\w+/-]{43,}=*/g, '…')
    .replace(
      /\b(0x)?[\da-f]{1,32}([^\da-z]{1,4}(0x)?[\da-f]{1,32})+\b/gi,
      (groups) => (/([\da-f][^\da-f]*){32}/i.test(groups) ? '…' : groups),
    )
  // Also removes the word at the cut: the patterns above miss half a secret.
  return safe.length > 500 ? safe.slice(0, 500).replace(/\S+$/, '…') : safe
}
