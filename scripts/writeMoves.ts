import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type MoveCause, moves } from '../src/orders/model/moves.js'

const page = fileURLToPath(new URL('../docs/lifecycle.md', import.meta.url))

/** What each cause is, for the guide. */
const meanings: Partial<Record<MoveCause, string>> = {
  accept: 'you accept a payment',
  recorded: 'a transaction is stored, to be sent',
  refused: 'it is refused, or fails on chain',
  freed: 'it can no longer be mined',
  void: 'you call `void`',
  acceptCancellation: 'you accept a cancellation, and do not send it',
  capture: 'the chain shows the payment',
  cancel: 'the chain shows the cancellation',
  withdrawn: 'a final block shows that the payer ended the payment',
  consumed: 'the payment nonce is used otherwise',
  expired: 'a block after the window shows that the payment nonce is unused',
  gone: 'a reorganization removes what the chain showed',
  reauthorize: 'you call `reauthorize`',
}

const code = (states: readonly string[]): string =>
  states.map((state) => `\`${state}\``).join(', ')

/** The table of moves of a sale, as the guide has it. */
export function movesTable(): string {
  const rows = Object.entries(meanings).flatMap(([cause, meaning]) =>
    (moves.sale[cause as MoveCause] ?? []).map(
      ({ from, to }) => `| ${meaning} | ${code(from)} | ${code(to)} |`,
    ),
  )
  return ['| Because | From | To |', '|---|---|---|', ...rows].join('\n')
}

const table = /\| Because \| From \| To \|\n(\|.*\n)*/

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = readFileSync(page, 'utf8')
  writeFileSync(page, text.replace(table, `${movesTable()}\n`))
}
