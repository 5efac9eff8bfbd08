import { expect, test } from 'vitest'
import {
  drawDestination,
  sampleProof,
} from '../../../test/storeCases/samples.js'
import type { ProofRecord } from '../../store/types.js'
import { seededRandom } from '../../testing/seededRandom.js'
import type { RecordedRange } from './auditRange.js'
import { auditPace, planAudit } from './planAudit.js'

const destination = drawDestination()

const proofAt = (blockNumber: bigint): ProofRecord => ({
  ...sampleProof(destination, { blockNumber }),
  version: 1,
})

/** Yields stored payments page by page, as the store does. */
async function* pagesOf(proofs: readonly ProofRecord[], size: number) {
  for (let at = 0; at < proofs.length; at += size)
    yield proofs.slice(at, at + size)
}

async function collect(
  ranges: AsyncIterable<RecordedRange>,
): Promise<RecordedRange[]> {
  const all: RecordedRange[] = []
  for await (const range of ranges) all.push(range)
  return all
}

test('the ranges of an audit hold each block and each proof once', async () => {
  const random = seededRandom(5)
  const pick = (count: number) => Math.floor(random() * count)
  for (let run = 0; run < 200; run++) {
    let block = BigInt(1 + pick(5))
    const proofs = Array.from({ length: pick(60) }, () => {
      block += BigInt(random() < 0.6 ? 0 : pick(40))
      return proofAt(block)
    })
    const blocks = { fromBlock: 0n, toBlock: BigInt(pick(400)) }
    const pace = { blocks: BigInt(1 + pick(50)) }
    const pages = pagesOf(proofs, 1 + pick(9))
    const ranges = await collect(planAudit(pages, blocks, pace))
    let next = blocks.fromBlock
    for (const { fromBlock, toBlock, recorded } of ranges) {
      expect(fromBlock).toBe(next)
      expect(toBlock - fromBlock).toBeLessThan(pace.blocks)
      for (const { blockNumber } of recorded) {
        expect(blockNumber).toBeGreaterThanOrEqual(fromBlock)
        expect(blockNumber).toBeLessThanOrEqual(toBlock)
      }
      next = toBlock + 1n
    }
    expect(next).toBe(blocks.toBlock + 1n)
    expect(ranges.flatMap(({ recorded }) => recorded)).toEqual(
      proofs.filter(({ blockNumber }) => blockNumber <= blocks.toBlock),
    )
  }
})

test('a range ends with a page of the record, and reads no further page', async () => {
  const proofs = Array.from({ length: 1_000 }, (_, at) => proofAt(BigInt(at)))
  let pages = 0
  const counted = async function* () {
    for await (const page of pagesOf(proofs, 100)) {
      pages++
      yield page
    }
  }
  const blocks = { fromBlock: 0n, toBlock: 999n }
  let ranges = 0
  for await (const { recorded } of planAudit(counted(), blocks, {
    blocks: 2_000n,
  })) {
    expect(recorded.length).toBeLessThanOrEqual(101)
    expect(pages).toBeLessThanOrEqual(++ranges)
  }
  expect(ranges).toBeGreaterThanOrEqual(10)
})

test('ranges become narrower where much is found, and wider where little is', () => {
  const pace = auditPace()
  pace.note(10_000, pace.blocks)
  expect(pace.blocks).toBe(3n)
  pace.note(100_000, 1n)
  expect(pace.blocks).toBe(1n)
  for (let step = 0; step < 20; step++) pace.note(0, pace.blocks)
  expect(pace.blocks).toBe(2000n)
})
