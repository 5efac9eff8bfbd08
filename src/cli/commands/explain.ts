import { parseRevert } from '../../core/revertReason.js'
import { isWrappedSignature, tokenSignature } from '../../core/signature.js'
import { UsageError } from '../terminal/errors.js'
import { jsonOption } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import { readInput } from '../terminal/readInput.js'
import type { Command } from '../terminal/types.js'
import { explainPayment } from './explainPayment.js'
import { explainReceipt } from './explainReceipt.js'
import type { Explanation } from './types.js'

export const explainCommand: Command = {
  name: 'explain',
  summary: 'Explains a payment, a signature, a receipt or a revert.',
  positionals: '[FILE]',
  mostPositionals: 1,
  options: {
    ...jsonOption,
    url: {
      type: 'string',
      value: 'URL',
      help: 'URL of a node. With it, the token contract checks a signed payment.',
    },
  },
  details: [
    'Reads FILE or standard input: a payment as encodePayment writes it, the JSON of a receipt, the data of a revert in hex, or a signature in hex.',
    'Never prints a signature. With --url, the node sees it.',
    'Exits with 1 if a check fails.',
  ],
  example:
    'npx countersign explain payment.json --url https://mainnet.base.org',
  run: async ({ io, positionals: [file], text, flag, reveal }) => {
    const print = createPrinter(io)
    const input = await readInput(io, file)
    const { facts, lines, ok } = await explainInput(input, text('url'))
    // A file of this name was explained, so that the name is no key. Such as a
    // receipt under the hash of its transaction.
    if (file) reveal(file)
    if (flag('json')) print.json(facts)
    else for (const line of lines) print.line(line)
    return ok ? 0 : 1
  },
}

async function explainInput(
  input: string,
  url: string | undefined,
): Promise<Explanation> {
  const hex = input.replace(/^"|"$/g, '')
  if (/^0x([\da-f]{2})*$/i.test(hex)) return explainHex(hex as `0x${string}`)
  const value = parseJson(input)
  if (Array.isArray(Object(value).logs)) return explainReceipt(value)
  const answer: unknown = Object(value).result
  if (Array.isArray(Object(answer).logs)) return explainReceipt(answer)
  return explainPayment(value, url)
}

/**
 * Parses JSON. Its error does not quote the input, which may contain a
 * signature.
 */
function parseJson(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    throw new UsageError(
      'The input is neither JSON nor hex: pass a payment, a receipt, the data of a revert or a signature.',
    )
  }
}

/**
 * Explains hex by its length. Data of a revert has a selector of 4 bytes and
 * words of 32 bytes; no signature has such a length.
 */
function explainHex(hex: `0x${string}`): Explanation {
  const bytes = (hex.length - 2) / 2
  if (bytes === 0 || bytes % 32 === 4) {
    const { reason, words } = parseRevert(hex)
    return {
      facts: { kind: 'revert', reason, words },
      lines: [
        `revert: ${reason}`,
        ...(words ? [`revert reason: ${words}`] : []),
      ],
      ok: false,
    }
  }
  const form = formOf(hex, bytes)
  const ok = tokenSignature(hex) !== undefined
  return {
    facts: { kind: 'signature', bytes, form, accepted: ok },
    lines: [
      `signature of ${bytes} bytes: ${form}`,
      'To see who signed, pass the payment with its signature.',
    ],
    ok,
  }
}

function formOf(hex: `0x${string}`, bytes: number): string {
  const normal = tokenSignature(hex)
  if (normal === undefined) return 'no wallet makes this'
  if (isWrappedSignature(hex)) return 'of a wallet in an ERC-6492 wrapper'
  if (bytes === 64) return 'short form of EIP-2098, which is expanded'
  if (bytes > 65) return 'of a contract wallet'
  return normal === hex.toLowerCase()
    ? 'as tokens accept it'
    : 'with a v or s that tokens refuse, which countersign converts'
}
