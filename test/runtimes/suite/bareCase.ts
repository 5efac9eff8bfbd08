import { expectEqual } from './expectEqual.js'
import type { StagedCase } from './types.js'

const nodeGlobals = [
  'process',
  'Buffer',
  'global',
  'require',
  'setImmediate',
  '__dirname',
]

/** For hosts that are no Node and imitate none. */
export const bareCase: StagedCase = {
  name: 'there is no process, no Buffer and no other name of Node',
  run: () =>
    expectEqual(
      nodeGlobals.filter((name) => name in globalThis),
      [],
    ),
}
