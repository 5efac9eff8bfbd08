import { type Hex, hexToBytes, parseSignature } from 'viem'

/** One way of writing a part of a signature down. */
export type SecretForm = { name: string; bytes: Buffer }

/** Every way in which r and s of a signature may lie in a file. */
export function secretForms(signature: Hex): SecretForm[] {
  const { r, s } = parseSignature(signature)
  return Object.entries({ r, s }).flatMap(([part, hex]) => {
    const bytes = Buffer.from(hexToBytes(hex))
    const digits = hex.slice(2)
    return [
      { name: `${part} as bytes`, bytes },
      { name: `${part} as hex`, bytes: Buffer.from(digits) },
      { name: `${part} as HEX`, bytes: Buffer.from(digits.toUpperCase()) },
      ...[0, 1, 2].flatMap((offset) => base64Forms(part, bytes, offset)),
    ]
  })
}

/** As it looks this many bytes behind the start of what is encoded. */
function base64Forms(
  part: string,
  bytes: Buffer,
  offset: number,
): SecretForm[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
  return (['base64', 'base64url'] as const).map((encoding) => {
    // What stands before and behind has a part in the outermost digits.
    const whole = text.toString(encoding).replace(/=+$/, '')
    const inner = whole.slice(offset === 0 ? 0 : offset + 1, -1)
    return {
      name: `${part} as ${encoding}, ${offset}`,
      bytes: Buffer.from(inner),
    }
  })
}

/** Which of these signatures show in a text or in bytes, and how. */
export function findSecrets(
  content: Buffer,
  forms: readonly SecretForm[],
): string[] {
  return forms
    .filter(({ bytes }) => content.includes(bytes))
    .map(({ name }) => name)
}
