import { concatHex, type Hex, numberToHex, parseSignature } from 'viem'

const curveOrder =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The same signature in a form that some libraries accept. */
export function reformSignature(
  signature: Hex,
  form: 'v of 0 or 1' | 'high s' | '64 bytes',
): Hex {
  const { r, s, yParity } = parseSignature(signature)
  const byte = (value: number) => numberToHex(value, { size: 1 })
  if (form === 'v of 0 or 1') return concatHex([r, s, byte(yParity)])
  if (form === '64 bytes')
    return concatHex([
      r,
      numberToHex(BigInt(s) + (BigInt(yParity) << 255n), { size: 32 }),
    ])
  const twin = numberToHex(curveOrder - BigInt(s), { size: 32 })
  return concatHex([r, twin, byte(28 - yParity)])
}
