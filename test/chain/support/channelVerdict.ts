import { getChannels } from 'countersign/channels'
import type { Hex } from 'viem'
import { wait } from '../../../src/core/wait.js'
import type { World } from './channelSchedules.js'
import { most } from './channelShop.js'
import { balanceOf, chain } from './x402Desk.js'

/** Claims all that is owed. Returns what does not add up then. */
export async function findLosses(
  world: World,
  warp: (seconds: number) => Promise<void>,
): Promise<string[]> {
  const [place] = world.places
  for (const { faults } of world.places) faults.clear()
  let problems: string[] = []
  for (let looks = 0; looks < mostLooks; looks++) {
    await warp(3)
    await place?.process.channels.claim({ timeout: 5_000 })
    problems = await compare(world)
    if (problems.length === 0) return []
    await wait(100)
  }
  return problems
}

const mostLooks = 80

async function compare(world: World): Promise<string[]> {
  const { sale, places, buyers, mayLose } = world
  const process = places[0]?.process
  if (!process) throw new Error('no process')
  const problems: string[] = []
  const { channels } = await process.channels.list({ limit: 200 })
  const channelIds = channels.map(({ channelId }) => channelId)
  const { public: reader } = chain.clients
  const found = channelIds.length
    ? await getChannels(reader, { channelIds })
    : []
  const rows = await process.store.read((tables) =>
    tables.channels.find({ ids: channelIds }),
  )
  let claimed = 0n
  let lost = 0n
  const uncovered: Hex[] = []
  for (const [at, channelId] of channelIds.entries()) {
    const shown = channels[at]
    const onChain = found[at]
    const row = rows.find(({ id }) => id === channelId)
    const owners = buyers.filter(({ id }) => id === channelId)
    if (!shown || !onChain || !row) throw new Error(`no row of ${channelId}`)
    const say = (what: string) => problems.push(`${channelId} ${what}`)
    const served = sale.servedOver(channelId)
    const unsure = owners.flatMap((buyer) => buyer.unsure)
    if (!isSum(row.charged - served, unsure))
      say(`charged ${row.charged}, served ${served}, unsure ${unsure}`)
    if (row.signed < row.charged) say(`signed ${row.signed} for ${row.charged}`)
    claimed += onChain.claimed
    if (shown.reason === 'refund') say('waits for a refund')
    if (onChain.claimed !== shown.claimed)
      say(`claimed ${onChain.claimed}, on record ${shown.claimed}`)
    if (onChain.balance !== shown.balance)
      say(`balance ${onChain.balance}, on record ${shown.balance}`)
    if (shown.charged > onChain.claimed) {
      if (!mayLose.has(channelId))
        say(`charged ${shown.charged}, claimed ${onChain.claimed}`)
      lost += shown.charged - onChain.claimed
      uncovered.push(channelId)
    }
    if (
      !world.returned.has(channelId) &&
      onChain.balance >= row.charged + most + world.deposit
    )
      say(`deposited ${onChain.balance} for ${row.charged}`)
  }
  const health = await process.channels.health()
  const unclaimed = health.destinations.reduce(
    (sum, one) => sum + one.unclaimed,
    0n,
  )
  const named = health.destinations.flatMap((one) => one.uncovered)
  if (unclaimed !== lost || named.length !== uncovered.length)
    problems.push(
      `health tells of ${unclaimed} in ${named.length}, lost are ${lost} in ${uncovered.length}`,
    )
  const got = await balanceOf(process.seller)
  if (got !== claimed) problems.push(`seller has ${got} of ${claimed} claimed`)
  for (const { account, funds } of buyers) {
    if (funds === 0n) continue
    const locked = buyers
      .filter((one) => one.account === account)
      .map(({ id }) => id && found[channelIds.indexOf(id)])
      .reduce((sum, one) => sum + (one ? one.balance : 0n), 0n)
    const left = await balanceOf(account.address)
    if (left + locked !== funds)
      problems.push(`${account.address} has ${left} and ${locked} of ${funds}`)
  }
  return problems
}

/** True for the sum of some of the amounts. */
const isSum = (total: bigint, [first, ...rest]: readonly bigint[]): boolean =>
  total === 0n ||
  (first !== undefined && (isSum(total - first, rest) || isSum(total, rest)))
