/** Plays the suite in a page, when it is asked to. */
import { bareCase } from '../suite/bareCase.js'
import { playSuite } from '../suite/playSuite.js'
import type { CaseResult, Setting } from '../suite/types.js'

Object.assign(globalThis, {
  playInPage: (setting: Setting): Promise<CaseResult[]> =>
    playSuite(setting, [bareCase]),
})
