import type { Account, Address } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseAddress } from '../../core/fields.js'
import { typedDataTypes } from '../../core/typedDataTypes.js'
import { WalletError } from '../../payments/sign/errors.js'
import {
  signWithWallet,
  type Wallet,
} from '../../payments/sign/signWithWallet.js'
import type { SignedVoucher, Voucher } from '../contract/types.js'
import { normalizeVoucherSignature } from '../contract/voucherSignature.js'
import { voucherTypedData } from '../contract/voucherTypedData.js'

/** Parameters of {@link signVoucher}. */
export type SignVoucherParameters = {
  chainId: number
  voucher: Voucher
  /**
   * The channel's `payerAuthorizer`: an account that signs, or the address of
   * one in the wallet. @default the account of the client
   */
  account?: Account | Address | undefined
}

/**
 * Signs a voucher as the payer of a channel.
 *
 * From then on the receiver can claim the voucher's whole amount until the
 * channel is empty: vouchers never expire. Compare channel id and amount with
 * your own record first.
 *
 * @throws {@link InvalidFieldError} when a field is malformed, or there is no
 * account.
 * @throws {@link WrongWalletError} when the wallet is on another chain or
 * account.
 * @throws {@link SigningDeclinedError} when the user declines.
 * @throws {@link WalletError} when the wallet fails, or returns no signature of
 * a key: the contract takes no other with a `payerAuthorizer`.
 *
 * @example
 * ```ts
 * import { signVoucher } from 'countersign/channels'
 * import { createWalletClient, http } from 'viem'
 * import { privateKeyToAccount } from 'viem/accounts'
 * import { base } from 'viem/chains'
 *
 * const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
 * const client = createWalletClient({ account, chain: base, transport: http() })
 *
 * export const pay = (channelId: `0x${string}`, maxClaimable: bigint) =>
 *   signVoucher(client, { chainId: base.id, voucher: { channelId, maxClaimable } })
 * ```
 */
export async function signVoucher(
  client: Wallet,
  parameters: SignVoucherParameters,
): Promise<SignedVoucher> {
  checkMembers(parameters, ['chainId', 'voucher', 'account'])
  const given: SignVoucherParameters = Object(parameters)
  const { chainId, voucher, account = Object(client).account } = given
  const { types, ...typedData } = voucherTypedData({ chainId, voucher })
  const address = typeof account === 'string' ? account : account?.address
  if (address === undefined)
    throw new InvalidFieldError('account', shown(account), 'an account')
  const { EIP712Domain } = typedDataTypes
  const payload = { ...typedData, types: { EIP712Domain, ...types } }
  const signer = parseAddress(address, 'account')
  const answer = await signWithWallet(
    withAccount(client, account),
    payload,
    signer,
  )
  const signature = normalizeVoucherSignature(answer)
  if (!signature) throw new WalletError(undefined, 'not that of a key')
  const { channelId, maxClaimableAmount } = typedData.message
  return { channelId, maxClaimable: maxClaimableAmount, signature }
}

/** Not a copy of the client: a browser wallet's `request` needs its object. */
function withAccount(
  client: Wallet | undefined,
  account: Account | Address,
): Wallet {
  const request: Wallet['request'] = (args, options) =>
    (client as Wallet).request(args, options)
  return typeof client?.request === 'function'
    ? { account, request }
    : ({ account } as Wallet)
}
