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

/** A strict project of a user's compiles, and refuses what it should. */
export async function checkTypes({ project }: Consumer): Promise<void> {
  const compiles = Object.entries(resolutions).map(([name, resolution]) => {
    const config = join(project, `tsconfig.${name}.json`)
    writeFileSync(config, JSON.stringify(configOf(resolution)))
    return compile(config)
  })
  await Promise.all(compiles)
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
    files: ['consumer.ts', 'browser.ts'],
  }
}

async function compile(config: string): Promise<void> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '--project', config]
  await promisify(execFile)(process.execPath, args).catch((error) => {
    throw new Error(String(error.stdout))
  })
}
