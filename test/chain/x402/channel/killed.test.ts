import { afterAll, expect, onTestFinished, test } from 'vitest'
import { bundleWorker } from '../../../kills/bundleWorker.js'
import {
  type ChannelSceneName,
  dieInScene,
} from '../../support/channelKills.js'
import { chain } from '../../support/x402Desk.js'

// A few of the boundaries of test/thorough/x402/channel/kills.test.ts.

const worker = await bundleWorker('channelWorker')
afterAll(() => worker.remove())

const planned = 'write attempts channelMoved channels notes orders'

test.each<[string, ChannelSceneName, string]>([
  ['a request that was worked for', 'voucher', 'handler#1'],
  ['a request that was charged', 'voucher', 'write channels notes#1'],
  ['a deposit on record', 'deposit', `${planned}#1`],
  ['a deposit that was sent', 'deposit', 'eth_sendRawTransaction#1'],
  ['a credited deposit', 'deposit', 'write channels#1'],
  ['a top-up that was sent', 'topUp', 'eth_sendRawTransaction#1'],
  ['a claim that was sent', 'claim', 'eth_sendRawTransaction#1'],
  ['a claim before a withdrawal', 'claimOfWithdrawn', `${planned}#1`],
  ['a refund on record', 'refundForClient', `${planned}#1`],
  ['a refund that was sent', 'refundForClient', 'eth_sendRawTransaction#2'],
])(
  'dying after %s, a process leaves a channel that is charged and claimed once',
  async (_, scene, point) => {
    const kill = { point, when: 'after' as const }
    const { told, problems } = await dieInScene(worker.file, scene, kill)
    expect({ told, problems }).toEqual({ told: undefined, problems: [] })
  },
)

test('a withdrawal announced while no worker ran is claimed against in time, though the worker died while it planned the claim', async () => {
  const { test: node } = chain.clients
  const id = await node.snapshot()
  // The time of the chain goes back, too.
  onTestFinished(() => node.revert({ id }))
  const kill = { point: `${planned}#1`, when: 'after' as const }
  const scene = 'claimOfWithdrawnLate'
  const { told, problems } = await dieInScene(worker.file, scene, kill)
  expect({ told, problems }).toEqual({ told: undefined, problems: [] })
})
