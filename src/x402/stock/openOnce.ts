import { InvalidFieldError } from '../../core/errors.js'
import { loadOnce } from '../../core/loadOnce.js'
import type { PaymentStore } from '../../store/types.js'

/**
 * Returns a function that opens the store at its first call. A failed call is
 * repeated by the next one.
 *
 * @throws {@link InvalidFieldError} when `store` is not a store.
 */
export function openOnce(store: PaymentStore): () => Promise<unknown> {
  const { open, read, write } = Object(store)
  if (![open, read, write].every((method) => typeof method === 'function'))
    throw new InvalidFieldError('store', store, 'a store')
  return loadOnce(() => store.open())
}
