import { readFileSync } from 'node:fs'
import { createOrders, type Orders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import ts from 'typescript'
import { createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, expect, test } from 'vitest'

const client = createClient({
  chain: base,
  account: privateKeyToAccount(`0x${'11'.repeat(32)}`),
  transport: custom({ request: async () => null }),
})
const orders = createOrders({
  store: memoryStore(),
  seal: 'none',
  tokens: [{ client, token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }],
  wallets: [client],
})
afterAll(() => orders.close())

type Documented = {
  name: string
  text: string
  tags: readonly string[]
  parameters: readonly string[]
}

/** The members of an interface as an editor shows them, written out or not. */
function membersOf(file: string, name: string): Documented[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(
      new URL(`../../../src/orders/${file}`, import.meta.url),
      'utf8',
    ),
    ts.ScriptTarget.Latest,
    true,
  )
  const [found] = source.statements.filter(
    (statement) =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  )
  if (!found || !ts.isInterfaceDeclaration(found)) return []
  return found.members.filter(ts.isMethodSignature).map((member) => {
    const [doc] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc)
    return {
      name: member.name.getText(),
      text: ts.getTextOfJSDocComment(doc?.comment) ?? '',
      tags: (doc?.tags ?? []).map(({ tagName }) => tagName.text),
      parameters: member.parameters.map(({ type }) => type?.getText() ?? ''),
    }
  })
}

const own = membersOf('DestinationOrders.ts', 'DestinationOrders')
const all = [...own, ...membersOf('Orders.ts', 'Orders')]
/** Each name once: a method may be written out for several parameters. */
const namesOf = (members: readonly Documented[]) =>
  [...new Set(members.map(({ name }) => name))].sort()

test('every method of orders is written out in an interface', () => {
  expect(namesOf(all)).toEqual(Object.keys(orders).sort())
  const destinationOrders = orders.within({ recipients: [] })
  expect(namesOf(own)).toEqual(Object.keys(destinationOrders).sort())
})

test.each(all.map((member) => [member.name, member] as const))(
  'the reference of orders.%s says what it does, and shows it',
  (_, { text, tags }) => {
    expect(text).toMatch(/^[A-Z][^.]+[.:]/)
    expect(tags).toContain('example')
  },
)

const silent = [
  'health',
  'liveness',
  'readiness',
  'suspend',
  'resume',
  'close',
] satisfies (keyof Orders)[]

test.each(
  all
    .filter(({ name }) => !silent.some((bare) => bare === name))
    .map((member) => [member.name, member] as const),
)('the reference of orders.%s names its parameters and errors', (_, member) => {
  expect(member.parameters).toEqual([expect.stringMatching(/Parameters$/)])
  expect(member.tags).toContain('throws')
})

test('the site has each method of orders under one task', async () => {
  const site = new URL('../../../scripts/siteMethods.js', import.meta.url)
  const { tasks }: { tasks: Record<string, object> } = await import(site.href)
  const listed = Object.values(tasks).flatMap((methods) => Object.keys(methods))
  expect(listed.sort()).toEqual(namesOf(all))
})
