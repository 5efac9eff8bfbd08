import { loadPeer, notLoaded } from '../core/peers.js'
import { StoreError } from '../store/errors.js'
import type { PaymentStore } from '../store/types.js'
import { SqlLoss } from './tables/sqlLoss.js'

type StoreLaterParameters = {
  notifies: boolean
  /**
   * Loads the store that `attach` returns. Absent if the store has no `attach`.
   */
  loadAttached?:
    | ((access: 'read' | 'write') => Promise<PaymentStore>)
    | undefined
  isAttached?: true | undefined
}

/**
 * Creates a store that loads its code at the first call. Loading the query
 * builder takes longer than loading the rest of the package.
 */
export function storeLater(
  load: () => Promise<PaymentStore>,
  { notifies, loadAttached, isAttached }: StoreLaterParameters,
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
  const losing = new AbortController()
  const ask = async <result>(
    call: (store: PaymentStore) => Promise<result>,
  ): Promise<result> => {
    try {
      return await call(await use())
    } catch (error) {
      if (error instanceof SqlLoss) losing.abort(error)
      throw error
    }
  }
  return {
    open: () => ask((store) => store.open()),
    read: (work) => ask((store) => store.read(work)),
    write: (work, options) => ask((store) => store.write(work, options)),
    archive: (query) =>
      ask(
        async (store) =>
          (await store.archive?.(query)) ?? { moved: 0, last: undefined },
      ),
    takeLease: (wanted) => ask((store) => store.takeLease(wanted)),
    releaseLease: (lease) => ask((store) => store.releaseLease(lease)),
    lost: losing.signal,
    ...(notifies && {
      onChange: (listener: (by?: string) => void) => listenLater(use, listener),
    }),
    ...(loadAttached && {
      attach: (access: 'read' | 'write') =>
        storeLater(() => loadAttached(access), {
          notifies: false,
          isAttached: true,
        }),
    }),
    ...(isAttached && { isAttached }),
    close: async () => {
      isClosed = true
      const store = await loading?.catch(() => undefined)
      await store?.close()
    },
  }
}

/**
 * Registers the listener once the store has loaded, unless the caller has
 * unregistered it before that.
 */
function listenLater(
  use: () => Promise<PaymentStore>,
  listener: (by?: string) => void,
): () => void {
  let isOver = false
  let unregister: (() => void) | undefined
  use()
    .then((store) => {
      if (!isOver) unregister = store.onChange?.(listener)
    })
    // Ignores the error: the next call of the store fails the same way, and
    // reports it.
    .catch(() => undefined)
  return () => {
    isOver = true
    unregister?.()
  }
}

/**
 * Checks that the optional peer `kysely` is installed.
 *
 * @throws {@link StoreError} when it is missing or too old.
 */
export async function requireKysely(): Promise<void> {
  await loadPeer(
    { name: 'kysely', from: '0.27.0' },
    import('kysely').catch(notLoaded),
    (problem) => new StoreError(problem),
  )
}
