import { equal, match } from 'node:assert/strict'
import type { Consumer } from './installPackage.js'
import { type Guide, openGuide } from './openGuide.js'
import { openPlace, type Place } from './openPlace.js'

/** Does what a page prints, in the order printed, in an empty folder. */
async function follow(
  { installed }: Consumer,
  page: string,
  reader: (guide: Guide, place: Place) => Promise<void>,
): Promise<void> {
  const guide = openGuide(installed, page)
  const place = await openPlace()
  try {
    await reader(guide, place)
    guide.end()
  } finally {
    await place.stop()
  }
}

const elsewhere = 'Needs the repository, where tests of the examples run it.'

/** Sells once with the function of the README, on a chain of its own. */
const sellOnce = `
import { startDevChain } from 'countersign/devchain'
import { sell } from './sell.mjs'

const { clients, stop } = await startDevChain({ blockTime: 1 })
const { public: reader, merchant, payer } = clients
console.log(await sell({ reader, merchant }, payer, payer.account.address))
await stop()
`

/** Everything that the README prints. */
export function checkReadme(consumer: Consumer): Promise<void> {
  return follow(consumer, 'README.md', async (guide, place) => {
    const written = await place.run(guide, 'npx countersign init my-shop')
    match(written, /npx tsx server\.ts/)
    await place.run(guide, 'npm install countersign viem')

    await place.runCommand(
      'npm install tsx @viem/anvil @foundry-rs/anvil-linux-amd64',
    )
    // Its chain and its shop are real ones: here they are the local ones.
    const code = guide
      .take('ts')
      .replaceAll('8453', '31337')
      .replace(/0x3C44\w+/, '0xB37d4F496a98A661FB34fD1824e90cE460871D6B')
    place.writeFile('sell.mts', code)
    place.writeFile('sellOnce.mts', sellOnce)
    equal(await place.runCommand('npx tsx sellOnce.mts'), 'captured\n')

    guide.leave('npm run docs', 'The docs site has a test of its own.')
    for (const command of [
      'npm ci && npm run demo',
      'npm ci && npm test',
      'npm run shop',
      'npm run x402',
      'npm run subscription',
    ])
      guide.leave(command, elsewhere)
  })
}

/** Everything that the guide to x402 prints. */
export function checkX402Guide(consumer: Consumer): Promise<void> {
  return follow(consumer, 'docs/x402.md', async (guide, place) => {
    await place.run(guide, 'npm init -y && npm pkg set type=module')
    for (const command of [
      'npm install countersign viem hono @hono/node-server @x402/core @x402/evm @x402/fetch',
      'npm install --save-dev tsx @viem/anvil @foundry-rs/anvil-linux-amd64',
    ])
      await place.run(guide, command)
    place.write(guide, 'app.ts', 'weather.ts')
    equal(
      await place.run(guide, 'npx tsx weather.ts'),
      "200 { sky: 'clear' }\n",
    )
    place.write(guide, 'news.ts')
    equal(await place.runCommand('npx tsx news.ts'), '')
    // A test of its own runs the stock server with this program.
    place.write(guide, 'stock.ts')
  })
}
