import { StoreError } from 'countersign/store'
import { custom, type Transport } from 'viem'
import { wait } from '../../../src/core/wait.js'
import type { PaymentStore } from '../../../src/store/types.js'
import { rpcError } from './desk.js'

/** How the next calls of a process fail. */
export const switchedKinds = [
  'node refuses',
  'node loses the answer',
  'node is slow',
  'store fails before it writes',
  'store fails after it wrote',
] as const

export type SwitchedKind = (typeof switchedKinds)[number]

/** Faults of a process's node and store, which a test switches on. */
export type SwitchedFaults = {
  /** Has the next so many calls fail. */
  next(kind: SwitchedKind, calls: number): void
  clear(): void
  /** How many writes have reached the database and failed all the same. */
  lostWrites(): number
  transport(inner: Transport): Transport
  store(inner: PaymentStore): PaymentStore
}

export function switchedFaults(): SwitchedFaults {
  const left = new Map<SwitchedKind, number>()
  let lostWrites = 0
  const isDue = (kind: SwitchedKind): boolean => {
    const calls = left.get(kind) ?? 0
    if (calls > 0) left.set(kind, calls - 1)
    return calls > 0
  }
  const failed = () => new StoreError('lost the connection', true)
  return {
    next: (kind, calls) => {
      left.set(kind, calls)
    },
    clear: () => left.clear(),
    lostWrites: () => lostWrites,
    transport: (inner) => (given) => {
      const { request } = inner(given)
      const ask = request as (asked: object) => Promise<unknown>
      return custom(
        {
          request: async (asked) => {
            if (isDue('node refuses')) throw rpcError(-32603, 'internal error')
            if (isDue('node is slow')) await wait(300)
            const answer = await ask(asked)
            if (isDue('node loses the answer')) throw new Error('fetch failed')
            return answer
          },
        },
        { retryCount: 0 },
      )(given)
    },
    store: (inner) => ({
      ...inner,
      read: async (work) => {
        if (isDue('store fails before it writes')) throw failed()
        return inner.read(work)
      },
      write: async (work, options) => {
        if (isDue('store fails before it writes')) throw failed()
        const result = await inner.write(work, options)
        if (!isDue('store fails after it wrote')) return result
        lostWrites += 1
        throw failed()
      },
    }),
  }
}
