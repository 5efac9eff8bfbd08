import { connect, type Socket } from 'node:net'

/** How often each answer came: `open` for a stream, else a problem's reason. */
export type Tally = Record<string, number>

/** A request as it is written to a socket. */
export type RawRequest = {
  method?: 'GET' | 'POST' | undefined
  path: string
  key: string
  /** Further headers, one a line. */
  headers?: readonly string[] | undefined
  body?: string | undefined
}

/** A connection, and how its request was answered. */
export type Answered = {
  answer: Promise<string>
  /** Closes it, answered or not. */
  close(): void
  send(text: string): void
}

const lineEnd = '\r\n'

/**
 * Sends a request over a connection of its own, which stays as it is after the
 * answer, as hostile clients leave it.
 */
export function sendRaw(port: number, request: RawRequest): Answered {
  const { method = 'GET', path, key, headers = [], body } = request
  const socket = connect(port, '127.0.0.1')
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${key}`,
    ...(method === 'POST' ? ['content-type: application/json'] : []),
    ...(body === undefined ? [] : [`content-length: ${body.length}`]),
    ...headers,
  ]
  socket.write(lines.join(lineEnd) + lineEnd + lineEnd + (body ?? ''))
  return {
    answer: readAnswer(socket),
    close: () => socket.destroy(),
    send: (text) => {
      if (socket.writable) socket.write(text)
    },
  }
}

/** The reason of the problem, `open` for a stream, or how the socket ended. */
function readAnswer(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      // What a stream says after it began, nobody keeps.
      if (text.length < 4_096) text += String(chunk)
      const answer = answerOf(text)
      if (answer !== undefined) resolve(answer)
    })
    socket.on('error', ({ message }) => resolve(message))
    socket.on('close', () => resolve('closed'))
  })
}

function answerOf(text: string): string | undefined {
  if (!text.includes(lineEnd + lineEnd)) return undefined
  const [, reason] = /"reason":"(\w+)"/.exec(text) ?? []
  if (reason !== undefined) return reason
  const [, status = ''] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? []
  return status === '200' ? 'open' : undefined
}

/**
 * Sends requests, at most so many at the same time without an answer. Returns
 * the connections, which are left open.
 */
export async function sendMany(
  port: number,
  requests: readonly RawRequest[],
  { atOnce }: { atOnce: number },
): Promise<Answered[]> {
  const sent: Answered[] = []
  let next = 0
  const goOn = async (): Promise<void> => {
    for (;;) {
      const request = requests[next++]
      if (!request) return
      const one = sendRaw(port, request)
      sent.push(one)
      await one.answer
    }
  }
  await Promise.all(Array.from({ length: atOnce }, goOn))
  return sent
}

export async function tallyOf(sent: readonly Answered[]): Promise<Tally> {
  const tally: Tally = {}
  for (const answer of await Promise.all(sent.map((one) => one.answer)))
    tally[answer] = (tally[answer] ?? 0) + 1
  return tally
}
