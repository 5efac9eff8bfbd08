/** Plays the suite in a page, when it is asked to. */
import { bareCase } from '../suite/bareCase.js'
import { playSuite } from '../suite/playSuite.js'
import type { CaseResult, Mount, Setting } from '../suite/types.js'

/** No page is a server: the handler is called as one would call it. */
const mount: Mount = async (handler) => ({
  origin: 'http://shop.test',
  send: handler,
  stop: async () => undefined,
})

Object.assign(globalThis, {
  playInPage: (setting: Setting): Promise<CaseResult[]> =>
    playSuite(setting, { cases: [bareCase], mount }),
})
