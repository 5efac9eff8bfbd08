import { pause } from '../api/keepTrying.js'
import { Problem } from '../api/Problem.js'
import { readEventStream } from '../api/readEventStream.js'
import type { MerchantApi } from './merchantApi.js'
import type { WireEvent } from './wire.js'

/** The server sends a sign of life every 15 s. */
const silence = 40_000

export type FollowParameters = {
  api: MerchantApi
  /** The only one to be told of; without it, all are. */
  orderId?: string | undefined
  /** Cursor to go on from; without one, from the present. */
  after?: string | undefined
  signal: AbortSignal
  onEvent: (event: WireEvent) => void
  /** Told once all that comes from now on is told; what was before is not. */
  onPresent?: (() => void) | undefined
  /** Told when the stream stands, and when it has to be opened anew. */
  onConnection: (isLive: boolean) => void
}

/** Tells every event of the merchant or of one order, and comes back where it was cut off. */
export async function followEvents(
  parameters: FollowParameters,
): Promise<void> {
  const { signal, onConnection, onPresent } = parameters
  let { after } = parameters
  let failures = 0
  while (!signal.aborted) {
    try {
      await readOnce({ ...parameters, after }, (id) => {
        if (after === undefined) onPresent?.()
        after = id
        failures = 0
      })
    } catch (error) {
      // An order that is not there will not be; all else is asked again below.
      if (error instanceof Problem && error.status === 404) return
      // The shop's database is another one: it is followed from the present on.
      if (error instanceof Problem && error.reason === 'cursorAhead')
        after = undefined
    }
    if (signal.aborted) return
    onConnection(false)
    failures += 1
    await pause(Math.min(250 * 2 ** (failures - 1), 2_000), signal)
  }
}

async function readOnce(
  { api, orderId, after, signal, onEvent, onConnection }: FollowParameters,
  onId: (id: string) => void,
): Promise<void> {
  const watch = new AbortController()
  let timer = setTimeout(() => watch.abort(), silence)
  try {
    const { body } = await api.follow({
      orderId,
      after,
      signal: AbortSignal.any([signal, watch.signal]),
    })
    if (!body) return
    onConnection(true)
    for await (const { id, data } of readEventStream(body)) {
      clearTimeout(timer)
      timer = setTimeout(() => watch.abort(), silence)
      if (id !== undefined) onId(id)
      if (data) onEvent(JSON.parse(data))
    }
  } finally {
    clearTimeout(timer)
  }
}
