import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { Plugin } from 'esbuild'

const importsOfDoors =
  /^import \{([^}]*)\} from '([^']*\/orders\/(?:index|engine)\.js)'/gm

/**
 * Points imports through the doors of orders at the files behind them. esbuild
 * makes a file for each set of entries that reach a module, and a door reaches
 * all of orders, which `countersign/http` would then load.
 */
export function openDoors(root: string): Plugin {
  const behind = new Map([
    ...filesBehind(join(root, 'src/orders/index.ts')),
    ...filesBehind(join(root, 'src/orders/engine.ts')),
  ])
  return {
    name: 'open the doors of orders',
    setup: ({ onLoad }) => {
      // esbuild reads this as a Go expression.
      const parts =
        /[\\/]src[\\/](channels|cli|http|pages|subscriptions|webhooks|x402)[\\/].*\.ts$/
      onLoad({ filter: parts }, async ({ path }) => ({
        contents: (await readFile(path, 'utf8')).replace(
          importsOfDoors,
          (_, names: string, door: string) =>
            valuesOf(names)
              .map((name) => {
                const file = behind.get(name)
                if (!file) throw new Error(`${door} exports no ${name}.`)
                const from = posix.join(posix.dirname(door), file)
                return `import { ${name} } from '${from}'`
              })
              .join(';'),
        ),
        loader: 'ts',
      }))
    },
  }
}

/** The file of each value that a door exports. */
function filesBehind(door: string): [string, string][] {
  const lines = readFileSync(door, 'utf8').matchAll(
    /^export \{([^}]*)\} from '([^']+)'/gm,
  )
  return [...lines].flatMap(([, names = '', file = '']) =>
    valuesOf(names).map((name): [string, string] => [name, file]),
  )
}

function valuesOf(names: string): string[] {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name && !name.startsWith('type '))
}
