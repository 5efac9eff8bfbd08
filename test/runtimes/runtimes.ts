import { fileURLToPath } from 'node:url'

export type Runtime = {
  name: string
  kind: 'program' | 'worker' | 'page'
  /** The executable, from npm; a page needs none of them. */
  executable?: string
  /** Before the program's own name. */
  args?: readonly string[]
}

/** The folder with a lockfile of its own. */
export const folder: string = fileURLToPath(new URL('.', import.meta.url))

/** Every runtime that is supported, as npm has it for Linux on x64. */
export const runtimes: readonly Runtime[] = [
  ...['20', '22', '24', '26'].map((version) => ({
    name: `Node ${version}`,
    kind: 'program' as const,
    executable: `node${version}/bin/node`,
  })),
  { name: 'Bun', kind: 'program', executable: '@oven/bun-linux-x64/bin/bun' },
  {
    name: 'Deno',
    kind: 'program',
    executable: '@deno/linux-x64-glibc/deno',
    args: [
      'run',
      '--allow-net=127.0.0.1',
      '--node-modules-dir=manual',
      '--no-lock',
      '--no-prompt',
    ],
  },
  {
    name: 'workerd',
    kind: 'worker',
    executable: '@cloudflare/workerd-linux-64/bin/workerd',
  },
  { name: 'Chromium', kind: 'page' },
]
