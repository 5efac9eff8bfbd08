/** Plays the suite in a worker: a request to its root brings the setting. */
import { bareCase } from '../suite/bareCase.js'
import { playSuite } from '../suite/playSuite.js'
import type { CaseResult, Mount, Setting } from '../suite/types.js'

// biome-ignore lint/performance/noBarrelFile: workers are found by what it exports
export { DurableShop } from './DurableShop.js'

/** What the configuration binds. */
type Bindings = {
  SHOPS: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

let mounted: Parameters<Mount>[0] | undefined

const worker = {
  fetch: async (request: Request, { SHOPS }: Bindings): Promise<Response> => {
    if (mounted) return mounted(request)
    const { origin } = new URL(request.url)
    const mount: Mount = async (handler) => {
      mounted = handler
      const stop = async (): Promise<void> => {
        mounted = undefined
      }
      // As from outside: each request has a context of its own.
      return { origin, send: (sent) => fetch(sent), stop }
    }
    const object = SHOPS.get(SHOPS.idFromName('shop'))
    const inObject = (await object.fetch(request.clone())).json()
    const setting = await request.json()
    const host = { cases: [bareCase], mount }
    const results = await playSuite(setting as Setting, host)
    return Response.json([...((await inObject) as CaseResult[]), ...results])
  },
}

// biome-ignore lint/style/noDefaultExport: workers are found by it
export default worker
