import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openGuide } from '../../package/openGuide.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-guide-'))
afterAll(() => rmSync(folder, { recursive: true }))

const page = `# A guide

Run \`npx tsx first.ts\` or \`FLAG="--on" npx countersign health\`, and open \`/page\`.

\`\`\`sh
mkdir shop && cd shop
npm install countersign   # the package
\`\`\`

\`\`\`ts
// shop/first.ts
first()
\`\`\`

\`\`\`html
<!-- public/index.html -->
<p></p>
\`\`\`

- in a list:

  \`\`\`json
  {}
  \`\`\`
`

function open() {
  writeFileSync(join(folder, 'guide.md'), page)
  return openGuide(folder, 'guide.md')
}

test('a guide gives its commands and blocks in the order printed', () => {
  const guide = open()
  for (const command of [
    'npx tsx first.ts',
    'FLAG="--on" npx countersign health',
    'mkdir shop && cd shop',
    'npm install countersign',
  ])
    expect(guide.take(command)).toBe(command)
  expect(guide.take('shop/first.ts')).toBe('first()\n')
  expect(guide.take('public/index.html')).toBe('<p></p>\n')
  guide.leave('json', 'Nothing reads it.')
  guide.end()
})

test('a guide whose next command or block is another is refused, with its line', () => {
  const guide = open()
  expect(() => guide.take('npx tsx second.ts')).toThrow(
    'guide.md:3 prints npx tsx first.ts, where the test does npx tsx second.ts.',
  )
  expect(() => guide.leave('json', 'Too early.')).toThrow(
    'where the test does json',
  )
})

test('a guide that prints more or less than was done is refused', () => {
  const guide = open()
  expect(() => guide.end()).toThrow('prints npx tsx first.ts')
  for (const name of [
    'npx tsx first.ts',
    'FLAG="--on" npx countersign health',
    'mkdir shop && cd shop',
    'npm install countersign',
    'shop/first.ts',
    'public/index.html',
    'json',
  ])
    guide.take(name)
  expect(() => guide.take('more.ts')).toThrow(
    'guide.md:end prints nothing, where the test does more.ts.',
  )
})
