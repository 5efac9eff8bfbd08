import { buildAuthorization, type SettlingKind } from '../../payments/kind.js'
import { explainMovement } from './explainMovement.js'
import { findMovement } from './findMovement.js'
import {
  type ChannelMovement,
  decodeMovementTerms,
  movementOf,
} from './movementTerms.js'
import { endsDeposit, proveMovement } from './proveMovement.js'
import { rehearseMovement } from './rehearseMovement.js'

/**
 * Name of this payment kind in database rows. It must never change, or stored
 * rows could not be read.
 */
export const channelKindName = 'channel'

/** The payment kind of channels, for `kinds` of `createOrders`. */
export type ChannelKind = SettlingKind

/**
 * Creates the payment kind by which the worker of the orders sends the deposits,
 * claims and refunds of channels. Pass it in `kinds` to `createOrders`, in every
 * process that runs a worker.
 *
 * @example
 * ```ts
 * import { channels } from 'countersign/channels'
 * import { type CreateOrdersParameters, createOrders } from 'countersign/orders'
 *
 * export const openOrders = (parameters: CreateOrdersParameters) =>
 *   createOrders({ ...parameters, kinds: [channels()] })
 * ```
 */
export function channels(): ChannelKind {
  return {
    name: channelKindName,
    // The contract asks for signatures, not for a sender.
    accounts: ({ message }) => ({
      recipient: message.to,
      operator: undefined,
    }),
    build: (fields): ChannelMovement => ({
      ...buildAuthorization({ ...fields, primaryType: undefined }),
      movement: decodeMovementTerms(fields.terms),
    }),
    prove: (receipt, payment) => proveMovement(receipt, movementOf(payment)),
    end: (receipt, payment) =>
      endsDeposit(receipt, movementOf(payment)) ? 'canceled' : undefined,
    settling: {
      rehearse: async (client, { payment, account }) => {
        const { signature: secret } = payment
        const sender = { account, secret }
        return rehearseMovement(client, movementOf(payment), sender)
      },
      find: (client, payment, range) =>
        findMovement(client, movementOf(payment), range),
      approves: () => false,
      explain: (client, payment, receipt) =>
        explainMovement(client, movementOf(payment), receipt),
    },
  }
}
