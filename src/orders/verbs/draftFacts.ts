import type { Address, Client } from 'viem'
import { otherChain } from '../../chain/state/checkChain.js'
import type { Token } from '../../chain/state/getToken.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { PrimaryType } from '../../core/types.js'
import type { PaymentKind } from '../../payments/kind.js'
import type {
  Destination,
  OrderRecord,
  RecipientRecord,
  StoreReader,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { checkChainClock } from '../model/checkChainClock.js'
import { paidBy } from '../model/sendersOf.js'

/** Parameters of `draft`: what to sell, for how much and to whom. */
export type DraftOrderParameters = {
  /**
   * Your id of the order, up to 128 characters. It must not begin with
   * `countersign-test-`, which marks test orders that are never fulfilled.
   * @default a random id
   */
  orderId?: string | undefined
  /**
   * Id of the chain on which the buyer pays. @default the only one configured
   */
  chainId?: number | undefined
  /** Contract address of the token. @default the only one configured */
  token?: Address | undefined
  /** Account that is paid. @default the only one configured */
  recipient?: Address | undefined
  /**
   * A decimal such as `'12.50'`, in whole tokens. Pass either `amount` or
   * `atMost`.
   */
  amount?: string | undefined
  /**
   * The ceiling: the most that `capture` may take, such as `'50.00'`, in whole
   * tokens. Needs `payer`, and a kind such as `checkout` in `kinds`.
   */
  atMost?: string | undefined
  /** The only account that may pay. @default any account may */
  payer?: Address | undefined
  /**
   * Seconds from now until the payment expires; more than
   * `policy.safetyMargin`. @default `policy.window`
   */
  window?: bigint | undefined
  /**
   * Type of the EIP-3009 message to sign. Only the recipient can submit a
   * `ReceiveWithAuthorization`.
   * @default 'ReceiveWithAuthorization'
   */
  primaryType?: PrimaryType | undefined
  /** JSON object to store with the order, up to 8 kB. */
  metadata?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Parameters of `draft` for an exact amount, which an EIP-3009 payment pays.
 */
export type ExactDraftParameters = DraftOrderParameters & { amount: string }

/**
 * What a new order is made from: checked parameters, and values read from the
 * chain.
 */
export type DraftFacts = {
  token: Pick<Token, 'domain' | 'decimals'>
  time: bigint
  window: bigint
  value: bigint
  recipient: Address
  payer: Address | undefined
  primaryType: OrderRecord['primaryType']
  metadata: OrderRecord['metadata']
  kind: PaymentKind
  /**
   * The payer's next nonce for permits of the token, if payments of this kind
   * use permits.
   */
  permitNonce: bigint | undefined
}

/**
 * Checks that the node is on the right chain and its clock agrees with ours.
 * Returns the time of the newest block in Unix seconds.
 *
 * @throws {@link NodeAnswerError} {@link ClockSkewError}
 */
export function checkHead(
  context: Pick<OrdersContext, 'now' | 'policy'>,
  chosen: { chainId: number },
  head: { chainId: number; timestamp: bigint },
): bigint {
  const { timestamp, chainId } = head
  if (chainId !== chosen.chainId) throw otherChain(chainId, chosen.chainId)
  checkChainClock(context, head)
  return timestamp
}

type Choice = {
  chainId?: number | undefined
  token?: Address | undefined
  recipient?: Address | undefined
}

/**
 * Chooses the token and the recipient of a new order or subscription: the given
 * ones, or the only ones configured. A `ReceiveWithAuthorization` payment can
 * be submitted only by its recipient, so that recipient must have a wallet
 * here.
 * @throws {@link InvalidFieldError}
 */
export function chooseDestination(
  context: OrdersContext,
  choice: Choice & { primaryType: PrimaryType },
): Destination & { client: Client } {
  const { client, chainId, token } = chooseToken(context, choice)
  const recipient = chooseRecipient(context, { chainId, token }, choice)
  return { client, chainId, token, recipient }
}

function chooseToken(
  { tokens }: OrdersContext,
  { chainId, token: given }: Choice,
): OrdersContext['tokens'][number] {
  const token =
    given === undefined ? undefined : parseCheckedAddress(given, 'token')
  const fitting = tokens.filter(
    (known) =>
      (chainId === undefined || known.chainId === chainId) &&
      (token === undefined || known.token === token),
  )
  const [only] = fitting
  if (only && fitting.length === 1) return only
  if (only)
    throw new InvalidFieldError(
      'token',
      shown(token),
      'given together with chainId, because several tokens of these orders match',
    )
  if (token === undefined && chainId !== undefined)
    throw new InvalidFieldError(
      'chainId',
      shown(chainId),
      tokens.map((known) => known.chainId),
    )
  throw new InvalidFieldError(
    'token',
    shown(token),
    tokens.map((known) => known.token),
  )
}

/**
 * Returns the recipient of a draft: the given one, or the only one configured.
 * A `ReceiveWithAuthorization` payment can be submitted only by its recipient,
 * so that recipient must have a wallet here.
 * @throws {@link InvalidFieldError}
 */
function chooseRecipient(
  { destinations, shop, wallets }: OrdersContext,
  { chainId, token }: { chainId: number; token: Address },
  { recipient, primaryType }: Choice & { primaryType: PrimaryType },
): Address {
  const isReceive = primaryType === 'ReceiveWithAuthorization'
  const fitting = destinations
    .filter(
      (destination) =>
        destination.chainId === chainId &&
        destination.token === token &&
        !shop.isRemoved(destination),
    )
    .map((destination) => destination.recipient)
    .filter(
      (one) =>
        !isReceive ||
        wallets.some(
          (wallet) =>
            wallet.submitter.chainId === chainId && paidBy(wallet) === one,
        ),
    )
  const asked =
    recipient === undefined
      ? undefined
      : parseCheckedAddress(recipient, 'recipient')
  const only = fitting.length === 1 ? fitting[0] : undefined
  const found = asked ?? only
  if (found && fitting.includes(found)) return found
  if (asked && shop.isRemoved({ chainId, token, recipient: asked }))
    throw removedRecipient(asked)
  const kind = isReceive ? 'the account of a wallet' : 'a recipient'
  throw new InvalidFieldError(
    'recipient',
    shown(asked),
    asked || !fitting.length
      ? `${kind} of these orders`
      : 'given, since these orders have several recipients',
  )
}

function removedRecipient(recipient: Address): InvalidFieldError {
  return new InvalidFieldError(
    'recipient',
    shown(recipient),
    'a recipient that was not removed',
    'To sell for it again, add it with changeRecipients.',
  )
}

/**
 * Checks that a named shop still takes new orders for this recipient.
 *
 * @throws {@link InvalidFieldError}
 */
export async function checkRecipient(
  { shop: { name } }: Pick<OrdersContext, 'shop'>,
  { recipients }: Pick<StoreReader, 'recipients'>,
  { chainId, token, recipient }: Destination,
): Promise<void> {
  if (name === undefined) return
  const row = await findOwn({ recipients }, name, { chainId, token, recipient })
  if (row && !row.removed) return
  if (row) throw removedRecipient(recipient)
  throw new InvalidFieldError(
    'recipient',
    shown(recipient),
    `a recipient of shop "${name}"`,
  )
}

/**
 * True while a named shop takes new orders for this recipient, and always
 * without a name. In a write it stays true until the write ends.
 */
export async function takesOrders(
  { shop: { name } }: Pick<OrdersContext, 'shop'>,
  tables: Pick<StoreReader, 'recipients'>,
  destination: Destination,
): Promise<boolean> {
  if (name === undefined) return true
  const row = await findOwn(tables, name, destination)
  return row !== undefined && !row.removed
}

async function findOwn(
  { recipients }: Pick<StoreReader, 'recipients'>,
  shop: string,
  { chainId, token, recipient }: Destination,
): Promise<RecipientRecord | undefined> {
  const destinations = [{ chainId, token, recipient }]
  const rows = await recipients.find({ destinations })
  return rows.find((row) => row.shop === shop)
}
