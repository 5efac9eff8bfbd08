import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'

const chain = await startDevChain({
  preconfirmations: 'flashblocks',
  blockTime: 0,
  tick: 0,
})
afterAll(() => chain.stop())

const account = chain.clients.payer.account.address

/** As JavaScript calls it, where no type is in the way. */
type Call = (given: never) => unknown

test.each<[string, Call, object]>([
  ['mint', chain.mint, { to: account, value: 1n }],
  ['block', chain.block, { account }],
  ['reorg', chain.reorg, { depth: 1 }],
  ['phantomLog', chain.preconfirmations.phantomLog, { address: chain.token }],
  ['setPolicies', chain.setPolicies, { latency: 0 }],
])(
  '%s of a development chain refuses a member it does not know, and does nothing',
  async (_, call, given) => {
    const strange = { ...given, payerr: 1 }
    const work = async () => call(strange as never)
    const block = await chain.clients.public.getBlockNumber()
    await expect(work()).rejects.toMatchObject({
      name: 'InvalidFieldError',
      message: expect.stringContaining('not "payerr"'),
    })
    expect(await chain.clients.public.getBlockNumber()).toBe(block)
  },
)
