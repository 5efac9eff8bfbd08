import { canonicalJson } from '../../core/canonicalJson.js'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { observeFailure } from '../../core/observeFailure.js'
import { wait } from '../../core/wait.js'
import { isKeyAway } from '../../store/isKeyAway.js'
import { limitSealer } from '../../store/limitSealer.js'
import type { PaymentStore, Sealer, StoredValue } from '../../store/types.js'
import { isChannelId } from './channelForm.js'
import { channelLocks } from './channelLocks.js'
import {
  channelPrefix,
  decodeChannel,
  encodeChannel,
  type ReadChannel,
} from './channelRecord.js'
import { openOnce } from './openOnce.js'
import type {
  ChannelStorageParameters,
  X402Channel,
  X402ChannelStorage,
} from './types.js'

/**
 * Keeps the channels of the stock server of `@x402/evm/batch-settlement` in a
 * store, for all its processes. Pass it as `storage` to
 * `BatchSettlementEvmScheme` of that package.
 *
 * A killed process leaves nothing behind that blocks a channel, except what the
 * stock server itself wrote: a request that it was serving stays reserved until
 * its `expiresAt`. Use one store for one network, because the records do not
 * name their chain.
 *
 * Does not make the stock server itself durable: it still charges after the
 * handler, and watches no withdrawals.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed. The methods
 * throw it for a malformed id or channel, {@link StoreError} when the store
 * cannot be used or the record of the channel is broken, and {@link SealError}
 * when its signature does not open.
 *
 * @example
 * ```ts
 * import { sqliteStore } from 'countersign/sql'
 * import { channelStorage } from 'countersign/x402'
 *
 * const storage = channelStorage(sqliteStore({ file: 'channels.db' }))
 * // new BatchSettlementEvmScheme(receiver, { storage })
 * ```
 */
export function channelStorage(
  store: PaymentStore,
  parameters: ChannelStorageParameters = {},
): X402ChannelStorage {
  checkMembers(parameters, ['seal', 'observe'])
  const { seal, observe = () => undefined } = parameters
  const ready = openOnce(store)
  const context = {
    sealer: seal && limitSealer(parseSealer(seal), sealTimeout),
  }
  const load = async (id: string) => {
    await ready()
    const stored = await store.read((tables) => tables.getValue(keyOf(id)))
    return decodeChannel(context, id, stored)
  }
  /** Resolves to `undefined` if another process wrote first. */
  const tryUpdate = async (id: string, update: Update) => {
    const before = await load(id)
    const next = await update(before.channel)
    if (next === before.channel)
      return { channel: next, status: 'unchanged' } as const
    const value = next ? await encodeChannel(context, id, { next, before }) : {}
    if (!(await replaceValue(store, id, { before, value }))) return undefined
    return { channel: next, status: next ? 'updated' : 'deleted' } as const
  }
  const inTurn = turnsByKey()
  return {
    get: async (channelId) => (await load(parseId(channelId))).channel,
    list: async () => {
      await ready()
      const found = await store.read((it) => it.findValues(channelPrefix))
      const channels: X402Channel[] = []
      for (const row of found) {
        const channelId = row.key.slice(channelPrefix.length)
        try {
          // A value that is not JSON throws here, at `row.value`.
          const { channel } = await decodeChannel(context, channelId, row.value)
          if (channel) channels.push(channel)
        } catch (error) {
          if (isKeyAway(error)) throw error
          const failure = { about: { channelId }, error }
          observeFailure({ observe }, 'x402.channel.failed', failure)
        }
      }
      return channels.sort((one, other) =>
        one.channelId.toLowerCase() < other.channelId.toLowerCase() ? -1 : 1,
      )
    },
    updateChannel: (channelId, update) => {
      const id = parseId(channelId)
      // Updates of this process wait for each other. So only other processes
      // can make an update run again.
      return inTurn(id, async () => {
        for (;;) {
          const done = await tryUpdate(id, update)
          if (done) return done
          await wait(1 + Math.random() * 10)
        }
      })
    },
    ...channelLocks({ store, ready, parseId }),
  }
}

type Update = Parameters<X402ChannelStorage['updateChannel']>[1]

/** Milliseconds for each call of the sealer. */
const sealTimeout = 5_000

const keyOf = (id: string): string => `${channelPrefix}${id}`

/** Replaces the stored value if it still is the one that was read. */
function replaceValue(
  store: PaymentStore,
  id: string,
  { before, value }: { before: ReadChannel; value: StoredValue },
): Promise<boolean> {
  const read = canonicalJson(before.stored)
  return store.write(async (tables) => {
    // The store refuses the write if the value changes after this read.
    const now = await tables.getValue(keyOf(id))
    if (canonicalJson(now) !== read) return false
    await tables.setValue(keyOf(id), value)
    return true
  })
}

/** Runs the work of each key one after the other. */
function turnsByKey(): <result>(
  key: string,
  work: () => Promise<result>,
) => Promise<result> {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work)
    const ended = turn
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === ended) last.delete(key)
      })
    last.set(key, ended)
    return turn
  }
}

function parseId(channelId: string): string {
  if (isChannelId(channelId)) return channelId.toLowerCase()
  const rule = '32 bytes in hexadecimal'
  throw new InvalidFieldError('channelId', shown(channelId), rule)
}

function parseSealer(seal: Sealer): Sealer {
  const { current, seal: close, open } = Object(seal)
  const isSealer =
    typeof current === 'string' &&
    typeof close === 'function' &&
    typeof open === 'function'
  if (!isSealer) throw new InvalidFieldError('seal', seal, 'a sealer')
  return seal
}
