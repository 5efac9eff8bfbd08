import { toJson } from '../../core/toJson.js'

export type StreamFrame = {
  /** What a reader that comes back names as its `Last-Event-ID`. */
  id?: bigint | number | undefined
  event?: string | undefined
  data?: unknown
}

/** One event as `text/event-stream` writes it; JSON has no line ends to mind. */
export function streamFrame({ id, event, data }: StreamFrame): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${toJson(data)}`]),
  ]
  return `${lines.join('\n')}\n\n`
}
