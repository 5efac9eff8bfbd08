import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { X402Gate, X402Payment } from 'countersign/x402'
import type { Express } from 'express'
import { afterEach } from 'vitest'

/** The payment that everybody has made. */
const openedPayment: X402Payment = {
  orderId: 'order',
  offer: 'work',
  payer: `0x${'1'.repeat(40)}`,
  amount: '0.01',
  transaction: undefined,
}

/** A gate that lets everybody in, and reports how the handler ended. */
export function openedGate(report: (ended: unknown) => void): X402Gate {
  const answer: X402Gate['answer'] = async (request, { handler }) => {
    // As the gate does, before there is work.
    await request.clone().arrayBuffer()
    try {
      const response = await handler(request, openedPayment)
      report(response)
      return response
    } catch (error) {
      report(error)
      return new Response(null, { status: 500 })
    }
  }
  return {
    mostAnswerBytes: 1_000,
    claimRecipients: async () => undefined,
    answer,
    protect: (offer, handler) => (request) =>
      answer(request, { offer, handler }),
  }
}

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** Serves an Express app on loopback until the test ends. */
export async function listen(app: Express): Promise<string> {
  // Express 5 prints what it catches unless it runs as a test.
  app.set('env', 'test')
  const server = createServer(app)
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
