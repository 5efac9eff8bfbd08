import { readdirSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'

const entries = readdirSync('src', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `src/${name}/index.ts`)
  .filter((file) => ts.sys.fileExists(file))

const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.')
const program = ts.createProgram(entries, options)
const checker = program.getTypeChecker()

type Documented = { name: string; text: string; tags: readonly string[] }

/** What an editor shows of each function that an entry exports. */
function functionsOf(entry: string): Documented[] {
  const source = program.getSourceFile(entry)
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) throw new Error(`${entry} is no module.`)
  return checker.getExportsOfModule(module).flatMap((name) => {
    const symbol =
      name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name
    const type = symbol.valueDeclaration && checker.getTypeOfSymbol(symbol)
    if (!type?.getCallSignatures().length) return []
    const text = ts.displayPartsToString(
      symbol.getDocumentationComment(checker),
    )
    const tags = symbol.getJsDocTags(checker).map((tag) => tag.name)
    return [{ name: symbol.name, text, tags }]
  })
}

const functions = entries.flatMap((entry) =>
  functionsOf(entry).map((one) => [entry, one.name, one] as const),
)

test('the functions of all import paths are found', () => {
  expect(entries.length).toBeGreaterThan(10)
  expect(functions.length).toBeGreaterThan(50)
})

test.each(functions)(
  '%s: the reference of %s says what it does, and shows it',
  (_, _name, { text, tags }) => {
    expect(text).toMatch(/^[A-Z][^.]+[.:]/)
    expect(tags).toContain('example')
  },
)

/** They throw nothing, or pass errors on in another way. */
const silent = [
  'channels',
  'checkoutDeployment',
  'decodeChannelLog',
  'decodeTokenLog',
  'normalizeVoucherSignature',
  'redactHeaders',
  'expressPayment',
  'cancelPaymentMutationOptions',
  'getOrderQueryKey',
  'getOrderQueryOptions',
  'signPaymentMutationOptions',
]

test.each(functions.filter(([, name]) => !silent.includes(name)))(
  '%s: the reference of %s names its errors',
  (_, _name, { tags }) => {
    expect(tags).toContain('throws')
  },
)
