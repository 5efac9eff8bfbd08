import { execFile } from 'node:child_process'
import process from 'node:process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test('scripts load the helpers of the shop outside the test runner', async () => {
  const { VITEST: _, ...env } = process.env
  const file = 'test/chain/support/shopPageOrders.ts'
  const program = `const { placeOrder } = await import('./${file}'); console.log(typeof placeOrder)`
  const flags = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const { stdout } = await run(process.execPath, flags, { env })
  expect(stdout.trim()).toBe('function')
})
