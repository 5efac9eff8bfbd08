import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createMerchantClient } from 'countersign/client'
import type { DevChain } from 'countersign/devchain'
import { type Address, type Hex, parseAbiItem } from 'viem'
import { getBlock, getLogs } from 'viem/actions'
import type { Purchase } from './buy.js'

type Trial = {
  chain: DevChain
  recipient: Address
  purchases: readonly Purchase[]
  url: string
  merchantKey: string
  folder: string
}

/** What is left to say when all is over. */
export type Verdict = {
  captured: number
  chargedTwice: string[]
  /** Confirmed, and never captured. */
  lost: string[]
  /** Refunds that were confirmed, and are not paid. */
  unpaidRefunds: number
  refunded: number
  /** Seconds. */
  longestPause: number
  isAudited: boolean
  books: Books
}

/** `areRight` is absent if hledger is not installed. */
type Books = { areRight?: boolean; words: string }

const used = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)
const transfer = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
)

/** Seconds that the workers have to end what they began. */
const patience = 240

export async function judge(trial: Trial): Promise<Verdict> {
  const { purchases } = trial
  let seen = await look(trial)
  for (let waited = 0; waited < patience; waited += 5) {
    const isOver =
      purchases.every((one) => !one.isAccepted || seen.timesOf(one) > 0) &&
      seen.refunds >= purchases.filter((one) => one.isRefunded).length
    if (isOver) break
    await setTimeout(5_000)
    seen = await look(trial)
  }
  // A worker records within seconds what the chain shows.
  await setTimeout(10_000)
  const { url, merchantKey } = trial
  const merchant = createMerchantClient({ url, key: merchantKey })
  const { ok } = await merchant.audit()
  const asked = purchases.filter(({ isRefunded }) => isRefunded).length
  return {
    captured: seen.captures.length,
    chargedTwice: purchases
      .filter((one) => seen.timesOf(one) > 1)
      .map(({ id }) => id),
    lost: purchases
      .filter((one) => one.isAccepted && seen.timesOf(one) === 0)
      .map(({ id }) => id),
    refunded: seen.refunds,
    unpaidRefunds: asked - seen.refunds,
    longestPause: longestPause(seen.captures),
    isAudited: ok,
    books: await checkBooks(trial),
  }
}

async function look({ chain, recipient }: Trial) {
  const client = chain.clients.public
  const all = { address: chain.token, fromBlock: 0n } as const
  const [nonces, paid, back] = await Promise.all([
    getLogs(client, { ...all, event: used }),
    getLogs(client, { ...all, event: transfer, args: { to: recipient } }),
    getLogs(client, { ...all, event: transfer, args: { from: recipient } }),
  ])
  const isUsed = new Set(nonces.map(({ args }) => args.nonce))
  const blocks = [...new Set(paid.map(({ blockNumber }) => blockNumber))]
  const captures = await Promise.all(
    blocks.map((blockNumber) => getBlock(client, { blockNumber })),
  )
  return {
    captures: paid.flatMap(({ blockNumber }) =>
      captures
        .filter(({ number }) => number === blockNumber)
        .map(({ timestamp }) => Number(timestamp)),
    ),
    refunds: back.length,
    timesOf: (purchase: Purchase) =>
      [...purchase.nonces].filter((nonce: Hex) => isUsed.has(nonce)).length,
  }
}

function longestPause(times: readonly number[]): number {
  const sorted = [...times].sort((one, other) => one - other)
  return sorted.reduce(
    (most, time, at) => Math.max(most, time - (sorted[at - 1] ?? time)),
    0,
  )
}

/** Has hledger check the books, if it is installed. */
async function checkBooks({ url, merchantKey, folder }: Trial): Promise<Books> {
  const answer = await fetch(
    `${url}/merchant/ledger?format=hledger&transfers=true`,
    { headers: { authorization: `Bearer ${merchantKey}` } },
  )
  const file = join(folder, 'books.journal')
  writeFileSync(file, await answer.text())
  try {
    execFileSync('hledger', ['-f', file, 'check', '--strict'], {
      stdio: 'pipe',
    })
    return { areRight: true, words: 'balance' }
  } catch (error) {
    const { code, stderr } = Object(error)
    return code === 'ENOENT'
      ? { words: 'not checked: hledger is not installed' }
      : { areRight: false, words: String(stderr) }
  }
}
