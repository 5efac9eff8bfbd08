/** Plays the suite in a worker: the request brings the setting. */
import { bareCase } from '../suite/bareCase.js'
import { playSuite } from '../suite/playSuite.js'

const worker = {
  fetch: async (request: Request): Promise<Response> =>
    Response.json(await playSuite(await request.json(), [bareCase])),
}

// biome-ignore lint/style/noDefaultExport: workers are found by it
export default worker
