import { type Hex, type PrivateKeyAccount, toHex } from 'viem'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { InvalidFieldError, shown } from '../core/errors.js'

/**
 * The mnemonic of all accounts. It is public: never send real money to these
 * accounts. It differs from the mnemonic of other tools, whose accounts have
 * delegated code (EIP-7702) on live networks. A fork would copy that code, and
 * the token would then ask the code about signatures.
 */
export const devMnemonic =
  'symbol day ski adult knock suggest swing fade tissue basic pulse screen'

/**
 * Derives accounts from the mnemonic as anvil does, so both have the same ones.
 */
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

/** Returns the private key of one of these accounts. The key is public. */
export function devKey(addressIndex: number): Hex {
  const account = mnemonicToAccount(devMnemonic, { addressIndex })
  const { privateKey } = account.getHdKey()
  if (!privateKey) throw new Error('The phrase derives no private key.')
  return toHex(privateKey)
}
