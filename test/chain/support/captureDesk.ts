import { startDevChain } from 'countersign/devchain'
import { afterAll } from 'vitest'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

export const { public: reader, payer, merchant, relayer } = chain.clients
export const seller = merchant.account
export const transfer = { primaryType: 'TransferWithAuthorization' } as const
