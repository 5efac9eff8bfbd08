import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** A fenced `ts` block and where its first line stands. */
export type Example = { file: string; line: number; code: string }

const unfinished = 'no end'

/** The files whose examples readers will copy. */
export function documents(): string[] {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.ts$/.test(path) && !/\.test(-d)?\.ts$/.test(path))
    .map((path) => join('src', path))
  const pages = readdirSync('.').filter((path) => path.endsWith('.md'))
  const guides = existsSync('docs')
    ? readdirSync('docs', { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.md'))
        .map((path) => join('docs', path))
    : []
  return [...sources, ...pages, ...guides].sort()
}

/** Every `ts` block of a page, or of the doc comments of a source file. */
export function readExamples(file: string, text: string): Example[] {
  const examples: Example[] = []
  const margin = file.endsWith('.md') ? /^/ : /^\s*\* ?/
  let open: string[] | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const bare = line.replace(margin, '')
    if (open && /^\s*```\s*$/.test(bare)) {
      const code = open.join('\n')
      examples.push({ file, line: index + 1 - open.length, code })
      open = undefined
    } else if (open) open.push(bare)
    else if (
      /^\s*```(ts|typescript)\b/.test(bare) &&
      (file.endsWith('.md') || margin.test(line))
    )
      open = []
  }
  if (open) {
    const line = text.split('\n').length - open.length
    examples.push({ file, line, code: unfinished })
  }
  return examples
}

/**
 * Where a block is that begins by naming its file: others import it, from
 * other pages too.
 */
function pathOf(code: string): string | undefined {
  const [, name] = /^\/\/ ([\w.-]+\.ts)\n/.exec(code) ?? []
  return name && `__named/${name}`
}

/** Compiles all examples as one program and says what is wrong, and where. */
export function compileExamples(examples: readonly Example[]): string[] {
  const byPath = new Map(
    examples.map((example, index) => [
      join(
        process.cwd(),
        'examples',
        pathOf(example.code) ?? `__example${index}.ts`,
      ),
      example,
    ]),
  )
  const config = ts.readConfigFile('tsconfig.json', ts.sys.readFile).config
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...config.compilerOptions, noUnusedLocals: false },
    process.cwd(),
  )
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, directoryExists } = host
  host.fileExists = (path) => byPath.has(path) || fileExists(path)
  host.directoryExists = (path) =>
    path.endsWith('/__named') || directoryExists?.(path) === true
  host.readFile = (path) => byPath.get(path)?.code ?? readFile(path)
  const program = ts.createProgram({
    rootNames: [...byPath.keys()],
    options: { ...options, moduleDetection: ts.ModuleDetectionKind.Force },
    host,
  })
  return [...byPath].flatMap(([path, { file, line, code }]) => {
    if (code === unfinished) return [`${file}:${line}: ${unfinished}`]
    const source = program.getSourceFile(path)
    const problems = source
      ? [
          ...program.getSyntacticDiagnostics(source),
          ...program.getSemanticDiagnostics(source),
        ]
      : []
    return problems.map(({ start = 0, messageText }) => {
      const at = source?.getLineAndCharacterOfPosition(start).line ?? 0
      const words = ts.flattenDiagnosticMessageText(messageText, ' ')
      return `${file}:${line + at}: ${words}`
    })
  })
}
