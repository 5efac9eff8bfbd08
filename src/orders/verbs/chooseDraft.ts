import type { Address } from 'viem'
import { readCheckedAddress } from '../../chain/logs/encodeLogFilter.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { PrimaryType } from '../../core/types.js'
import { drawSender } from '../model/sendersOf.js'
import type { OrdersContext } from '../model/types.js'

type Choice = {
  chainId?: number | undefined
  token?: Address | undefined
  recipient?: Address | undefined
}

/**
 * The token of a draft, where it is named or there is only one.
 *
 * @throws {@link InvalidFieldError}
 */
export function chooseToken(
  { tokens }: OrdersContext,
  { chainId, token: given }: Choice,
): OrdersContext['tokens'][number] {
  const token =
    given === undefined ? undefined : readCheckedAddress(given, 'token')
  const fitting = tokens.filter(
    (known) =>
      (chainId === undefined || known.chainId === chainId) &&
      (token === undefined || known.token === token),
  )
  const [only] = fitting
  if (only && fitting.length === 1) return only
  const isOpen = token === undefined
  throw new InvalidFieldError(
    isOpen && chainId !== undefined && !only ? 'chainId' : 'token',
    isOpen ? (only ? undefined : chainId) : token,
    only ? 'given, with chainId: there are several' : 'one that is taken',
  )
}

/**
 * The recipient of a draft, where it is named or there is only one; of a
 * Receive payment only one that can send.
 *
 * @throws {@link InvalidFieldError}
 */
export function chooseRecipient(
  { destinations, wallets }: OrdersContext,
  { chainId, token }: { chainId: number; token: Address },
  { recipient, primaryType }: Choice & { primaryType: PrimaryType },
): Address {
  const isReceive = primaryType === 'ReceiveWithAuthorization'
  const fitting = destinations
    .filter(
      (destination) =>
        destination.chainId === chainId && destination.token === token,
    )
    .map((destination) => destination.recipient)
    .filter(
      (one) =>
        !isReceive ||
        wallets.some(
          ({ submitter }) =>
            submitter.chainId === chainId && submitter.account === one,
        ),
    )
  const asked =
    recipient === undefined
      ? undefined
      : readCheckedAddress(recipient, 'recipient')
  const only = fitting.length === 1 ? fitting[0] : undefined
  const found = asked ?? only
  if (found && fitting.includes(found)) return found
  throw new InvalidFieldError(
    'recipient',
    asked,
    asked
      ? `${isReceive ? 'a wallet' : 'a recipient'} of these orders`
      : 'given: there are several',
  )
}

/**
 * Chooses the account that sends: the recipient if it is a wallet, otherwise
 * one of the relayers.
 */
export function chooseSubmitter(
  context: Pick<OrdersContext, 'wallets' | 'relayers'>,
  order: { chainId: number; recipient: Address },
): Address {
  return drawSender(context, order)?.submitter.account ?? order.recipient
}
