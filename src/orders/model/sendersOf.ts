import { drawNonce } from '../../core/drawNonce.js'
import type { OrderRecord } from '../../store/types.js'
import type { Senders } from './types.js'

type Sender = Senders['wallets'][number]
type Paid = Pick<OrderRecord, 'chainId' | 'recipient'>

/**
 * Finds the wallets that may send for a recipient: only its own, or the
 * relayers of the chain if it has none. So a wallet pays gas for other
 * recipients only if it is a relayer.
 */
export function sendersOf<wallet extends Sender>(
  { wallets, relayers }: Senders<wallet>,
  { chainId, recipient }: Paid,
): readonly wallet[] {
  const here = wallets.filter(({ submitter }) => submitter.chainId === chainId)
  const own = here.filter(({ submitter }) => submitter.account === recipient)
  if (own.length > 0) return own
  return here.filter(({ submitter }) =>
    relayers.some(
      (relayer) =>
        relayer.chainId === chainId && relayer.account === submitter.account,
    ),
  )
}

/**
 * Returns the wallet that sends for an order: the one stored with it. If that
 * wallet was removed and the payment allows any sender, draws another one.
 *
 * The draw is random. If it were computed from the order's id, a caller who
 * chooses ids could choose the wallet.
 */
export function senderOf<wallet extends Sender>(
  context: Senders<wallet>,
  order: Paid & Pick<OrderRecord, 'submitter' | 'primaryType'>,
): wallet | undefined {
  const { chainId, submitter: account, primaryType } = order
  const known = context.wallets.find(
    ({ submitter }) =>
      submitter.chainId === chainId && submitter.account === account,
  )
  if (known || primaryType !== 'TransferWithAuthorization') return known
  return drawSender(context, order)
}

/** Draws at random one of the wallets that may send for a recipient. */
export function drawSender<wallet extends Sender>(
  context: Senders<wallet>,
  paid: Paid,
): wallet | undefined {
  const senders = sendersOf(context, paid)
  if (senders.length < 2) return senders[0]
  return senders[Number(BigInt(drawNonce()) % BigInt(senders.length))]
}
