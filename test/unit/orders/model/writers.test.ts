import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** What only `apply` decides. */
const decided = new Set([
  'state',
  'requested',
  'sendDue',
  'lookDue',
  'needsReview',
  'early',
])

const allowed = [
  'src/orders/model/',
  // Rows that begin here have these fields from the start.
  'src/subscriptions/schedule/orderRow.ts',
  'src/subscriptions/verbs/reconcileBlock.ts',
  // Asks what a transaction would do now, and writes no order.
  'src/orders/nonces/replaceTransactions.ts',
]

function isOrder(checker: ts.TypeChecker, node: ts.Expression): boolean {
  const type = checker.getTypeAtLocation(node)
  const fields = ['sequence', 'sendDue', 'parentId', 'buyerTokenHash']
  return fields.every((name) => type.getProperty(name) !== undefined)
}

/** The places that write a decided field into a copy of an order's row. */
function findWriters(): string[] {
  const config = ts.readConfigFile(`${root}tsconfig.src.json`, ts.sys.readFile)
  const { fileNames, options } = ts.parseJsonConfigFileContent(
    config.config,
    ts.sys,
    root,
  )
  const program = ts.createProgram(fileNames, options)
  const checker = program.getTypeChecker()
  const found: string[] = []
  for (const file of program.getSourceFiles()) {
    const path = file.fileName.slice(root.length)
    if (!path.startsWith('src/') || path.endsWith('.test.ts')) continue
    const visit = (node: ts.Node): void => {
      if (ts.isObjectLiteralExpression(node)) {
        const copies = node.properties.some(
          (one) =>
            ts.isSpreadAssignment(one) && isOrder(checker, one.expression),
        )
        for (const one of copies ? node.properties : []) {
          const name = one.name?.getText(file)
          if (!name || !decided.has(name)) continue
          const { line } = file.getLineAndCharacterOfPosition(one.pos)
          found.push(`${path}:${line + 1} ${name}`)
        }
      }
      ts.forEachChild(node, visit)
    }
    visit(file)
  }
  return found
}

test('only the model writes what an order is, what is requested of it and when it is due', () => {
  const others = findWriters().filter(
    (place) => !allowed.some((path) => place.startsWith(path)),
  )
  expect(others).toEqual([])
})
