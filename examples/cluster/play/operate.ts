import { setTimeout } from 'node:timers/promises'
import type { RunningShop } from '../shop/startShop.js'

/**
 * Does what an operator does: whenever a process ended with an error, because
 * the database was replaced, has one command compare it with the chain.
 *
 * @returns what the command said, each time that it resumed the shop.
 */
export async function operate(
  { workers, webs, command }: RunningShop,
  isOver: () => boolean,
): Promise<string[]> {
  const said: string[] = []
  const countEnds = () =>
    [...workers, ...webs].reduce((sum, { ends }) => sum + ends.length, 0)
  let seen = countEnds()
  while (!isOver()) {
    await setTimeout(500)
    if (countEnds() === seen) continue
    seen = countEnds()
    // The supervisor starts a worker, which notices the replacement.
    await setTimeout(5_000)
    const { code, printed } = await command('recover')
    if (code === 0) said.push(printed)
    // It did not get through to the database, or no worker has yet.
    if (code !== 0 || !printed.includes('Resumed')) seen = -1
    if (code === 0 && printed.includes('was not suspended')) seen = countEnds()
  }
  return said
}
