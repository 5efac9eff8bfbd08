import { existsSync, readFileSync } from 'node:fs'
import type { Address } from 'viem'
import { fundedAccount } from './desk.js'
import { type Lag, type LateNode, startLateNodes } from './lateNode.js'
import { balanceOf, chain, price, signFor } from './x402Desk.js'

type Answer = (request: Request) => Promise<Response>

/** Gates of one merchant over one database, each before a node of its own. */
export type Gates = {
  answers: readonly Answer[]
  nodes: readonly LateNode[]
  /** The file to which each run of a handler adds its order. */
  runs: string
}

/** Requests with one payment, and when each comes to which gate. */
type Schedule = {
  flow: 'work' | 'upfront'
  /** Milliseconds that the handler takes. */
  takes: number
  /** The price times this is what the payer has. */
  funds: bigint
  sends: readonly { gate: number; at: number }[]
}

/** Some payments at once, while the nodes are behind and slow. */
export type Round = { lags: readonly Lag[]; schedules: readonly Schedule[] }

const most = 2_000

export function drawRound(
  chance: () => number,
  { gates, payments }: { gates: number; payments: number },
): Round {
  const below = (limit: number) => Math.floor(chance() * limit)
  // With two processes, the third gets no request.
  const used = 2 + below(gates - 1)
  return {
    lags: Array.from({ length: gates }, () => ({
      behind: chance() < 0.4 ? 0 : below(most),
      slow: chance() < 0.4 ? 0 : below(700),
    })),
    schedules: Array.from({ length: payments }, () => ({
      flow: chance() < 0.5 ? 'work' : 'upfront',
      takes: chance() < 0.5 ? 0 : below(600),
      funds: chance() < 0.5 ? 1n : 3n,
      sends: Array.from({ length: 2 + below(3) }, (_, index) => ({
        gate: index < 2 ? index % used : below(used),
        at: below(chance() < 0.5 ? 60 : 1_500),
      })),
    })),
  }
}

/** What is wrong after a round; nothing must be. */
export async function runRound(
  gates: Gates,
  { lags, schedules }: Round,
): Promise<string[]> {
  const payers = await Promise.all(
    schedules.map((schedule) => openPayer(gates, schedule)),
  )
  for (const [index, node] of gates.nodes.entries()) {
    node.setLag(lags[index] ?? { behind: 0, slow: 0 })
    await node.catchUp()
  }
  const problems = await Promise.all(
    payers.map(async (payer) =>
      (await runSchedule(gates, payer)).map(
        (problem) => `${problem} after ${shown({ lags, ...payer.schedule })}`,
      ),
    ),
  )
  return problems.flat()
}

type Payer = {
  schedule: Schedule
  address: Address
  send(gate: number): Promise<Response>
}

async function openPayer(
  { answers }: Gates,
  schedule: Schedule,
): Promise<Payer> {
  const { flow, takes, funds } = schedule
  const account = await fundedAccount(chain, funds * price)
  const url = `https://shop.example/${flow}?takes=${takes}`
  const ask = (gate: number, headers = {}) => {
    const answer = answers[gate]
    if (!answer) throw new Error(`no gate ${gate}`)
    return answer(new Request(url, { headers }))
  }
  const header = await signFor(account, await ask(0))
  return {
    schedule,
    address: account.address,
    send: (gate) => ask(gate, { 'PAYMENT-SIGNATURE': header }),
  }
}

const shown = (value: object): string =>
  JSON.stringify(value, (_, member) =>
    typeof member === 'bigint' ? Number(member) : member,
  )

async function runSchedule(
  { runs }: Gates,
  { schedule: { funds, sends }, address, send }: Payer,
): Promise<string[]> {
  const answered = await Promise.all(
    sends.map(async ({ gate, at }) => {
      await pause(at)
      // A client sends the same payment again after a 503.
      for (let tries = 0; ; tries++) {
        const response = await send(gate)
        const text = await response.text()
        if (response.status !== 503 || tries === 30)
          return `${response.status} ${text}`
        await pause(200)
      }
    }),
  )
  const [first = ''] = answered
  const left = await balanceOf(address)
  const id = first.split(' ').at(-1) ?? ''
  const ran = existsSync(runs)
    ? readFileSync(runs, 'utf8')
        .split('\n')
        .filter((line) => line === id).length
    : 0
  return [
    ...answered
      .filter((text) => !text.startsWith('200 goods for x402-'))
      .map((text) => `was answered ${text}`),
    ...(new Set(answered).size === 1 ? [] : ['was answered differently']),
    ...(left === (funds - 1n) * price ? [] : [`has ${left} left`]),
    ...(ran === 1 ? [] : [`ran ${ran} times`]),
  ]
}

const pause = (milliseconds: number) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Opens gates, each with a node of its own; `close` ends both. */
export async function openGates(
  { count, runs }: { count: number; runs: string },
  open: (url: string) => Promise<{ answer: Answer; close(): Promise<void> }>,
): Promise<Gates & { close(): Promise<void> }> {
  const nodes = await startLateNodes(chain, count)
  const opened = await Promise.all(nodes.map(({ url }) => open(url)))
  return {
    answers: opened.map(({ answer }) => answer),
    nodes,
    runs,
    close: async () => {
      await Promise.all(opened.map(({ close }) => close()))
      await Promise.all(nodes.map(({ stop }) => stop()))
    },
  }
}
