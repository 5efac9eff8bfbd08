import { wait } from '../core/wait.js'
import type { PaymentStore, StoreWriter } from '../store/types.js'

/** Makes a handle of its own to the database under test, not opened yet. */
export type CreateStore = () => PaymentStore | Promise<PaymentStore>

/** One thing every store has to do. */
export type StoreCase = {
  /** The rule, as a sentence without its full stop. */
  readonly name: string
  /**
   * Rejects with an error that says what was expected when the store breaks
   * the rule.
   *
   * `createStore` is called once or more, and each time gives a handle to the
   * same database; the case opens and closes them. A store that lives in
   * memory is its own handle: it gives itself each time.
   */
  readonly run: (createStore: CreateStore) => Promise<void>
}

/** Gives the work a first handle, and more as it needs them. */
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

/** Says what differs; a member that is `undefined` is as good as none. */
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

/** The same rows, in whichever order. */
export function expectRows(
  rule: string,
  actual: readonly unknown[],
  expected: readonly unknown[],
): void {
  const sort = (rows: readonly unknown[]) =>
    [...rows].sort((left, right) => (show(left) < show(right) ? -1 : 1))
  expectSame(rule, sort(actual), sort(expected))
}

/** Says so when the work was not refused with an error of that name. */
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

/** Does again what was refused for the moment only. */
export async function tryAgain<result>(
  work: () => Promise<result>,
): Promise<result> {
  for (let tries = 1; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (!Object(error).retryable || tries === 500) throw error
      await wait(1 + Math.random() * 10)
    }
}

/** Looks again until there is something to see, for ten seconds at most. */
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

/** Several writes in one unit of work, one after the other. */
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

/** What stands around the first difference. */
function cut(text: string, at: number): string {
  if (text.length < 200) return text
  const start = Math.max(0, at - 80)
  return `${start ? '…' : ''}${text.slice(start, start + 160)}…`
}
