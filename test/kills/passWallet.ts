import type { LocalAccount } from 'viem'
import type { Boundaries } from './boundaries.js'

/** A local account whose every signature is a boundary. */
export function passWallet(
  account: LocalAccount,
  { pass }: Boundaries,
): LocalAccount {
  return {
    ...account,
    signTransaction: (...parameters) =>
      pass('sign', () => account.signTransaction(...parameters)),
    signTypedData: (parameters) =>
      pass('sign typed data', () => account.signTypedData(parameters)),
  }
}
