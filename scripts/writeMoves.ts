import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type MoveCause, moves } from '../src/orders/model/moves.js'
import type { OrderRole } from '../src/store/types.js'

const pathOf = (name: string): string =>
  fileURLToPath(new URL(`../${name}`, import.meta.url))

/** The guide has the moves of sales; the other rows are seen by nobody else. */
const page = pathOf('docs/lifecycle.md')
const inside = pathOf('CONTRIBUTING.md')

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

const others: Partial<Record<MoveCause, string>> = {
  ...meanings,
  accept: 'it is signed',
  void: 'the subscription is canceled',
  renewRefund: 'it is requested again',
  giveUp: 'it cannot be signed',
  loseNonce: 'another transfer has its nonce',
  replaced: 'a final block shows that another transfer used its nonce',
}

const code = (states: readonly string[]): string =>
  states.map((state) => `\`${state}\``).join(', ')

/** The table of moves of a role, as its page has it. */
export function movesTable(role: OrderRole): string {
  const causes = Object.entries(role === 'sale' ? meanings : others)
  const rows = causes.flatMap(([cause, meaning]) =>
    (moves[role][cause as MoveCause] ?? []).map(
      ({ from, to }) => `| ${meaning} | ${code(from)} | ${code(to)} |`,
    ),
  )
  const head = role === 'sale' ? 'Because' : `Because, of a ${role}`
  return [`| ${head} | From | To |`, '|---|---|---|', ...rows].join('\n')
}

function writeTable(path: string, role: OrderRole): void {
  const table = movesTable(role)
  const [head = ''] = table.split('\n')
  const text = readFileSync(path, 'utf8')
  const start = text.indexOf(head)
  const end = text.indexOf('\n\n', start)
  writeFileSync(path, `${text.slice(0, start)}${table}${text.slice(end)}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeTable(page, 'sale')
  for (const role of ['refund', 'permission', 'charge', 'movement'] as const)
    writeTable(inside, role)
}
