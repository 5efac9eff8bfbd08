import { expect, test } from 'vitest'
import { writeQuickStart } from '../../chain/support/quickStart.js'

test('the server of the guide says that its node is down, and ends', async ({
  onTestFinished,
}) => {
  const guide = await writeQuickStart()
  onTestFinished(() => guide.stop())
  // Nothing listens where the node should be.
  const printed = await guide.startAndRead('server.ts', /^NodeError: /)
  const { host } = new URL(guide.node)
  expect(printed).toBe(`NodeError: eth_call failed at ${host}: no connection.`)
})
