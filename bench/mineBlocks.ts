import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Mines at the pace it is told, in a process of its own: asking a node every few
 * milliseconds would else be work of the process that is measured.
 */
const [url = ''] = process.argv.slice(2)
let pace = 0
let mining = Promise.resolve()

async function mineOn(): Promise<void> {
  while (pace > 0) {
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine' }),
    }).then((answer) => answer.arrayBuffer())
    await sleep(pace)
  }
}

process.on('message', async (every) => {
  pace = Number(every)
  if (pace > 0) mining = mineOn()
  else await mining
  process.send?.(pace)
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
