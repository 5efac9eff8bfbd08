import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.ts$/.test(path) && !/\.(test|generated)\.ts$/.test(path))
  .map((path) => join('src', path))

/** What a reader would have to decode or translate. */
const banned: readonly RegExp[] = [
  // A regular expression.
  /\/\^|\[\\?\w-\w|\{\d+,\d*\}|text like/,
  /\b(told|anew|in vain|whoever|for who asks|what was|what is to be)\b/i,
]

/** Each text that an error is made of: of its class, or of who throws it. */
function textsOf(path: string): string[] {
  const source = ts.createSourceFile(
    path,
    readFileSync(path, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
  const isAllMessages = /(errors|problemTable|sqlFault)\.ts$/.test(path)
  const texts: string[] = []
  const collect = (node: ts.Node, isMessage: boolean): void => {
    const isError =
      ts.isNewExpression(node) &&
      /Error$|Fault$/.test(node.expression.getText())
    const within = isMessage || isError
    if (within && ts.isStringLiteralLike(node)) texts.push(node.text)
    if (within && ts.isTemplateExpression(node))
      texts.push(
        [node.head, ...node.templateSpans.map(({ literal }) => literal)]
          .map(({ text }) => text)
          .join('…'),
      )
    ts.forEachChild(node, (child) => collect(child, within))
  }
  collect(source, isAllMessages)
  return texts
}

test('no error shows a regular expression or a word that has to be translated', () => {
  const texts = files.flatMap((path) =>
    textsOf(path).map((text) => [path, text] as const),
  )
  expect(texts.length).toBeGreaterThan(300)
  expect(
    texts.filter(([, text]) => banned.some((form) => form.test(text))),
  ).toEqual([])
})

test('the class writes a list of values, not who throws', () => {
  const composed = files
    .filter((path) => path !== join('src', 'core', 'errors.ts'))
    .filter((path) =>
      /InvalidFieldError\([^;]*`one of \$\{[^}`]*\}`/.test(
        readFileSync(path, 'utf8'),
      ),
    )
  expect(composed).toEqual([])
})

test('the page of errors has no such form either', () => {
  const lines = readFileSync('docs/errors.md', 'utf8').split('\n')
  expect(
    lines.filter((line) => banned.some((form) => form.test(line))),
  ).toEqual([])
})
