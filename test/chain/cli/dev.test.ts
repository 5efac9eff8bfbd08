import { getToken } from 'countersign'
import { detectPreconfirmations } from 'countersign/reads'
import { createPublicClient, http } from 'viem'
import { expect, test } from 'vitest'
import { runCommand } from '../support/cliShop.js'
import { findPort } from '../support/database.js'

test('dev has the contracts and the pre-confirmations that it is asked for', async () => {
  const port = `${await findPort()}`
  const seen: unknown[] = []
  let printed = ''
  const write = (text: string) => {
    printed += text
  }
  const args = ['--usdc', '--preconfirmations', 'flashblocks', '--json']
  const { code } = await runCommand(['dev', '--port', port, ...args], {
    stdout: { write },
    untilInterrupted: async () => {
      const { url, token } = JSON.parse(printed)
      const client = createPublicClient({ transport: http(url) })
      const { domain } = await getToken(client, { token })
      seen.push(domain.name, domain.version)
      seen.push((await detectPreconfirmations(client)).kind)
    },
  })
  expect(code).toBe(0)
  expect(seen).toEqual(['USD Coin', '2', 'flashblocks'])
})
