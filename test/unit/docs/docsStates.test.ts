import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { movesTable } from '../../../scripts/writeMoves.js'
import { moves, orderStates } from '../../../src/orders/model/moves.js'

const picture = readFileSync('docs/images/states.svg', 'utf8')
const page = readFileSync('docs/lifecycle.md', 'utf8')
const states = [...orderStates].sort()

/** Each arrow's title says which steps it stands for. */
const drawn = [...picture.matchAll(/"arrow[^>]*><title>([^<]+)</g)].flatMap(
  ([, title = '']) =>
    title.split('; ').flatMap((clause) => {
      const [from = '', to = ''] = clause.split(' → ')
      return from
        .split(', ')
        .flatMap((one) => to.split(', ').map((other) => `${one} → ${other}`))
    }),
)

test('the picture shows every state once', () => {
  const names = [...picture.matchAll(/"state">.*?<text[^>]*>(\w+)</g)]
  expect(names.map(([, name]) => name).sort()).toEqual(states)
})

test('the picture shows every step an order can take, once, and no other', () => {
  const steps = Object.values(moves.sale)
    .flat()
    .flatMap(({ from, to }) =>
      from.flatMap((one) => to.map((other) => `${one} → ${other}`)),
    )
  expect(drawn.sort()).toEqual([...new Set(steps)].sort())
})

test('the picture speaks to who cannot see it, in both themes', () => {
  expect(picture).toMatch(/role="img" aria-labelledby="title text"/)
  expect(picture).toMatch(/<title id="title">.+<\/title>/)
  expect(picture).toMatch(/<desc id="text">.+<\/desc>/)
  expect(picture).toContain('prefers-color-scheme: dark')
})

test('the page has the table of moves as it is, and CONTRIBUTING.md those of other rows', () => {
  expect(page).toContain(`\n${movesTable('sale')}\n`)
  const inside = readFileSync('CONTRIBUTING.md', 'utf8')
  for (const role of ['refund', 'permission', 'charge'] as const)
    expect(inside).toContain(`\n${movesTable(role)}\n`)
})

test('the page has a row for every state', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  for (const state of states) expect(rows).toContain(state)
})
