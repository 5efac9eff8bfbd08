/**
 * Waits for the first part of a stream. Returns a response with all parts. Gives
 * up once the clients that wait have left, or after `timeout` milliseconds.
 *
 * @throws the error with which the stream broke off before its first part.
 */
export async function readFirst(
  response: Response,
  { waiting, timeout }: { waiting: readonly Request[]; timeout: number },
): Promise<Response> {
  const reader = response.body?.getReader()
  if (!reader) return response
  let hasGivenUp = false
  const giveUp = () => {
    hasGivenUp = true
    reader.cancel().catch(() => undefined)
  }
  let present: AbortSignal | undefined
  // Others may have joined: follows one of those that are still there.
  const follow = () => {
    present = waiting.find(({ signal }) => !signal.aborted)?.signal
    if (present) present.addEventListener('abort', follow, { once: true })
    else giveUp()
  }
  const timer = setTimeout(giveUp, timeout)
  follow()
  let next: Awaited<ReturnType<typeof reader.read>> | undefined
  try {
    next = await reader.read()
  } finally {
    clearTimeout(timer)
    present?.removeEventListener('abort', follow)
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
