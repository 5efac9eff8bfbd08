/**
 * Passes a response on to its client. Calls `end` once: when the response was
 * read completely, when it broke off, or when the client disconnected.
 */
export function passOn(
  response: Response,
  client: AbortSignal,
  end: () => void,
): Response {
  const reader = response.body?.getReader()
  let hasEnded = false
  const stop = () => {
    if (hasEnded) return
    hasEnded = true
    client.removeEventListener('abort', leave)
    end()
  }
  const leave = () => {
    stop()
    reader?.cancel().catch(() => undefined)
  }
  client.addEventListener('abort', leave)
  if (client.aborted) leave()
  if (!reader) {
    stop()
    return response
  }
  const pull = async (controller: ReadableStreamDefaultController) => {
    try {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      controller.close()
      stop()
    } catch (error) {
      stop()
      throw error
    }
  }
  const body = new ReadableStream(
    { pull, cancel: leave },
    // No read-ahead: reads a part only when the client asks for it.
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}
