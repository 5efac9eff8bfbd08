import {
  type PaymentOutcome,
  type WaitForOutcomeParameters,
  waitForOutcome,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { afterAll } from 'vitest'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
export const { public: reader, test: node, merchant, relayer } = chain.clients
const pollingInterval = 20

export const wait = (
  parameters: WaitForOutcomeParameters,
  client: Parameters<typeof waitForOutcome>[0] = reader,
): Promise<PaymentOutcome> =>
  waitForOutcome(client, { pollingInterval, ...parameters })

export const sleep = (ms: number) =>
  new Promise((resolve) => setTimeout(resolve, ms))

/** Whether a promise is still open after a few looks. */
export async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open')
  const first = await Promise.race([promise, sleep(150).then(() => open)])
  return first === open
}
