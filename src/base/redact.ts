/**
 * Takes out every run of digits, hex digits or base64 longer than an address:
 * it may be secret.
 */
export function redact(text: string): string {
  return text
    .replace(/(0x)?[\da-f]{41,}/gi, '0x…')
    .replace(/[\w+/-]{43,}=*/g, '…')
    .slice(0, 500)
}
