import { type Hex, type PrivateKeyAccount, toHex } from 'viem'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { InvalidFieldError, shown } from '../core/errors.js'

/**
 * A public mnemonic, so never use its accounts for real money. It is not the
 * default mnemonic of other tools, because on live networks those accounts have
 * delegated code. A fork would inherit that code, and the token would ask it
 * about signatures.
 */
export const devMnemonic =
  'symbol day ski adult knock suggest swing fade tissue basic pulse screen'

/** Derives the same accounts as anvil from this mnemonic. */
export function devAccounts(count: number): PrivateKeyAccount[] {
  if (!Number.isInteger(count) || count < 3 || count > 1000)
    throw new InvalidFieldError(
      'accounts',
      shown(count),
      'an integer from 3 to 1000',
    )

  return Array.from({ length: count }, (_, addressIndex) =>
    privateKeyToAccount(devKey(addressIndex)),
  )
}

/** The key of one of these accounts, which everyone knows. */
export function devKey(addressIndex: number): Hex {
  const account = mnemonicToAccount(devMnemonic, { addressIndex })
  const { privateKey } = account.getHdKey()
  if (!privateKey) throw new Error('The phrase derives no private key.')
  return toHex(privateKey)
}
