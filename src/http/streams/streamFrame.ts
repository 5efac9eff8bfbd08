import { toJson } from '../../core/toJson.js'

export type StreamFrame = {
  /** The reader sends it as `Last-Event-ID` when it reconnects. */
  id?: bigint | number | undefined
  event?: string | undefined
  data?: unknown
}

/** Formats an event as `text/event-stream`. JSON data contains no line ends. */
export function streamFrame({ id, event, data }: StreamFrame): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${toJson(data)}`]),
  ]
  return `${lines.join('\n')}\n\n`
}
