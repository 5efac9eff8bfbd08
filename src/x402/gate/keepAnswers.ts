import { nextTurn } from '../../core/wait.js'
import { endWork, writeCaptureRequests } from '../../orders/engine.js'
import type { NoteRecord, OrderRecord, StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { noteOf } from './exchanges.js'
import type {
  AnswerToKeep,
  ExchangeNote,
  GateContext,
  KeepAnswer,
  KeptAnswer,
} from './types.js'

type Waiting = {
  answer: AnswerToKeep
  settle(kept: KeptAnswer | undefined): void
  fail(error: unknown): void
}

/**
 * Limits of one database transaction: number of answers, and characters of all
 * answers together.
 */
const mostAnswers = 100
const mostLength = 4_194_304

type Gate = Pick<GateContext, 'context' | 'instance'>

/**
 * Stores an answer. If the worker can send the capture at once, the answer is
 * stored in the same database transaction as the capture, which saves a write.
 * Otherwise it is stored together with other answers.
 */
export function keepAnswers(gate: Gate): KeepAnswer {
  const collect = collectAnswers(gate.context)
  return async (answer) => {
    const order = await joinAnswer(gate, answer)
    return order ? { order } : collect(answer)
  }
}

async function joinAnswer(
  { instance }: Gate,
  { note, answer, captures, stored, early }: AnswerToKeep,
): Promise<OrderRecord | undefined> {
  const isLong = answer.length > mostLength / mostAnswers
  if (!captures || !stored || isLong) return undefined
  return instance
    .drive()
    .joinCapture({ stored, early, notes: [doneNote(note, answer)] })
}

/**
 * Collects answers, so that hundreds at once need only a few writes. If a write
 * of several fails, each is written alone, so that one bad answer does not stop
 * the others.
 */
function collectAnswers(context: GateContext['context']): KeepAnswer {
  let queue: Waiting[] = []
  let isWriting = false
  const write = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const answers = batch.map(({ answer }) => answer)
      const kept = await writeAgain(context, (tables) =>
        writeAnswers(context, tables, answers),
      )
      for (const { answer, settle } of batch) settle(kept.get(answer))
    } catch (error) {
      const [only, ...others] = batch
      if (others.length === 0) only?.fail(error)
      else await Promise.all(batch.map((one) => write([one])))
    }
  }
  const flush = async (): Promise<void> => {
    isWriting = true
    // Waits one turn of the event loop, in which other requests add their
    // answers.
    await nextTurn()
    while (queue.length > 0) {
      const count = fitting(queue)
      const batch = queue.slice(0, count)
      queue = queue.slice(count)
      await write(batch)
    }
    isWriting = false
  }
  return (answer) =>
    new Promise((settle, fail) => {
      queue.push({ answer, settle, fail })
      if (!isWriting) void flush()
    })
}

/**
 * Returns how many answers from the front of the queue fit into one database
 * transaction. The first one always fits, however long it is.
 */
function fitting(queue: readonly Waiting[]): number {
  let length = 0
  const most = queue.slice(0, mostAnswers).findIndex(({ answer }, at) => {
    length += answer.answer.length
    return at > 0 && length > mostLength
  })
  return most === -1 ? mostAnswers : most
}

/** Writes the answers. Skips those whose record another process has changed. */
async function writeAnswers(
  context: GateContext['context'],
  tables: StoreWriter,
  answers: readonly AnswerToKeep[],
): Promise<ReadonlyMap<AnswerToKeep, KeptAnswer>> {
  const keys = answers.map(({ note }) => note.key)
  const found = new Map(
    (await tables.notes.find({ keys })).map((note) => [note.key, note.version]),
  )
  const own = answers.filter(({ note }) => found.get(note.key) === note.version)
  const captured = own.flatMap(({ captures, orderId }) =>
    captures ? [orderId] : [],
  )
  const early = new Map(
    own.flatMap(({ captures, orderId, early }) =>
      captures && early ? [[orderId, early]] : [],
    ),
  )
  const orders =
    captured.length === 0
      ? undefined
      : await writeCaptureRequests(context, tables, captured, {
          skipsReview: true,
          early,
        })
  const answered = own.flatMap(({ isEarly, orderId }) =>
    isEarly ? [orderId] : [],
  )
  await endWork(context, tables, answered, { isAnswered: true })
  if (own.length > 0)
    await tables.notes.update(
      own.map(({ note, answer }) => doneNote(note, answer)),
    )
  return new Map(
    own.map((one) => [one, { order: orders?.get(one.orderId) }] as const),
  )
}

/** Builds the record that says that the handler is done, with its answer. */
function doneNote(note: ExchangeNote, answer: string): NoteRecord {
  const data = { ...note.data, step: 'done', answer } as const
  return { ...noteOf({ ...note, data }), version: note.version }
}
