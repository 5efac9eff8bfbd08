import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** What an image has that its containers use. */
export type BuiltImage = {
  /** The folder in which commands run. */
  folder: string
  env: Readonly<Record<string, string>>
  command: readonly string[]
  healthcheck: readonly string[]
}

type Stage = {
  /** Stands for the root of the image's file system. */
  root: string
  workdir: string
  env: Record<string, string>
}

type BuildImage = {
  /** The folder with the Dockerfile. */
  context: string
  /** An empty folder, for the file systems of the stages. */
  into: string
  /** What the base image sets. */
  base: Readonly<Record<string, string>>
}

/**
 * Does what a Dockerfile says, each stage in a folder of its own: RUN, COPY,
 * WORKDIR and ENV. Uses this machine's programs instead of those of the base
 * image, and its user instead of USER.
 */
export function buildImage({ context, into, base }: BuildImage): BuiltImage {
  const stages = new Map<string, Stage>()
  let stage: Stage = { root: '', workdir: '', env: {} }
  let command: readonly string[] = []
  let healthcheck: readonly string[] = []
  for (const [instruction, rest] of instructionsOf(context)) {
    const here = () => join(stage.root, stage.workdir)
    switch (instruction) {
      case 'FROM': {
        const name = / AS (\S+)$/.exec(rest)?.[1] ?? String(stages.size)
        stage = { root: join(into, name), workdir: '/', env: { ...base } }
        stages.set(name, stage)
        break
      }
      case 'WORKDIR':
        stage.workdir = rest
        mkdirSync(here(), { recursive: true })
        break
      case 'ENV':
        for (const [, name = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g))
          stage.env[name] = value
        break
      case 'COPY': {
        const [, from, words = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(rest) ?? []
        const root = from === undefined ? context : stages.get(from)?.root
        if (root === undefined) throw new Error(`There is no stage ${from}.`)
        copy(root, words.split(' '), here())
        break
      }
      case 'RUN':
        execFileSync('sh', ['-ec', rest], {
          cwd: here(),
          env: stage.env,
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        break
      case 'HEALTHCHECK':
        healthcheck = JSON.parse(rest.replace(/^.*?CMD /, ''))
        break
      case 'CMD':
        command = JSON.parse(rest)
        break
      case 'USER':
      case 'EXPOSE':
        break
      default:
        throw new Error(`${instruction} is not known here.`)
    }
  }
  const { root, workdir, env } = stage
  return { folder: join(root, workdir), env, command, healthcheck }
}

function instructionsOf(
  context: string,
): [instruction: string, rest: string][] {
  const text = readFileSync(join(context, 'Dockerfile'), 'utf8')
  return text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, instruction = '', rest = ''] = /^(\w+) +(.*)$/.exec(line) ?? []
      return [instruction, rest]
    })
}

/** Copies files, or what a folder holds; a name may begin with a star. */
function copy(root: string, words: readonly string[], here: string): void {
  const target = join(here, words.at(-1) ?? '')
  const isMany = words.length > 2 || (words.at(-1) ?? '').endsWith('/')
  for (const word of words.slice(0, -1)) {
    const isStar = word.startsWith('*')
    const names = isStar
      ? readdirSync(root).filter((name) => name.endsWith(word.slice(1)))
      : [word]
    for (const name of names) {
      const source = join(root, name)
      const isFile = isMany && basename(name).includes('.')
      cpSync(source, isFile ? join(target, basename(name)) : target, {
        recursive: true,
        verbatimSymlinks: true,
      })
    }
  }
}
