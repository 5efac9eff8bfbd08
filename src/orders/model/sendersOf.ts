import type { Address } from 'viem'
import { drawNonce } from '../../core/drawNonce.js'
import type { OrderRecord } from '../../store/types.js'
import type { Senders } from './types.js'

type Sender = Senders['wallets'][number]
type Paid = Pick<OrderRecord, 'chainId' | 'recipient'>
type Paying = Pick<OrderRecord, 'primaryType' | 'total'> &
  Partial<Pick<OrderRecord, 'role'>>

/**
 * Who may send a payment:
 *
 * - `transfer`: any account may
 * - `receive`: the recipient, or a key that captures for it
 * - `ceiling`: the account that the payer signed. It decides how much is taken,
 *   so that is never a capture key
 */
type Sending = 'transfer' | 'receive' | 'ceiling'

/** The account that a wallet's captures pay, if it is no relayer. */
export const paidBy = ({ key, submitter }: Sender): Address =>
  key?.treasury ?? submitter.account

/** True when the wallet captures this payment in the name of the treasury. */
export function capturesByKey(
  { key }: Pick<Sender, 'key'>,
  order: Paying & Pick<OrderRecord, 'recipient'>,
): boolean {
  return key?.treasury === order.recipient && sendingOf(order) === 'receive'
}

/** Returns who may send an order; `undefined` if only its stored submitter may. */
export function sendingOf({
  primaryType,
  total,
  role,
}: Paying): Sending | undefined {
  // The contract of channels asks for signatures, not for a sender.
  if (role === 'movement') return 'transfer'
  if (total === 'atMost') return 'ceiling'
  if (primaryType === 'ReceiveWithAuthorization') return 'receive'
  return primaryType === 'TransferWithAuthorization' ? 'transfer' : undefined
}

/**
 * Finds the wallets that may send for a recipient: only its own, or the
 * relayers of the chain if it has none. So a wallet pays gas for other
 * recipients only if it is a relayer.
 */
export function sendersOf<wallet extends Sender>(
  { wallets, relayers }: Senders<wallet>,
  { chainId, recipient }: Paid,
  sending: Sending = 'transfer',
): readonly wallet[] {
  const here = wallets.filter(({ submitter }) => submitter.chainId === chainId)
  const own = here.filter(
    (wallet) =>
      paidBy(wallet) === recipient && !(wallet.key && sending === 'ceiling'),
  )
  if (own.length > 0 || sending === 'receive') return own
  return here.filter(({ submitter }) =>
    relayers.some(
      (relayer) =>
        relayer.chainId === chainId && relayer.account === submitter.account,
    ),
  )
}

/**
 * Returns the wallet that sends for an order: the one stored with it. If that
 * wallet was removed and others may send the payment, draws one of them.
 *
 * The draw is random. If it were computed from the order's id, a caller who
 * chooses ids could choose the wallet.
 */
export function senderOf<wallet extends Sender>(
  context: Senders<wallet>,
  order: Paid & Paying & Pick<OrderRecord, 'submitter'>,
): wallet | undefined {
  const { chainId, submitter: account } = order
  const known = context.wallets.find(
    ({ submitter }) =>
      submitter.chainId === chainId && submitter.account === account,
  )
  const sending = sendingOf(order)
  const canMove = sending === 'transfer' || sending === 'receive'
  return known || !canMove ? known : drawSender(context, order, sending)
}

/** Draws at random one of the wallets that may send for a recipient. */
export function drawSender<wallet extends Sender>(
  context: Senders<wallet>,
  paid: Paid,
  sending?: Sending | undefined,
): wallet | undefined {
  const senders = sendersOf(context, paid, sending)
  if (senders.length < 2) return senders[0]
  return senders[Number(BigInt(drawNonce()) % BigInt(senders.length))]
}
