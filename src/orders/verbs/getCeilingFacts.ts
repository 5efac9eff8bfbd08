import type { Address, Client } from 'viem'
import { UnsupportedTokenError } from '../../chain/rpc/errors.js'
import { getPermitToken } from '../../chain/state/getPermitToken.js'
import { getTokenAndHead, type Token } from '../../chain/state/getToken.js'
import type { RunHead } from '../../chain/state/types.js'
import { parseAmount } from '../../core/amount.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { PaymentKind } from '../../payments/kind.js'
import { parseMetadata } from '../../store/parseMetadata.js'
import type { OrdersContext } from '../context/types.js'
import { sendersOf } from '../model/sendersOf.js'
import {
  checkHead,
  chooseDestination,
  type DraftFacts,
  type DraftOrderParameters,
} from './draftFacts.js'
import { parseWindow } from './newAttempt.js'

export async function getCeilingFacts(
  context: OrdersContext,
  parameters: DraftOrderParameters & { atMost: string },
): Promise<DraftFacts> {
  const { atMost, primaryType } = parameters
  const kinds = [...context.kinds.values()].filter(
    (kind): kind is PaymentKind => !kind.settling && kind.total === 'atMost',
  )
  if (kinds.length === 0)
    throw new InvalidFieldError(
      'atMost',
      shown(atMost),
      'left out, since kinds has no kind with a ceiling, such as checkout',
    )
  if (primaryType !== undefined)
    throw new InvalidFieldError('primaryType', shown(primaryType), 'left out')
  const metadata = parseMetadata(parameters.metadata)
  const window = parseWindow(context.policy, parameters.window)
  const { client, recipient, ...chosen } = chooseDestination(context, {
    ...parameters,
    // The operator sends the capture, so the recipient needs no wallet here.
    // Only this primary type allows a recipient without one.
    primaryType: 'TransferWithAuthorization',
  })
  checkSender(context, { chainId: chosen.chainId, recipient })
  // The payer signs terms that name the payer, so it must be known at the
  // draft.
  const payer = parseCheckedAddress(parameters.payer, 'payer')
  if (payer === recipient)
    throw new InvalidFieldError(
      'payer',
      shown(payer),
      'another account than the recipient',
    )
  const { kind, token, permitNonce, head } = await findKind(client, kinds, {
    token: chosen.token,
    payer,
  })
  return {
    token,
    time: checkHead(context, chosen, head),
    window,
    value: parseAmount(atMost, token.decimals),
    recipient,
    payer,
    primaryType: kind.primaryType,
    metadata,
    kind,
    permitNonce,
  }
}

/**
 * @throws {@link InvalidFieldError} when only capture keys send for the
 * recipient.
 */
function checkSender(
  context: OrdersContext,
  paid: { chainId: number; recipient: Address },
): void {
  if (sendersOf(context, paid, 'ceiling').length > 0) return
  throw new InvalidFieldError(
    'recipient',
    shown(paid.recipient),
    'a recipient with its own wallet here, or with a relayer',
    'Capture keys take no payments with a ceiling.',
  )
}

/** What a kind of payment needs to know about a token. */
type KindToken = {
  token: Pick<Token, 'domain' | 'decimals'>
  permitNonce: bigint | undefined
  head: RunHead
}

type Holding = { token: Address; payer: Address }

/**
 * Finds the first of the configured kinds that supports the token.
 * @throws {@link UnsupportedTokenError} when none does.
 */
async function findKind(
  client: Client,
  [kind, ...others]: readonly PaymentKind[],
  holding: Holding,
): Promise<KindToken & { kind: PaymentKind }> {
  if (!kind)
    throw new UnsupportedTokenError({
      token: holding.token,
      problem: 'supports no kind of payment with a ceiling',
    })
  try {
    return { kind, ...(await getKindToken(client, kind, holding)) }
  } catch (error) {
    if (!(error instanceof UnsupportedTokenError) || !others.length) throw error
    return findKind(client, others, holding)
  }
}

/**
 * Reads what payments of this kind need to know about a token.
 * @throws {@link UnsupportedTokenError} when the kind does not support the
 * token.
 */
export async function getKindToken(
  client: Client,
  kind: PaymentKind,
  { token: address, payer }: Holding,
): Promise<KindToken> {
  if (kind.permit) {
    const { head, ...token } = await getPermitToken(client, address, payer)
    return { token, permitNonce: token.permitNonce, head }
  }
  const { token, head } = await getTokenAndHead(client, address)
  if (token.capabilities.receive) return { token, permitNonce: undefined, head }
  throw new UnsupportedTokenError({
    token: address,
    problem: 'cannot settle ReceiveWithAuthorization',
  })
}
