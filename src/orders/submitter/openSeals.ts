import type { Hex } from 'viem'
import type { AnySignedPayment } from '../../core/types.js'
import { inTime } from '../../core/wait.js'
import type { SealerUnavailableError } from '../../store/errors.js'
import { openSealed } from '../../store/openSealed.js'
import type { SealContext } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { kindOf } from '../model/kindOf.js'
import { paymentOf, sealContextOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { SubmitterState } from './submitterState.js'

export type SealedSecret = { sealed: string; place: SealContext }

/**
 * Milliseconds that a poll waits until secrets are decrypted. Slower ones are
 * decrypted in the background, for a later poll.
 */
const longestWait = 500

/**
 * Decrypts secrets in parallel, and waits for them up to `longestWait`.
 * @returns secrets that were decrypted or failed. The rest are still being
 * decrypted.
 */
export async function openSecrets<secret extends SealedSecret>(
  context: OrdersContext,
  submitter: Pick<SubmitterState, 'openings'>,
  secrets: readonly secret[],
): Promise<secret[]> {
  const { openings } = submitter
  const results = secrets.map((secret) => begin(context, submitter, secret))
  await inTime<unknown>(
    Promise.allSettled(results),
    longestWait,
    () => undefined,
  )
  for (const secret of secrets) openings.noteWaited(keyOf(secret))
  return secrets.filter((secret) => !openings.isLate(keyOf(secret)))
}

/**
 * Returns a decrypted secret, or `undefined` if it cannot be decrypted.
 * Decrypts it now unless `openSecrets` did.
 */
export function takeSecret(
  context: OrdersContext,
  submitter: Pick<SubmitterState, 'openings'>,
  secret: SealedSecret,
): Promise<string | undefined> {
  submitter.openings.take(keyOf(secret))
  return begin(context, submitter, secret)
}

function begin(
  context: OrdersContext,
  { openings }: Pick<SubmitterState, 'openings'>,
  secret: SealedSecret,
): Promise<string | undefined> {
  const { sealed, place } = secret
  return openings.begin(keyOf(secret), () => openSealed(context, sealed, place))
}

/**
 * The key includes the context of the secret, so that a secret copied to
 * another row does not match.
 */
function keyOf({ sealed, place }: SealedSecret): string {
  return JSON.stringify([sealed, place])
}

/**
 * Decrypts the secrets of several orders first, so that their captures can be
 * simulated in one request.
 * @returns the orders that can be simulated now.
 */
export async function openSeals(
  context: OrdersContext,
  submitter: Pick<SubmitterState, 'openings'>,
  storedOrders: readonly StoredOrder[],
): Promise<StoredOrder[]> {
  const secrets = storedOrders.flatMap(
    (stored) => secretOf(context, stored) ?? [],
  )
  await openSecrets(context, submitter, secrets)
  return storedOrders.filter((stored) => !isOpening(context, submitter, stored))
}

/** True while the secret of an order is being decrypted in the background. */
export function isOpening(
  context: Pick<OrdersContext, 'kinds'>,
  { openings }: Pick<SubmitterState, 'openings'>,
  stored: StoredOrder,
): boolean {
  const secret = secretOf(context, stored)
  return secret !== undefined && openings.isLate(keyOf(secret))
}

/**
 * If the key service did not answer the first try, decrypts the secret of an
 * order in the background, so that a slow key service delays other orders only
 * once.
 * @returns false while the secret is not decrypted.
 */
export function openBeside(
  context: OrdersContext,
  submitter: Pick<SubmitterState, 'openings' | 'aside'>,
  stored: StoredOrder,
): boolean {
  const secret = secretOf(context, stored)
  const reason = submitter.aside.reasonOf(stored.order.id)
  if (!secret || reason !== silent) return true
  void begin(context, submitter, secret).catch(() => undefined)
  submitter.openings.noteWaited(keyOf(secret))
  return !submitter.openings.isLate(keyOf(secret))
}

const silent: SealerUnavailableError['name'] = 'SealerUnavailableError'

/** Returns the secret that the next transaction of an order needs, if any. */
function secretOf(
  context: Pick<OrdersContext, 'kinds'>,
  { order, attempt }: StoredOrder,
): SealedSecret | undefined {
  const isCancel = order.requested === 'cancel'
  const sealed = isCancel ? attempt.cancellation : attempt.signature
  if (sealed === undefined) return undefined
  // To cancel a subscription, the spender revokes the spend permission. That
  // takes no signature of the payer.
  if (isCancel && kindOf(context, order).settling) return undefined
  const kind = isCancel ? 'cancellation' : 'payment'
  return { sealed, place: sealContextOf(kind, order, attempt) }
}

/**
 * Returns the signed payment of an attempt, or `undefined` if its signature was
 * erased or cannot be decrypted.
 */
export async function takePayment(
  context: OrdersContext,
  submitter: Pick<SubmitterState, 'openings'>,
  { order, attempt }: StoredOrder,
): Promise<AnySignedPayment | undefined> {
  const { signature: sealed } = attempt
  if (sealed === undefined) return undefined
  const place = sealContextOf('payment', order, attempt)
  const signature = await takeSecret(context, submitter, { sealed, place })
  if (signature === undefined) return undefined
  return { ...paymentOf(context, order, attempt), signature: signature as Hex }
}
