import { setTimeout } from 'node:timers/promises'
import type { Cluster } from '../machine/startCluster.js'
import type { RunningShop } from '../shop/startShop.js'

/** What was done to the machines. */
export type Blows = { leaders: number; workers: number; others: number }

type Scene = {
  cluster: Cluster
  shop: RunningShop
  /** Milliseconds. */
  length: number
  say(what: string): void
}

/** Milliseconds between two blows to a leader, and for how long it is away. */
const leaderEvery = 45_000
const away = 30_000
const workerEvery = 20_000

/** Breaks machines and processes, one after another, until the time is over. */
export async function strike(scene: Scene): Promise<Blows> {
  const blows: Blows = { leaders: 0, workers: 0, others: 0 }
  await Promise.all([
    strikeLeaders(scene, blows),
    strikeWorkers(scene, blows),
    strikeOthers(scene, blows),
  ])
  return blows
}

async function strikeLeaders(
  { cluster, length, say }: Scene,
  blows: Blows,
): Promise<void> {
  const ways = [
    ['loses its power', 'kill', 'start'],
    ['stands still', 'freeze', 'thaw'],
    ['is cut off', 'cut', 'mend'],
  ] as const
  for (let left = length; left > leaderEvery; left -= leaderEvery) {
    await setTimeout(leaderEvery - away)
    const leader = await cluster.findLeader()
    const [what, begin, end] = ways[blows.leaders % ways.length] ?? ways[0]
    if (leader) {
      say(`the leader, ${leader.name}, ${what}`)
      blows.leaders++
      leader[begin]()
    }
    await setTimeout(away)
    leader?.[end]()
  }
}

async function strikeWorkers(
  { shop, length }: Scene,
  blows: Blows,
): Promise<void> {
  for (let left = length; left > workerEvery; left -= workerEvery) {
    await setTimeout(workerEvery)
    shop.workers[blows.workers % shop.workers.length]?.kill()
    blows.workers++
  }
}

async function strikeOthers(
  { cluster: { front, etcd }, length, say }: Scene,
  blows: Blows,
): Promise<void> {
  const killBouncer = async () => {
    say('PgBouncer is killed')
    blows.others++
    front.killBouncer()
    await setTimeout(2_000)
    front.startBouncer()
  }
  await setTimeout(length / 3)
  await killBouncer()
  await setTimeout(length / 6)
  say('etcd loses a member')
  blows.others++
  etcd.lose()
  await setTimeout(length / 6)
  etcd.bringBack()
  await killBouncer()
}
