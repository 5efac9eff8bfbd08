import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { nextMessage } from '../../bench/childMessages.js'

function startReporter() {
  const file = fileURLToPath(new URL('support/childReport.ts', import.meta.url))
  return fork(file, { execArgv: ['--import', 'tsx'] })
}

test('the last report of a load process arrives whole, however long it is', async () => {
  const child = startReporter()
  child.send(100_000)
  expect(await nextMessage(child)).toHaveLength(100_000)
})

test('a load process that ends without a report ends the wait for it', async () => {
  const child = startReporter()
  child.send(-1)
  await expect(nextMessage(child)).rejects.toThrow('without an answer')
})
