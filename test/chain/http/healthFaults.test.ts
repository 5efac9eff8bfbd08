import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { fakeNode, rpcError } from '../support/desk.js'
import { openDesk } from '../support/httpDesk.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test.each([
  ['refused', () => rpcError(-32000, 'no more for key secret')],
  ['rateLimited', () => rpcError(-32005, 'rate limit of key secret')],
  ['unreachable', () => new Error('no host key.secret')],
])(
  'over HTTP, health shows a node fault as %s and not in its words',
  async (kind, fault) => {
    const { client } = fakeNode(chain, async () => {
      throw fault()
    })
    const desk = await openDesk(chain, { client })
    const { body, text } = await desk.ask('GET /merchant/health')
    expect(body).toMatchObject({
      chains: [{ fault: kind }],
      submitters: [{ fault: kind }],
    })
    expect(text).not.toContain('secret')
    expect(text).not.toContain('faultKind')
  },
)
