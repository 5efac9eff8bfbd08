import type { Address } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { AnyPayment } from '../../core/types.js'
import { buildAuthorization, type SettlingKind } from '../../payments/kind.js'
import { accountsOf } from '../../payments/message/kind.js'
import { baseFactories, baseImplementations } from '../permission/walletCode.js'
import {
  type ChargePayment,
  decodeTerms,
  proveCharge,
  provesApproval,
  provesRevocation,
} from './chargePayment.js'
import { openChargeSearches } from './chargeSearches.js'
import { explainCharge } from './explainCharge.js'
import { findChargeHash } from './findChargeHash.js'
import { mayBeCharged } from './mayBeCharged.js'
import {
  rehearseCharge,
  rehearseRevocation,
  type WalletLimits,
} from './rehearseCharge.js'

/**
 * Which wallets {@link spendPermissions} accepts, and the gas that a charge may
 * use.
 */
export type SpendPermissionsParameters = {
  /**
   * Accepted wallet implementations (the contracts behind wallet proxies). In
   * your transaction, the manager calls the payer's wallet, so unknown code
   * could run at your cost. @default Base Account's versions 1 and 1.1
   */
  implementations?: readonly Address[] | undefined
  /**
   * Accepted factories, which deploy the wallets of payers that have none on
   * chain yet. @default Base Account's versions 1 and 1.1
   */
  factories?: readonly Address[] | undefined
  /** Gas a charge may cost at most. @default 300_000n */
  maxChargeGas?: bigint | undefined
}

const members: MembersOf<SpendPermissionsParameters> = {
  implementations: true,
  factories: true,
  maxChargeGas: true,
}

/**
 * Name of this payment kind in database rows. It must never change, or stored
 * rows could not be read.
 */
export const spendPermissionName = 'spendPermission'

/** The payment kind of subscription charges, for `kinds` of `createOrders`. */
export type SpendPermissions = SettlingKind & {
  readonly limits: WalletLimits
}

const defaultMaxChargeGas = 300_000n

/**
 * Creates the payment kind of subscription charges. Pass it in `kinds` to
 * `createOrders`, in every process that runs a worker.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import { type CreateOrdersParameters, createOrders } from 'countersign/orders'
 * import { spendPermissions } from 'countersign/subscriptions'
 *
 * export const openOrders = (parameters: CreateOrdersParameters) =>
 *   createOrders({ ...parameters, kinds: [spendPermissions()] })
 * ```
 */
export function spendPermissions(
  parameters: SpendPermissionsParameters = {},
): SpendPermissions {
  checkMembers(parameters, members)
  const {
    implementations = baseImplementations,
    factories = baseFactories,
    maxChargeGas = defaultMaxChargeGas,
  } = parameters
  if (typeof maxChargeGas !== 'bigint' || maxChargeGas < 1n)
    throw new InvalidFieldError(
      'maxChargeGas',
      shown(maxChargeGas),
      'a positive bigint',
    )
  const limits = {
    implementations: parseList(implementations, 'implementations'),
    factories: parseList(factories, 'factories'),
    maxGas: maxChargeGas,
  }
  const searches = openChargeSearches()
  return {
    name: spendPermissionName,
    limits,
    accounts: accountsOf,
    build: (fields): ChargePayment => ({
      ...buildAuthorization(fields),
      ...decodeTerms(fields.terms),
    }),
    prove: (receipt, payment) => proveCharge(receipt, chargeOf(payment)),
    end: (receipt, payment) => {
      const { permission, chargeId } = chargeOf(payment)
      const isOver =
        chargeId === undefined && provesRevocation(receipt, permission)
      return isOver ? 'canceled' : undefined
    },
    settling: {
      rehearse: (client, { payment, action, getKnown }) => {
        const charge = chargeOf(payment)
        return action === 'cancel'
          ? rehearseRevocation(client, charge.permission, limits.maxGas)
          : rehearseCharge(client, charge, {
              signature: payment.signature,
              limits,
              searches,
              getKnown,
            })
      },
      find: async (client, payment, range) => {
        const charge = chargeOf(payment)
        const known = await searches.recall(client, charge)
        if (known !== undefined) return known
        const isSearched =
          charge.chargeId === undefined ||
          (await mayBeCharged(client, charge, range.toBlock))
        return isSearched ? findChargeHash(client, charge, range) : undefined
      },
      approves: (receipt, payment) =>
        provesApproval(receipt, chargeOf(payment).permission),
      explain: (client, payment, receipt) =>
        explainCharge(client, chargeOf(payment), receipt),
    },
  }
}

function chargeOf(payment: AnyPayment): ChargePayment {
  if ('permission' in payment) return payment as ChargePayment
  throw new InvalidFieldError('payment', payment, 'a charge')
}

function parseList(given: readonly Address[], field: string): Address[] {
  if (!Array.isArray(given))
    throw new InvalidFieldError(field, shown(given), 'a list of addresses')
  return given.map((one, index) =>
    parseCheckedAddress(one, `${field}[${index}]`),
  )
}
