/**
 * Five orders on a real EVM node of their own: one captured, one canceled, one
 * expired, one without funds, and one signed for the wrong function.
 *
 *     npm run demo
 *     npm run demo -- --crash
 *     npm run demo -- --load 500
 *     npm run demo -- --batch 500
 *     npm run demo -- --help
 */
import process from 'node:process'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { playBatch } from './batch.js'
import { crash } from './crash.js'
import { explainProblem } from './explainProblem.js'
import { writeJson } from './format.js'
import { playLoad } from './load.js'
import { type LoadNarrator, narrateLoad } from './narrateLoad.js'
import { createNarrator } from './narrator.js'
import { openShop, type Shop, startWorker } from './openShop.js'
import { type DemoOptions, help, readOptions } from './options.js'
import { playStory } from './playStory.js'
import { stories } from './stories.js'
import type { Narrator, Played, Run, Story } from './types.js'

// An interrupted demo deletes its orders, and its node ends too.
process.once('SIGINT', () => process.exit(130))

const colours = process.stdout.isTTY === true && !process.env.NO_COLOR

try {
  const options = readOptions(process.argv.slice(2))
  if (options.help) console.log(help)
  else if (!(await demo(options)).asTold) process.exitCode = 1
} catch (error) {
  console.error(`demo: ${explainProblem(error)}`)
  process.exitCode = 1
}

async function demo(options: DemoOptions): Promise<{ asTold: boolean }> {
  // Five blocks a second, as Base has them.
  const chain = await startDevChain({
    blockTime: 0.2,
    forkUrl: options.fork,
    batches: options.batch !== undefined,
  })
  try {
    const run = await play(chain, options)
    if (options.json) console.log(writeJson(run))
    return run
  } finally {
    await chain.stop()
  }
}

function play(chain: DevChain, options: DemoOptions) {
  const { load, batch, json } = options
  if (load !== undefined)
    return playLoad(chain, {
      ...options,
      count: load,
      narrator: showLoad(options),
    })
  if (batch === undefined) return playStories(chain, options)
  const write = (line: string) => console.log(line)
  return playBatch(chain, {
    ...options,
    count: batch,
    colours,
    write: json ? undefined : write,
  })
}

async function playStories(
  chain: DevChain,
  options: DemoOptions,
): Promise<Run> {
  const policy = { relayCancellations: 'always' } as const
  const shop = await openShop(chain, { policy })
  // In the story of the crash, processes of their own do the work.
  const worker = options.crash ? undefined : startWorker(shop)
  try {
    const played = options.crash ? [crash] : stories
    return await playAll(chain, { ...options, shop, stories: played })
  } finally {
    await worker?.stop()
    await shop.close()
  }
}

async function playAll(
  chain: DevChain,
  {
    shop,
    stories,
    amount,
    json,
  }: DemoOptions & { shop: Shop; stories: readonly Story[] },
): Promise<Run> {
  const narrator = json ? undefined : narrateInTerminal()
  const about = {
    amount,
    url: chain.urls.http,
    token: chain.token,
    chainId: chain.chain.id,
  }
  narrator?.open(about)

  const { timestamp: start } = await chain.clients.public.getBlock()
  const began = performance.now()
  const played: Played[] = []
  for (const story of stories) {
    narrator?.begin(story)
    const onStep = (step: Played['steps'][number]) => narrator?.tell(step)
    const ended = await playStory(chain, { story, shop, amount, start, onStep })
    narrator?.end(ended)
    played.push(ended)
  }

  const seconds = Math.round(performance.now() - began) / 1000
  const asTold = played.every((story) => story.asTold)
  const run: Run = { ...about, asTold, seconds, stories: played }
  narrator?.close(run)
  return run
}

function showLoad({ json }: DemoOptions): LoadNarrator | undefined {
  const { stdout } = process
  const write = (text: string) => stdout.write(text)
  const isTerminal = stdout.isTTY === true
  return json ? undefined : narrateLoad({ write, isTerminal, colours })
}

function narrateInTerminal(): Narrator {
  return createNarrator({ print: (line) => console.log(line), colours })
}
