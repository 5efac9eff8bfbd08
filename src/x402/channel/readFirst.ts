/**
 * Waits for the first part of a stream. Returns a response with all parts. Gives
 * up once the clients that wait have left, or after `timeout` milliseconds.
 *
 * @throws the error with which the stream broke off before its first part.
 */
export async function readFirst(
  response: Response,
  {
    request,
    waiting,
    timeout,
  }: { request: Request; waiting: readonly Request[]; timeout: number },
): Promise<Response> {
  const reader = response.body?.getReader()
  if (!reader) return response
  let hasGivenUp = false
  const giveUp = () => {
    hasGivenUp = true
    reader.cancel().catch(() => undefined)
  }
  const leave = () => {
    if (waiting.every(({ signal }) => signal.aborted)) giveUp()
  }
  const timer = setTimeout(giveUp, timeout)
  request.signal.addEventListener('abort', leave)
  leave()
  let next: Awaited<ReturnType<typeof reader.read>> | undefined
  try {
    next = await reader.read()
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', leave)
  }
  if (hasGivenUp)
    throw new Error(
      'The stream sent no first part before its time was over or its clients left.',
    )
  const pull = async (controller: ReadableStreamDefaultController) => {
    const { done, value } = next ?? (await reader.read())
    next = undefined
    if (done) controller.close()
    else controller.enqueue(value)
  }
  const body = new ReadableStream(
    { pull, cancel: (reason) => reader.cancel(reason) },
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}
