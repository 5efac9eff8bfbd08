import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { type Consumer, root } from './installPackage.js'

const resolutions = {
  nodenext: { module: 'NodeNext', moduleResolution: 'NodeNext' },
  bundler: { module: 'ESNext', moduleResolution: 'bundler' },
}

/** As NestJS's starter has it. TypeScript 7 does not know it any more. */
const node10 = { module: 'ESNext', moduleResolution: 'node10' }

/**
 * A strict project of a user's compiles, and refuses what it should. The oldest
 * TypeScript that is supported reads each line of the declarations as well.
 */
export async function checkTypes({ project }: Consumer): Promise<void> {
  const configs = writeConfigs(project)
  const [nodenext = ''] = configs
  await compile('typescript-oldest', nodenext, ['--skipLibCheck', 'false'])
  for (const compiler of ['typescript', 'typescript-newest'])
    await Promise.all(configs.map((config) => compile(compiler, config)))
  await compile('typescript', writeConfig(project, 'node10', node10))
}

/** The same project compiles with our own TypeScript. */
export async function checkOurTypes({ project }: Consumer): Promise<void> {
  const [nodenext = ''] = writeConfigs(project)
  await compile('typescript', nodenext)
}

function writeConfigs(project: string): string[] {
  return Object.entries(resolutions).map(([name, resolution]) =>
    writeConfig(project, name, resolution),
  )
}

function writeConfig(
  project: string,
  name: string,
  resolution: Record<string, string>,
): string {
  const config = join(project, `tsconfig.${name}.json`)
  writeFileSync(config, JSON.stringify(configOf(resolution)))
  return config
}

function configOf(resolution: Record<string, string>): object {
  return {
    compilerOptions: {
      ...resolution,
      target: 'ES2022',
      lib: ['ES2022', 'DOM'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      skipLibCheck: true,
      noEmit: true,
    },
    files: ['consumer.ts', 'browser.ts', 'server.ts', 'worker.ts'],
  }
}

async function compile(
  compiler: string,
  config: string,
  options: readonly string[] = [],
): Promise<void> {
  const program = join(root, 'node_modules', compiler, 'bin/tsc')
  const args = [program, '--pretty', 'false', '--project', config, ...options]
  const told = await promisify(execFile)(process.execPath, args).then(
    () => '',
    ({ stdout, stderr }) => String(stdout || stderr),
  )
  const ours = told.split('\n').filter((line) => line && !isForeign.test(line))
  if (ours.length) throw new Error([compiler, ...ours].join('\n'))
}

/** Of the declarations of viem and others, or more about the line above. */
const isForeign = /^\s|node_modules\/(?!countersign\/)/
