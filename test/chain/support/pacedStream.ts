import type { X402Payment } from 'countersign/x402'

/** A streamed answer whose parts come one by one, when the test says so. */
export type PacedStream = {
  response: Response
  /** Lets the next part come: charges first, if an amount is given. */
  next(amount?: string): Promise<void>
  /** The error with which a charge of the source was refused. */
  failed: Promise<unknown>
  end(): void
}

export function pacedStream({ charge }: X402Payment): PacedStream {
  type Controller = ReadableStreamDefaultController<Uint8Array>
  let controller: Controller | undefined
  let fail = (_: unknown) => {}
  const failed = new Promise((resolve) => {
    fail = resolve
  })
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
    },
  })
  return {
    response: new Response(body),
    failed,
    next: async (amount) => {
      try {
        if (amount !== undefined) await charge?.(amount)
        controller?.enqueue(new TextEncoder().encode('part '))
      } catch (error) {
        fail(error)
        try {
          controller?.error(error)
        } catch {
          // The client has left already.
        }
      }
    },
    end: () => controller?.close(),
  }
}
