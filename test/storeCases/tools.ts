import { keepTrying } from '../../src/core/keepTrying.js'
import { wait } from '../../src/core/wait.js'
import type { PaymentStore, StoreWriter } from '../../src/store/types.js'
import type { CreateStore } from '../../src/testing/storeCase.js'

/**
 * Runs `work` with an open handle, and with a function that opens further ones.
 * Closes all handles at the end.
 */
export async function useStore(
  createStore: CreateStore,
  work: (
    store: PaymentStore,
    openAnother: () => Promise<PaymentStore>,
  ) => Promise<void>,
): Promise<void> {
  const handles: PaymentStore[] = []
  const openAnother = async () => {
    const store = await createStore()
    handles.push(store)
    await store.open()
    return store
  }
  try {
    await work(await openAnother(), openAnother)
  } finally {
    for (const store of handles) await store.close()
  }
}

/**
 * Compares two values, and throws an error that shows the first difference. A
 * member that is `undefined` counts as absent.
 */
export function expectSame(
  rule: string,
  actual: unknown,
  expected: unknown,
): void {
  const [given, wanted] = [show(actual), show(expected)]
  if (given === wanted) return
  let at = 0
  while (given[at] === wanted[at]) at++
  const [shown, meant] = [cut(given, at), cut(wanted, at)]
  throw new Error(`${rule}: expected ${meant}, got ${shown}.`)
}

/** Throws unless both lists have the same rows, in any order. */
export function expectRows(
  rule: string,
  actual: readonly unknown[],
  expected: readonly unknown[],
): void {
  const sort = (rows: readonly unknown[]) =>
    [...rows].sort((left, right) => (show(left) < show(right) ? -1 : 1))
  expectSame(rule, sort(actual), sort(expected))
}

/** Throws unless `work` rejects with an error of this name. */
export async function expectRefusal(
  rule: string,
  work: Promise<unknown>,
  name: string,
): Promise<void> {
  const answer = await work.then(
    () => 'nothing was refused',
    (error: unknown) => String(Object(error).name),
  )
  expectSame(rule, answer, name)
}

/** Runs work again, up to 500 times, while it fails with a retryable error. */
export async function tryAgain<result>(
  work: () => Promise<result>,
): Promise<result> {
  return await keepTrying(work, (error, failures) =>
    Object(error).retryable && failures < 500
      ? 1 + Math.random() * 10
      : undefined,
  )
}

/** Calls `look` until it returns something, up to 500 times, every 20 ms. */
export async function waitFor<result>(
  look: () => Promise<result | undefined>,
): Promise<result | undefined> {
  for (let tries = 0; tries < 500; tries++) {
    const seen = await look()
    if (seen !== undefined) return seen
    await wait(20)
  }
  return undefined
}

/**
 * Runs several writes one after the other in one unit of work (database
 * transaction).
 */
export function writeAll(
  store: PaymentStore,
  ...steps: readonly ((writer: StoreWriter) => Promise<unknown>)[]
): Promise<void> {
  return store.write(async (writer) => {
    for (const step of steps) await step(writer)
  })
}

function show(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (typeof value !== 'object' || !value) return String(JSON.stringify(value))
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => `${name}: ${show(member)}`)
  return `{ ${members.join(', ')} }`
}

/** Shortens a long text to the part around the first difference. */
function cut(text: string, at: number): string {
  if (text.length < 200) return text
  const start = Math.max(0, at - 80)
  return `${start ? '…' : ''}${text.slice(start, start + 160)}…`
}
