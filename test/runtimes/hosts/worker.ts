/** Plays the suite in a worker: a request to its root brings the setting. */
import { bareCase } from '../suite/bareCase.js'
import { playSuite } from '../suite/playSuite.js'
import type { Mount, Setting } from '../suite/types.js'

let mounted: Parameters<Mount>[0] | undefined

const worker = {
  fetch: async (request: Request): Promise<Response> => {
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
    const setting = await request.json()
    const host = { cases: [bareCase], mount }
    return Response.json(await playSuite(setting as Setting, host))
  },
}

// biome-ignore lint/style/noDefaultExport: workers are found by it
export default worker
