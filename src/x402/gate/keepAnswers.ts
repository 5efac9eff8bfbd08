import { gatherCalls } from '../../core/gatherCalls.js'
import { endWork, writeCaptureRequests } from '../../orders/engine.js'
import { isWorthAlone } from '../../store/isWorthAlone.js'
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
  const collect = gatherCalls<AnswerToKeep, KeptAnswer | undefined>({
    work: (answers) =>
      writeAgain(gate.context, (tables) =>
        writeAnswers(gate.context, tables, answers),
      ),
    choose: chooseFitting,
    atOnce: 1,
    waitsForTurn: true,
    isWorthAlone,
  })
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
 * Returns the answers from the front of the queue that fit into one database
 * transaction. The first one always fits, however long it is.
 */
function chooseFitting(waiting: readonly AnswerToKeep[]): AnswerToKeep[] {
  let length = 0
  const most = waiting.slice(0, mostAnswers).findIndex(({ answer }, at) => {
    length += answer.length
    return at > 0 && length > mostLength
  })
  return waiting.slice(0, most === -1 ? mostAnswers : most)
}

/** Writes the answers. Skips those whose record another process has changed. */
async function writeAnswers(
  context: GateContext['context'],
  tables: StoreWriter,
  answers: readonly AnswerToKeep[],
): Promise<(KeptAnswer | undefined)[]> {
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
  return answers.map((one) =>
    own.includes(one) ? { order: orders?.get(one.orderId) } : undefined,
  )
}

/** Builds the record that says that the handler is done, with its answer. */
function doneNote(note: ExchangeNote, answer: string): NoteRecord {
  const data = { ...note.data, step: 'done', answer } as const
  return { ...noteOf({ ...note, data }), version: note.version }
}
