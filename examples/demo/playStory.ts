import { isDeepStrictEqual } from 'node:util'
import { parseAmount } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { explainProblem } from './explainProblem.js'
import type { Shop } from './openShop.js'
import type { Balances, Hash, Played, Scene, Step, Story } from './types.js'
import { fillPurse, readBalances } from './wallets.js'

type PlayStoryParameters = {
  story: Story
  shop: Shop
  /** A decimal, in whole tokens. */
  amount: string
  /** Chain time that counts as zero. */
  start: bigint
  /** Hears of every step at once. */
  onStep(step: Step): void
}

/** Plays one story and checks that it ends as told, to the last token unit. */
export async function playStory(
  chain: DevChain,
  { story, shop, amount, start, onStep }: PlayStoryParameters,
): Promise<Played> {
  await fillPurse(chain)
  const before = await readBalances(chain, shop)
  const steps: Step[] = []
  const tell: Scene['tell'] = async (actor, step, hash) => {
    const told = { actor, step, ...(await look(chain, { start, hash })) }
    steps.push(told)
    onStep(told)
  }
  const scene = setScene(chain, { shop, amount, tell })

  const { problem, ...ending } = await perform(story, scene)
  const after = await readBalances(chain, shop)
  const due = balancesDue(story, { before, amount })
  const settled = isDeepStrictEqual(after, due)
  return {
    id: story.id,
    title: story.title,
    asTold: problem === undefined && settled,
    problem: problem ?? (settled ? undefined : 'the balances are not as told'),
    ...ending,
    steps,
    balances: { before, after },
  }
}

async function perform(
  story: Story,
  scene: Scene,
): Promise<Pick<Played, 'outcome' | 'order' | 'problem'>> {
  try {
    const ending = await story.play(scene)
    const { outcome, order } = ending
    const ends = { chain: outcome.status, order: order.state }
    if (isDeepStrictEqual(ends, story.ends)) return ending
    return { ...ending, problem: `${say(ends)} instead of ${say(story.ends)}` }
  } catch (error) {
    return { problem: explainProblem(error) }
  }
}

function say({ chain, order }: Story['ends']): string {
  return `${chain} on chain, ${order} on record`
}

function setScene(
  chain: DevChain,
  { shop, amount, tell }: Pick<Scene, 'shop' | 'tell'> & { amount: string },
): Scene {
  const to = shop.merchant.account.address
  return {
    chain,
    shop,
    expect: { chainId: chain.chain.id, token: chain.token, to, amount },
    tell,
  }
}

/** The time on chain, and what a transaction did there. */
async function look(
  { clients: { public: reader } }: DevChain,
  { start, hash }: { start: bigint; hash: Hash | undefined },
): Promise<Pick<Step, 'time' | 'transaction'>> {
  if (!hash) {
    const { timestamp } = await reader.getBlock()
    return { time: Number(timestamp - start) }
  }
  const receipt = await reader.waitForTransactionReceipt({ hash })
  const { blockNumber, gasUsed, status } = receipt
  const { timestamp } = await reader.getBlock({ blockNumber })
  const transaction = { hash, gasUsed, reverted: status === 'reverted' }
  return { time: Number(timestamp - start), transaction }
}

function balancesDue(
  { moves }: Story,
  { before, amount }: { before: Balances; amount: string },
): Balances {
  const units = { amount: parseAmount(amount), purse: before.payer }
  const { payer = 0n, merchant = 0n, savings = 0n } = moves?.(units) ?? {}
  return {
    payer: before.payer + payer,
    merchant: before.merchant + merchant,
    savings: before.savings + savings,
  }
}
