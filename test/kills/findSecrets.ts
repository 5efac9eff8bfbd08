import { existsSync, readFileSync } from 'node:fs'
import type { SignedPayment } from 'countersign'
import { hexToBytes, parseSignature } from 'viem'
import type { Plan } from './plan.js'

/** The files of a database, searched for signatures nobody may find there. */
export function findSecrets({
  plan: { engine },
  payments,
}: {
  plan: Pick<Plan, 'engine'>
  payments: readonly Pick<SignedPayment, 'signature'>[]
}): string[] {
  if (!('sqlite' in engine)) return []
  const files = ['', '-wal', '-shm']
    .map((ending) => engine.sqlite + ending)
    .filter((file) => existsSync(file))
  const forms = payments.flatMap(({ signature }) => formsOf(signature))
  return files.flatMap((file) => {
    const content = readFileSync(file)
    const found = forms.filter(({ bytes }) => content.includes(bytes))
    return found.map(({ name }) => `${file} holds ${name} of a signature`)
  })
}

function formsOf(
  signature: `0x${string}`,
): readonly { name: string; bytes: Buffer }[] {
  const { r, s } = parseSignature(signature)
  return Object.entries({ r, s }).flatMap(([part, hex]) => {
    const bytes = Buffer.from(hexToBytes(hex))
    return [
      { name: `${part} as bytes`, bytes },
      { name: `${part} as hex`, bytes: Buffer.from(hex.slice(2)) },
      {
        name: `${part} as upper hex`,
        bytes: Buffer.from(hex.slice(2).toUpperCase()),
      },
      { name: `${part} as base64`, bytes: base64Of(bytes, 'base64') },
      { name: `${part} as base64url`, bytes: base64Of(bytes, 'base64url') },
    ]
  })
}

/** Without the last character, which what follows has a part in. */
function base64Of(bytes: Buffer, encoding: 'base64' | 'base64url'): Buffer {
  return Buffer.from(bytes.toString(encoding).replace(/=+$/, '').slice(0, -1))
}
