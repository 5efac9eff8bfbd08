import { execFile } from 'node:child_process'
import process from 'node:process'
import { promisify } from 'node:util'
import { encodePayment, preparePayment, signPayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { compareTimes, type Row } from './compare.js'

const peer = 'the same with the root of viem imported'

const rounds = 15

/** Prints the milliseconds since the first line of a program ran. */
const timed = (program: string): string => `
  const start = performance.now()
  ${program}
  console.log(performance.now() - start)
`

const importAlone = timed(`await import('countersign')`)

const firstVerdict = timed(`
  const [, url, text, token, to] = process.argv
  const { decodePayment, verifyPayment } = await import('countersign')
  const { createReadClient } = await import('countersign/reads')
  const payment = decodePayment(text)
  const expect = { token, to, amount: '1.25' }
  const client = createReadClient({ url })
  const verdict = await verifyPayment(client, { payment, expect })
  if (!verdict.ok) throw new Error(verdict.reason)
`)

/**
 * The build for Node against the plain build, which imports viem from its root.
 * Each runs in a process of its own, whose start is not counted.
 */
export async function benchImport(): Promise<Row[]> {
  const chain = await startDevChain({ blockTime: 0 })
  try {
    const words = await wordsOf(chain)
    return [
      {
        name: "import 'countersign'",
        peer,
        goal: 10,
        unit: 'time',
        ...(await race(importAlone)),
      },
      {
        name: 'import and first verdict',
        peer,
        goal: 4,
        unit: 'time',
        ...(await race(firstVerdict, words)),
      },
    ]
  } finally {
    await chain.stop()
  }
}

async function race(
  program: string,
  words: readonly string[] = [],
): Promise<Pick<Row, 'ratio' | 'sides'>> {
  const { ratios, milliseconds } = await compareTimes('node', {
    rounds,
    prepare: () => ({
      node: (time) => time(() => runApart('node', program, words)),
      plain: (time) => time(() => runApart('module', program, words)),
    }),
  })
  const { node: own = Number.NaN, plain: peer = Number.NaN } = milliseconds
  return { ratio: ratios.plain ?? Number.NaN, sides: { own, peer, unit: 'ms' } }
}

/** Gives what the program printed: milliseconds. */
async function runApart(
  condition: string,
  program: string,
  words: readonly string[],
): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-C',
    condition,
    '--eval',
    program,
    ...words,
  ])
  return Number(stdout)
}

/** What the program needs to judge one payment. */
async function wordsOf(chain: DevChain): Promise<string[]> {
  const { payer, merchant, public: reader } = chain.clients
  const { token } = chain
  const order = { token, to: merchant.account.address, amount: '1.25' }
  const payment = await preparePayment(reader, {
    ...order,
    from: payer.account.address,
  })
  const { chainId } = payment.domain
  const signed = await signPayment(payer, {
    payment,
    expect: { ...order, chainId },
  })
  return [chain.urls.http, encodePayment(signed), token, order.to]
}
