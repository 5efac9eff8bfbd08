import { rmSync } from 'node:fs'
import { channels, createChannels } from 'countersign/channels'
import { sqliteStore } from 'countersign/sql'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { chain } from '../support/channelDesk.js'
import { openCliShop } from '../support/cliShop.js'
import { charge, openDeposited, until, work } from '../support/keepingDesk.js'
import { openMovementShop } from '../support/movementDesk.js'

afterAll(() => chain.stop())

test('audit and health of a shop with channels show them, and exit with 1 if they are not right', async () => {
  const cli = await openCliShop(chain, { kinds: [channels()] })
  onTestFinished(() => rmSync(cli.folder, { recursive: true, force: true }))
  const shop = await openMovementShop({
    store: sqliteStore({ file: cli.file }),
    receiver: privateKeyToAccount(cli.merchantKey),
  })
  const kept = createChannels({ orders: shop.orders })
  const opened = await work(shop, kept)
  const channel = await openDeposited(opened)
  await charge(opened, channel, 4_000n)
  await until(async () => (await kept.audit()).ok)
  await opened.end()
  const audited = await cli.run(['audit'])
  expect(audited.stdout).toContain('1 on record, 0 claimed')
  expect(audited.code).toBe(0)
  const health = await cli.run(['health'])
  expect(health.stdout).toContain(
    '1 with a deposit; base units not claimed: 4000',
  )
  expect(health.code).toBe(0)
  // Of all that is left, so that what is owed is threatened.
  await shop.context.store.write(async (tables) => {
    const [row] = await tables.channels.find({ ids: [channel.id] })
    const withdrawableAt = 1n
    const reason = 'withdrawal'
    if (row)
      await tables.channels.update([
        { ...row, reason, withdrawing: row.balance, withdrawableAt },
      ])
  })
  const differs = await cli.run(['audit', '--json'])
  expect(differs.code).toBe(1)
  expect(JSON.parse(differs.stdout)).toMatchObject({
    ok: false,
    channels: {
      destinations: [
        {
          differences: [
            {
              field: 'withdrawing',
              onChain: '0',
              onRecord: expect.stringMatching(/^[1-9]/),
            },
            { field: 'withdrawableAt', onChain: '0', onRecord: '1' },
          ],
        },
      ],
    },
  })
  const ringing = await cli.run(['health'])
  expect(ringing.stdout).toContain('no claim is on its way')
  expect(ringing.code).toBe(1)
})
