import type { PaymentStore } from 'countersign/store'
import { custom } from 'viem'

/** Where a process dies: the nth time that it is before or after a step. */
export type Death = { name: string; nth: number }

/** A process that dies at one boundary, and from then on does nothing more. */
export type DyingProcess = {
  /** The boundaries that it passed, each with its number. */
  passed: readonly Death[]
  store(store: PaymentStore): PaymentStore
  /** A transport of viem that dies with the process. */
  transport(url: string): ReturnType<typeof custom>
  isDead(): boolean
  /** Dies at the next boundary of this name. */
  dieAt(name: string): void
  /** Dies now. */
  die(): void
}

const never = new Promise<never>(() => undefined)

/** @param death the boundary; absent to only record them. */
export function dyingProcess(death?: Death | undefined): DyingProcess {
  const counts = new Map<string, number>()
  const passed: Death[] = []
  let dies = death
  let isDead = false
  const pass = async (name: string): Promise<void> => {
    if (isDead) return never
    const nth = (counts.get(name) ?? 0) + 1
    counts.set(name, nth)
    passed.push({ name, nth })
    if (name !== dies?.name || nth !== dies.nth) return
    isDead = true
    return never
  }
  const around = async <result>(
    name: string,
    work: () => Promise<result>,
  ): Promise<result> => {
    await pass(`before ${name}`)
    const result = await work()
    await pass(`after ${name}`)
    return result
  }
  return {
    passed,
    isDead: () => isDead,
    die: () => {
      isDead = true
    },
    dieAt: (name) => {
      dies = { name, nth: (counts.get(name) ?? 0) + 1 }
    },
    store: (store) => ({
      ...store,
      read: (work) => (isDead ? never : store.read(work)),
      write: (work, options) =>
        around('write', () => store.write(work, options)),
      takeLease: (lease) => (isDead ? never : store.takeLease(lease)),
      releaseLease: (lease) => (isDead ? never : store.releaseLease(lease)),
      close: async () => undefined,
    }),
    transport: (url) =>
      custom({
        request: ({ method, params }) =>
          around(method, () => ask(url, method, params)),
      }),
  }
}

async function ask(
  url: string,
  method: string,
  params: unknown,
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body })
  const { result, error } = Object(await response.json())
  if (error)
    throw Object.assign(new Error(String(Object(error).message)), {
      code: Object(error).code,
      data: Object(error).data,
    })
  return result
}
