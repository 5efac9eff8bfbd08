import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DevChain } from 'countersign/devchain'
import { build } from 'esbuild'
import { type Address, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { getTransactionCount, readContract } from 'viem/actions'
import { entryFiles, importPathOf } from '../../scripts/entryFiles.js'
import { findWorkerd, startWorkerd, type Workerd } from './startWorkerd.js'
import {
  type Answer,
  type Asked,
  points,
  type ShopSetting,
  type Shown,
  type StepName,
  type Stop,
} from './types.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const steps: readonly StepName[] = ['draft', 'accept', 'capture', 'refund']

/** What the caller knows of a sale so far. */
type Sale = Pick<Answer, 'orderId' | 'payment'>

type DurableKill = { step: StepName; stop: Stop }

/** A runtime for shops in Durable Objects, which is killed and started again. */
export type KilledShops = {
  /** Sells without a kill, and returns every point of each step. */
  record(): Promise<DurableKill[]>
  /**
   * Kills the runtime in a sale, goes on in the next one, and returns what is
   * wrong: nothing must be. `missed` says that the sale did not pass the point.
   */
  kill(one: DurableKill): Promise<{ problems: string[]; missed: boolean }>
  /**
   * Kills the runtime after a write that was confirmed inside a read, and
   * returns what the next one reads.
   */
  killInRead(): Promise<unknown>
  stop(): Promise<void>
}

export async function startKilledShops(chain: DevChain): Promise<KilledShops> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-durable-'))
  await bundleShop(join(folder, 'shop.js'))
  const executable = findWorkerd()
  let workerd = await startWorkerd(executable, folder)
  let sales = 0
  const openSale = async () => {
    const setting = await newSetting(chain)
    const path = `/${++sales}`
    const ask = (asked: Pick<Asked, 'step'> & Partial<Asked>) =>
      askShop(workerd, path, { ...setting, ...asked })
    return { setting, ask }
  }
  return {
    record: async () => {
      const { ask } = await openSale()
      const sale: Sale = {}
      const found: DurableKill[] = []
      for (const step of steps) {
        const { passed, ...told } = await ask({ step, ...sale })
        Object.assign(sale, told)
        for (const point of points)
          for (let count = 1; count <= passed[point]; count++)
            found.push({ step, stop: { point, count } })
      }
      return found
    },
    kill: async ({ step, stop }) => {
      const { setting, ask } = await openSale()
      let sale: Sale = {}
      for (const before of steps.slice(0, steps.indexOf(step)))
        sale = { ...sale, ...(await ask({ step: before, ...sale })) }
      const answered = ask({ step, ...sale, stop }).catch(() => undefined)
      const stopped = workerd.printed(`stopped ${stop.point} ${stop.count}`)
      const first = await Promise.race([answered, stopped])
      await workerd.kill()
      workerd = await startWorkerd(executable, folder)
      // Takes the step again, as its caller would, and then the others.
      for (const next of steps.slice(steps.indexOf(step)))
        sale = { ...sale, ...(await ask({ step: next, ...sale })) }
      await ask({ step: 'finish', ...sale })
      const shown = (await ask({ step: 'show', ...sale })) as unknown as Shown
      const problems = await judge(chain, setting, shown)
      const where = `${step} ${stop.point} ${stop.count}`
      return {
        problems: problems.map((problem) => `${where}: ${problem}`),
        missed: first !== undefined,
      }
    },
    killInRead: async () => {
      const { ask } = await openSale()
      const stop: Stop = { point: 'durable', count: 1 }
      ask({ step: 'writeInRead', stop }).catch(() => undefined)
      await workerd.printed('stopped durable 1')
      await workerd.kill()
      workerd = await startWorkerd(executable, folder)
      return ask({ step: 'readAgain' })
    },
    stop: async () => {
      await workerd.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function bundleShop(outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ['test/durable/killedShop.ts'],
    alias: Object.fromEntries(
      Object.entries(entryFiles).map(([entry, path]) => [
        importPathOf(entry),
        join(root, path),
      ]),
    ),
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['worker', 'workerd'],
    target: 'es2022',
    logLevel: 'silent',
  })
}

async function newSetting(chain: DevChain): Promise<ShopSetting> {
  const merchant = generatePrivateKey()
  const payer = generatePrivateKey()
  const address = privateKeyToAddress(merchant)
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  await chain.mint({ to: privateKeyToAddress(payer), value: 10_000_000n })
  return { url: chain.urls.http, token: chain.token, merchant, payer }
}

async function askShop(
  { url }: Workerd,
  path: string,
  asked: Asked,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method: 'POST',
    body: JSON.stringify(asked),
    signal: AbortSignal.timeout(60_000),
  })
  if (!response.ok)
    throw new Error(`${asked.step}: ${(await response.text()).slice(0, 500)}`)
  return (await response.json()) as Answer
}

/** What is wrong with the record or the chain after the whole sale. */
async function judge(
  { clients, token }: DevChain,
  { merchant, payer }: ShopSetting,
  { state, refunds, events }: Shown,
): Promise<string[]> {
  const address = privateKeyToAddress(merchant)
  const balanceOf = (owner: Address) =>
    readContract(clients.public, {
      address: token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [owner],
    })
  const sent = await getTransactionCount(clients.public, { address })
  const found = {
    state,
    refunds: refunds.join(),
    captured: events.filter((type) => type === 'captured').length,
    fulfil: events.filter((type) => type === 'fulfil').length,
    sent,
    merchant: await balanceOf(address),
    payer: await balanceOf(privateKeyToAddress(payer)),
  }
  const expected: typeof found = {
    state: 'captured',
    refunds: 'succeeded',
    captured: 1,
    fulfil: 1,
    // The capture and the refund.
    sent: 2,
    merchant: 500_000n,
    payer: 9_500_000n,
  }
  return Object.entries(expected).flatMap(([name, value]) => {
    const actual = Reflect.get(found, name)
    return actual === value ? [] : [`${name} was ${actual}, not ${value}`]
  })
}
