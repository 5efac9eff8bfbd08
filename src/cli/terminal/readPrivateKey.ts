import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { UsageError } from './errors.js'
import { readInput } from './readInput.js'
import type { CliIo } from './types.js'

/**
 * Reads a private key from standard input. In a terminal, reads one line
 * without showing it; otherwise reads everything until the end.
 *
 * @throws {@link UsageError} when it is not a private key. The error does not
 * repeat it.
 */
export async function readPrivateKey(io: CliIo): Promise<PrivateKeyAccount> {
  if (io.readHidden)
    io.stderr.write(
      'Type or paste the private key that pays: 64 hexadecimal digits. It is not shown. Then press Enter.\n',
    )
  const text = io.readHidden
    ? await io.readHidden()
    : await readInput(io, undefined)
  const [, digits] = /^(?:0x)?([\da-f]{64})$/i.exec(text.trim()) ?? []
  const account = digits === undefined ? undefined : accountOf(`0x${digits}`)
  if (account) return account
  throw new UsageError(
    'Standard input must hold the private key that pays: one line of 64 hexadecimal digits, with or without 0x.',
  )
}

/**
 * Returns `undefined` for a number that is not a valid private key. Catches the
 * error of viem, which could show the number.
 */
function accountOf(key: Hex): PrivateKeyAccount | undefined {
  try {
    return privateKeyToAccount(key)
  } catch {
    return undefined
  }
}
