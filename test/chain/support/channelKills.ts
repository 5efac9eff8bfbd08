import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Channel,
  type ChannelConfig,
  finalizeWithdrawCall,
  getChannel,
  initiateWithdrawCall,
  parseChannelConfig,
} from 'countersign/channels'
import {
  type Address,
  createWalletClient,
  type Hex,
  http,
  type PrivateKeyAccount,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { sendTransaction } from 'viem/actions'
import {
  type ChannelFlow,
  type ChannelPlan,
  type ChannelProcess,
  type ChannelTold,
  openChannelProcess,
  pathOf,
  withdrawDelay,
} from '../../kills/channelPlan.js'
import type { Kill } from '../../kills/plan.js'
import { startChild } from '../../kills/runChild.js'
import { endLeases } from '../../kills/runKill.js'
import { channelOf, channelOfferOf } from './channelPayer.js'
import { most, stockChannel } from './channelShop.js'
import { fundedAccount } from './desk.js'
import { balanceOf, chain } from './x402Desk.js'

/** What a process dies in, after some requests were answered by another. */
type Scene = {
  flow: ChannelFlow
  /** Requests before. */
  before: number
  /** Token units that a client deposits at a time. */
  deposit: bigint
  /** Deposits in all, with those after the death. */
  deposits: bigint
  /** What the client asks for. Default: goods. */
  asks?: 'refund' | undefined
  /** What is paid back at the end. */
  isRefunded?: boolean | undefined
  isWithdrawn?: boolean | undefined
  /** Seconds of the chain from the withdrawal to the first worker. */
  downFor?: number | undefined
  claimsAtOnce?: boolean | undefined
}

const usual = { deposit: 5n * most, deposits: 1n }
const refunds = {
  before: 2,
  deposit: 5n * most,
  deposits: 2n,
  isRefunded: true,
}

export const channelScenes = {
  deposit: { ...usual, flow: 'answer', before: 0 },
  voucher: { ...usual, flow: 'answer', before: 1 },
  topUp: { flow: 'answer', before: 2, deposit: 2n * most, deposits: 2n },
  claim: { ...usual, flow: 'claim', before: 2 },
  claimByAge: { ...usual, flow: 'work', before: 2, claimsAtOnce: true },
  claimOfWithdrawn: { ...usual, flow: 'work', before: 2, isWithdrawn: true },
  claimOfWithdrawnLate: {
    ...usual,
    flow: 'work',
    before: 2,
    isWithdrawn: true,
    downFor: 800,
  },
  refundForClient: { ...refunds, flow: 'answer', asks: 'refund' },
  refundByMerchant: { ...refunds, flow: 'refund' },
} as const satisfies Record<string, Scene>

export type ChannelSceneName = keyof typeof channelScenes
export type PointKill = Extract<Kill, { point: string }>

/** Most times that somebody asks again before it counts as hanging. */
const mostTries = 200

/** A shop, and a buyer with the stock client, whose requests `send` carries. */
type Stage = {
  scene: Scene
  plan: ChannelPlan
  buyer: PrivateKeyAccount
  client: ReturnType<typeof stockChannel>
  send: (request: Request) => Promise<Response>
  /** URLs that were answered with goods. */
  served: string[]
}

async function setStage(scene: Scene, folder: string): Promise<Stage> {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  const buyer = await fundedAccount(chain, scene.deposits * scene.deposit)
  const plan: ChannelPlan = {
    flow: scene.flow,
    engine: { sqlite: join(folder, 'orders.db') },
    account: 'local',
    url: chain.urls.http,
    token: chain.token,
    keys: [key],
    // Longer than any case takes: those of a dead process are released. Except
    // for workers: one may die while it takes a lease, and then nobody knows it.
    policy: { lease: scene.flow === 'work' ? 3_000 : 60_000 },
    deposit: `0.0${scene.deposit / most}`,
    claimsAtOnce: scene.claimsAtOnce,
    runs: join(folder, 'runs'),
  }
  const stage: Stage = {
    scene,
    plan,
    buyer,
    client: stockChannel(buyer, [], (input, init) =>
      stage.send(new Request(input, init)),
    ),
    send: () => Promise.reject(new Error('no process')),
    served: [],
  }
  return stage
}

const urlOf = (number: number) => `https://shop.example/${number}`

/** Asks for goods like a client that repeats a request until it is answered. */
async function buy({ client, served }: Stage, number: number): Promise<void> {
  const url = urlOf(number)
  let said = ''
  for (let tries = 0; tries < mostTries; tries++) {
    const response = await client.fetch(url)
    const body = await response.text()
    if (response.ok) {
      if (body !== `goods of ${pathOf(url)}`) throw new Error(`got ${body}`)
      served.push(url)
      return
    }
    said = `${response.status} ${body}`
    await sleep(50)
  }
  throw new Error(`was not served ${url}: ${said}`)
}

/** The one channel of a stage. */
async function onlyChannel({ channels }: ChannelProcess): Promise<Channel> {
  const [channel, ...others] = (await channels.list()).channels
  if (!channel || others.length > 0)
    throw new Error(`${others.length + Number(!!channel)} channels`)
  return channel
}

/** Sends a call of the buyer about its own channel. */
async function sendAsBuyer(
  { buyer: account, send }: Stage,
  callOf: (config: ChannelConfig) => { to: Address; data: Hex },
): Promise<void> {
  const offer = channelOfferOf(await send(new Request(urlOf(0))))
  const config = parseChannelConfig(channelOf(account.address, offer).config)
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  await sendTransaction(wallet, callOf(config))
}

export type Died = {
  told: ChannelTold | undefined
  problems: string[]
}

/**
 * Sets a scene, has a process die in it, goes on with a new one, and returns
 * everything that is wrong afterwards. Without a kill, the process ends by
 * itself and tells the points that it passed.
 */
export async function dieInScene(
  worker: string,
  name: ChannelSceneName,
  kill?: PointKill,
): Promise<Died> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-channels-'))
  try {
    const stage = await setStage(channelScenes[name], folder)
    const { told, problem } = await actAndDie(worker, stage, kill)
    if (problem) return { told, problems: [problem] }
    const heir = openChannelProcess(stage.plan)
    try {
      return { told, problems: await goOn(stage, heir) }
    } finally {
      await heir.shop.orders.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Sells some requests, then has the child do its part, and perhaps die. */
async function actAndDie(
  worker: string,
  stage: Stage,
  kill: PointKill | undefined,
): Promise<{ told: ChannelTold | undefined; problem?: string }> {
  const { scene, plan, client } = stage
  const first = openChannelProcess(plan)
  stage.send = first.answer
  let channelId: ChannelPlan['channelId']
  try {
    for (let number = 0; number < scene.before; number++)
      await buy(stage, number)
    if (scene.before > 0) channelId = (await onlyChannel(first)).channelId
    if (scene.isWithdrawn)
      await sendAsBuyer(stage, (config) =>
        initiateWithdrawCall({ config, value: scene.deposit }),
      )
    if (scene.downFor) await chain.warp(scene.downFor)
  } finally {
    if (scene.flow !== 'answer') await first.shop.orders.close()
  }
  let ended: Awaited<ReturnType<typeof startChild>['ended']> | undefined
  const run = async (asked?: ChannelPlan['asked']) => {
    ended = await startChild(worker, { ...plan, kill, channelId, asked }).ended
    return ended
  }
  if (scene.flow !== 'answer') await run()
  else {
    stage.send = async (request) => {
      const header = request.headers.get('PAYMENT-SIGNATURE')
      if (!header) return first.answer(request)
      await first.shop.orders.close()
      const { lines, signal } = await run({ url: request.url, header })
      if (signal) throw new TypeError('fetch failed')
      const { answer }: ChannelTold = JSON.parse(lines.at(-1) ?? '{}')
      return new Response(answer?.body, answer)
    }
    const acting =
      scene.asks === 'refund'
        ? client.scheme.refund(urlOf(0), { fetch: sendOf(stage) })
        : buy(stage, scene.before)
    await acting.catch((error: Error) => {
      if (error.message !== 'fetch failed') throw error
    })
  }
  const { lines = [], signal, code, problem = '' } = ended ?? {}
  await endLeases(plan.engine, lines)
  const told = lines.at(-1)?.startsWith('{')
    ? (JSON.parse(lines.at(-1) ?? '') as ChannelTold)
    : undefined
  if (!kill) return told ? { told } : { told, problem: `failed: ${problem}` }
  const where = `${kill.when} ${kill.point}`
  const isKilled = signal === 'SIGKILL' && lines.at(-1) === where
  // What a worker does side by side may pass other points this time.
  const isMissed = code === 0 && told !== undefined
  return isKilled || isMissed
    ? { told }
    : {
        told,
        problem: `ended with ${signal ?? code}: ${lines.at(-1)} ${problem}`,
      }
}

const sendOf =
  (stage: Stage): typeof fetch =>
  (input, init) =>
    stage.send(new Request(input, init))

/** Goes on in a new process, with its workers, and judges what became of it. */
async function goOn(stage: Stage, heir: ChannelProcess): Promise<string[]> {
  const { scene, served } = stage
  const stop = new AbortController()
  const { signal } = stop
  const running = [
    heir.shop.orders.run({ signal }),
    heir.channels.run({ signal }),
  ]
  stage.send = heir.answer
  try {
    const next = scene.before + 1
    if (scene.flow === 'answer' && !scene.asks) {
      if (!served.includes(urlOf(scene.before))) await buy(stage, scene.before)
    } else if (scene.isRefunded) await refundAgain(stage, heir)
    if (!scene.isWithdrawn) await buy(stage, next)
    await claimRest(stage, heir)
    const problems = await judge(stage, heir)
    return [...problems, ...(await endWithdrawal(stage))]
  } catch (error) {
    return [String(error)]
  } finally {
    stop.abort()
    await Promise.all(running)
  }
}

/** Asks for a refund until nothing is left to pay back. */
async function refundAgain(stage: Stage, heir: ChannelProcess): Promise<void> {
  const { scene, client } = stage
  let said = ''
  for (let tries = 0; tries < mostTries; tries++) {
    if (scene.asks) {
      const fetch = sendOf(stage)
      const asking = client.scheme.refund(urlOf(0), { fetch })
      said = await asking.then(
        () => 'refunded',
        ({ message }: Error) => message,
      )
    } else {
      const { channelId } = await onlyChannel(heir)
      const result = await heir.channels.refund({ channelId })
      said = result.status === 'rejected' ? result.reason : result.status
    }
    if (/^refunded|nothingLeft|refund_no_balance|no remaining/.test(said))
      return
    await sleep(50)
  }
  throw new Error(`was not refunded: ${said}`)
}

/** Waits for the workers, or claims by command, until nothing is owed. */
async function claimRest(
  { scene }: Stage,
  heir: ChannelProcess,
): Promise<void> {
  const isByWorker = scene.flow === 'work'
  for (let tries = 0; tries < mostTries; tries++) {
    if ((await onlyChannel(heir)).unclaimed === 0n) return
    if (isByWorker) await sleep(100)
    else await heir.channels.claim()
  }
  throw new Error('was not claimed')
}

/** What the record, the chain and the files say, where it is not as it must be. */
async function judge(stage: Stage, heir: ChannelProcess): Promise<string[]> {
  const { scene, plan, buyer, served } = stage
  const { channelId, recipient, ...channel } = await onlyChannel(heir)
  const onChain = await getChannel(heir.shop.client, { channelId })
  const health = await heir.channels.health()
  const { deposit, deposits, isWithdrawn, isRefunded } = scene
  const sum = BigInt(new Set(served).size) * most
  // At the time of the refund, two requests were answered.
  const paidBack = isRefunded ? deposit - 2n * most : 0n
  const ran = existsSync(plan.runs)
    ? readFileSync(plan.runs, 'utf8').trim().split('\n')
    : []
  const killed = pathOf(urlOf(scene.before))
  const others = served.map(pathOf).filter((path) => path !== killed)
  const facts: Record<string, [found: unknown, wanted: unknown]> = {
    served: [served.length, new Set(served).size],
    state: [channel.state, isWithdrawn ? 'stopped' : 'open'],
    reason: [channel.reason, isWithdrawn ? 'withdrawal' : undefined],
    charged: [channel.charged, sum],
    claimed: [onChain.claimed, sum],
    balance: [onChain.balance, deposits * deposit - paidBack],
    'balance on record': [channel.balance, deposits * deposit - paidBack],
    seller: [await balanceOf(recipient), sum],
    buyer: [await balanceOf(buyer.address), paidBack],
    health: [health.ok, true],
    // It may have died in the handler, or before it wrote the charge.
    'runs of the killed': [
      ran.filter((path) => path === killed).length <= 2,
      true,
    ],
    'runs of the others': [
      ran.filter((path) => path !== killed).sort(),
      others.sort(),
    ],
  }
  return Object.entries(facts).flatMap(([name, [found, wanted]]) =>
    show(found) === show(wanted)
      ? []
      : [`${name} is ${show(found)}, not ${show(wanted)}`],
  )
}

/** Has the buyer take what is left, once the delay is over. */
async function endWithdrawal(stage: Stage): Promise<string[]> {
  const { scene, buyer, served } = stage
  if (!scene.downFor) return []
  await chain.warp(withdrawDelay - scene.downFor)
  await sendAsBuyer(stage, (config) => finalizeWithdrawCall({ config }))
  const left = scene.deposit - BigInt(served.length) * most
  const found = await balanceOf(buyer.address)
  return found === left ? [] : [`the buyer has ${found}, not ${left}`]
}

const show = (value: unknown): string =>
  Array.isArray(value) ? value.join(' ') : String(value)
