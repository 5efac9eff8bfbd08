import { StoreError } from '../store/errors.js'
import type { PaymentStore } from '../store/types.js'

/**
 * A store whose code is loaded when it is first used. The query builder takes
 * longer to load than the rest of the package.
 */
export function storeLater(
  load: () => Promise<PaymentStore>,
  { notifies }: { notifies: boolean },
): PaymentStore {
  let loading: Promise<PaymentStore> | undefined
  let isClosed = false
  const use = (): Promise<PaymentStore> => {
    if (!loading && isClosed) return Promise.reject(new StoreError('is closed'))
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
  return {
    open: async () => (await use()).open(),
    read: async (work) => (await use()).read(work),
    write: async (work, options) => (await use()).write(work, options),
    takeLease: async (wanted) => (await use()).takeLease(wanted),
    releaseLease: async (lease) => (await use()).releaseLease(lease),
    ...(notifies && {
      onChange: (listener: () => void) => listenLater(use, listener),
    }),
    close: async () => {
      isClosed = true
      const store = await loading?.catch(() => undefined)
      await store?.close()
    },
  }
}

/** Starts to listen when the store is loaded, unless nobody listens by then. */
function listenLater(
  use: () => Promise<PaymentStore>,
  listener: () => void,
): () => void {
  let isOver = false
  let unregister: (() => void) | undefined
  use()
    .then((store) => {
      if (!isOver) unregister = store.onChange?.(listener)
    })
    // The next call of the store fails the same way, and reports it.
    .catch(() => undefined)
  return () => {
    isOver = true
    unregister?.()
  }
}

/**
 * Checks that the optional peer `kysely` is installed.
 *
 * @throws {@link StoreError} when it is missing.
 */
export async function requireKysely(): Promise<void> {
  await import('kysely').catch(() => {
    throw new StoreError('needs the package kysely, which is not installed')
  })
}
