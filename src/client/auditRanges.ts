import type { Answers } from '../http/schemas/answerTypes.js'
import { ask, type Pacing, readAnswer } from './ask.js'
import { ProblemError } from './errors.js'
import type { Line } from './line.js'
import type { Audit, AuditOptions } from './MerchantClient.js'
import { queryOf } from './queryOf.js'

type Part = Audit['destinations'][number]

const mostBlocks = 1_000_000n

/** Audits one range of blocks after the other, and adds the reports up. */
export async function auditRanges(
  line: Line,
  { fromBlock, toBlock, ...options }: AuditOptions = {},
): Promise<Audit> {
  const { blocks = 10_000n, onProgress, signal } = options
  const all = '/merchant/audit'
  const askFor = (range: Record<string, unknown>, pacing?: Pacing) => {
    const path = `${all}${queryOf(range)}`
    return ask<Audit>(line, { path, signal }, pacing)
  }
  if (fromBlock === undefined) return askFor({ toBlock })
  const lastBlock = toBlock ?? (await findLastBlock(line, signal))
  let whole: Audit = { ok: true, destinations: [] }
  let most = mostBlocks
  let wide = blocks
  let from = fromBlock
  do {
    const end = from + wide - 1n
    const to = end < lastBlock ? end : lastBlock
    const canNarrow = wide > 1n
    try {
      const range = { fromBlock: from, toBlock: to }
      const report = await askFor(range, (pause, failure) =>
        canNarrow && isLate(failure) ? undefined : pause,
      )
      const before = whole
      whole = readAnswer(line, all, () => addReport(before, report))
      onProgress?.({ fromBlock, toBlock: to, lastBlock })
      from = to + 1n
      wide = wide * 2n < most ? wide * 2n : most
    } catch (error) {
      if (!canNarrow || !isLate(error)) throw error
      wide /= 2n
      most = wide
    }
  } while (from <= lastBlock)
  return whole
}

/** True if the server ended the request because it took too long. */
function isLate(error: unknown): boolean {
  return error instanceof ProblemError && error.reason === 'timeout'
}

function addReport(whole: Audit, { destinations }: Audit): Audit {
  const added = destinations.map((part) => {
    const before = whole.destinations.find(({ destination }) =>
      isSame(destination, part.destination),
    )
    return before ? addPart(before, part) : part
  })
  const ok = added.every(({ differences }) => differences.length === 0)
  return { ok, destinations: added }
}

function isSame(one: Part['destination'], other: Part['destination']): boolean {
  return (
    one.chainId === other.chainId &&
    one.token === other.token &&
    one.recipient === other.recipient
  )
}

function addPart(before: Part, part: Part): Part {
  return {
    ...part,
    fromBlock: before.fromBlock,
    chain: addSum(before.chain, part.chain),
    captured: addSum(before.captured, part.captured),
    unmatched: addSum(before.unmatched, part.unmatched),
    refunded: addSum(before.refunded, part.refunded),
    differences: [...before.differences, ...part.differences],
  }
}

function addSum(one: Part['chain'], other: Part['chain']): Part['chain'] {
  const value = BigInt(one.value) + BigInt(other.value)
  return { count: one.count + other.count, value: String(value) }
}

async function findLastBlock(
  line: Line,
  signal: AbortSignal | undefined,
): Promise<bigint> {
  const path = '/merchant/health'
  const { chains } = await ask<Answers['Health']>(line, { path, signal })
  return readAnswer(line, path, () =>
    chains
      .map(({ block = '0' }) => BigInt(block))
      .reduce((high, one) => (one > high ? one : high), 0n),
  )
}
