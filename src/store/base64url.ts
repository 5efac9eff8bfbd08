const letters =
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Encodes bytes as base64url without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  const codes = new Uint8Array(Math.ceil((bytes.length * 4) / 3))
  let at = 0
  for (let from = 0; from < bytes.length; from += 3) {
    const group =
      ((bytes[from] ?? 0) << 16) |
      ((bytes[from + 1] ?? 0) << 8) |
      (bytes[from + 2] ?? 0)
    for (let shift = 18; shift >= 0 && at < codes.length; shift -= 6)
      codes[at++] = letters.charCodeAt((group >> shift) & 63)
  }
  return new TextDecoder().decode(codes)
}

/**
 * Decodes exactly what `encodeBase64url` writes. Returns `undefined` for any
 * other text, also if the last letter has unused bits that are not 0.
 */
export function decodeBase64url(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let held = 0
  let bits = 0
  let at = 0
  for (let from = 0; from < text.length; from++) {
    const value = sixBitsOf(text.charCodeAt(from))
    if (value === undefined) return undefined
    held = ((held << 6) | value) & 0xfff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[at++] = held >> bits
  }
  const isWhole = bits < 6 && (held & ((1 << bits) - 1)) === 0
  return isWhole ? bytes : undefined
}

function sixBitsOf(code: number): number | undefined {
  if (code >= 65 && code <= 90) return code - 65
  if (code >= 97 && code <= 122) return code - 71
  if (code >= 48 && code <= 57) return code + 4
  if (code === 45) return 62
  return code === 95 ? 63 : undefined
}
