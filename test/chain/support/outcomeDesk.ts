import { capturePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { afterAll } from 'vitest'
import { mined } from './desk.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
export const { public: reader, test: node, merchant, relayer } = chain.clients

export const capture = (
  payment: Parameters<typeof capturePayment>[1]['payment'],
) => mined(chain, capturePayment(merchant, { payment }))
