import { type Address, getContractAddress, type Hex } from 'viem'
import { checkMembers } from '../core/checkMembers.js'
import { parseCheckedAddress } from '../core/parseCheckedAddress.js'
import { word } from '../core/words.js'
import { checkoutCode } from './contracts/Checkout.generated.js'
import { permitCheckoutCode } from './contracts/PermitCheckout.generated.js'

/**
 * The well-known CREATE2 deployer, a contract that is on nearly every chain.
 * Its call data is a salt of 32 bytes, then the code to deploy.
 */
const deployer: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

const salt: Hex = /* @__PURE__ */ `0x${'0'.repeat(64)}`

/**
 * The checkout contract for EIP-3009 tokens, at the same address on every
 * chain. Never take this address from a server, which could name a contract of
 * its own.
 */
export const checkoutAddress: Address =
  '0x8785ba1685e0e8291fa0c0902a1e91838dbe62d1'

/** A call that deploys a contract; any account can send it. */
export type DeploymentCall = { to: Address; data: Hex }

/**
 * Builds the call that deploys the checkout contract for EIP-3009 tokens. Each
 * chain needs it once, from anyone.
 *
 * @example
 * ```ts
 * import { checkoutDeployment } from 'countersign/checkout'
 * import type { WalletClient } from 'viem'
 * import { sendTransaction } from 'viem/actions'
 *
 * const deploy = (wallet: WalletClient) =>
 *   sendTransaction(wallet, {
 *     ...checkoutDeployment(),
 *     account: wallet.account ?? null,
 *     chain: wallet.chain,
 *   })
 * ```
 */
export function checkoutDeployment(): DeploymentCall {
  return deployment(checkoutCode)
}

/** The accounts for which a checkout contract for permits is deployed. */
export type PermitCheckoutParameters = {
  /** The account that is paid. */
  recipient: Address
  /**
   * The only account that can capture payments through the contract.
   * @default the recipient
   */
  operator?: Address | undefined
}

/**
 * Computes the address of the checkout contract for permit-only tokens of one
 * recipient and operator. It is the same on every chain.
 *
 * Does not check whether it is deployed: `verifyPayment` does.
 *
 * @throws {@link InvalidFieldError} when an address is malformed.
 *
 * @example
 * ```ts
 * import { permitCheckoutAddress } from 'countersign/checkout'
 *
 * const spender = permitCheckoutAddress({
 *   recipient: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 * })
 * ```
 */
export function permitCheckoutAddress(
  parameters: PermitCheckoutParameters,
): Address {
  const bytecode = creationCode(parameters)
  const address: string = getContractAddress({
    opcode: 'CREATE2',
    from: deployer,
    salt,
    bytecode,
  })
  return `0x${address.slice(2).toLowerCase()}`
}

/**
 * Builds the call that deploys the checkout contract for permit-only tokens of
 * one recipient and operator. Each chain needs it once, from anyone.
 *
 * @throws {@link InvalidFieldError} when an address is malformed.
 *
 * @example
 * ```ts
 * import { permitCheckoutDeployment } from 'countersign/checkout'
 * import type { WalletClient } from 'viem'
 * import { sendTransaction } from 'viem/actions'
 *
 * const deploy = (wallet: WalletClient) =>
 *   sendTransaction(wallet, {
 *     ...permitCheckoutDeployment({
 *       recipient: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *     }),
 *     account: wallet.account ?? null,
 *     chain: wallet.chain,
 *   })
 * ```
 */
export function permitCheckoutDeployment(
  parameters: PermitCheckoutParameters,
): DeploymentCall {
  return deployment(creationCode(parameters))
}

function creationCode(parameters: PermitCheckoutParameters): Hex {
  checkMembers(parameters, ['recipient', 'operator'])
  const { recipient, operator = recipient } = parameters
  const paid = word(parseCheckedAddress(recipient, 'recipient'))
  const calling = word(parseCheckedAddress(operator, 'operator'))
  return `${permitCheckoutCode}${paid}${calling}`
}

function deployment(code: Hex): DeploymentCall {
  return { to: deployer, data: `${salt}${code.slice(2)}` }
}
