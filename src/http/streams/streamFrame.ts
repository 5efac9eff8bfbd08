import { toJson } from '../../core/toJson.js'

export type StreamFrame = {
  /** Id of the event. A client that reconnects sends it as `Last-Event-ID`. */
  id?: bigint | number | undefined
  event?: string | undefined
  data?: unknown
}

/**
 * Formats an event as `text/event-stream`. Needs only one `data:` line, because
 * JSON contains no line breaks.
 */
export function streamFrame({ id, event, data }: StreamFrame): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${toJson(data)}`]),
  ]
  return `${lines.join('\n')}\n\n`
}
