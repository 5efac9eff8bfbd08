import type { webSocket as viemWebSocket } from 'viem'

/** The part of viem's WebSocket transport that `openLogSocket` uses. */
type LogSocketTransport = Pick<
  ReturnType<ReturnType<typeof viemWebSocket>>,
  'value'
>

/**
 * Replaces viem's `webSocket` in the build for Node, and loads viem when a
 * connection opens. viem is not bundled here, because its code finds the
 * WebSocket of the runtime itself.
 */
export function webSocket(
  url: string,
  options: Parameters<typeof viemWebSocket>[1],
): (parameters: object) => LogSocketTransport {
  return (parameters) => {
    const opening = import('viem').then(({ webSocket }) => {
      const { value } = webSocket(url, options)(parameters)
      if (!value) throw new Error('viem has no WebSocket.')
      return value
    })
    return {
      value: {
        getSocket: async () => (await opening).getSocket(),
        getRpcClient: async () => (await opening).getRpcClient(),
        subscribe: async (wanted) => (await opening).subscribe(wanted),
      },
    }
  }
}
