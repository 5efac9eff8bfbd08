import type { Address, Client } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { RunHead } from '../../chain/state/types.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { SignedPayment } from '../../core/types.js'
import type { Played } from './judgePlay.js'
import { type Play, planPlay, weightOf } from './planPlay.js'
import { type Heard, playAlone } from './playAlone.js'
import { playTogether } from './playTogether.js'
import type { RehearsalOptions } from './rehearse.js'
import type { Rehearsal } from './types.js'

export type RehearsePaymentsParameters = RehearsalOptions & {
  /** Of one token, and for Receive of one recipient; well-formed. */
  payments: readonly SignedPayment[]
  /** Sender of the transactions. */
  origin: Address
}

/** What rehearsals showed, in the order of their payments. */
export type RehearsedPayments = {
  /** The oldest block any of them was judged at. */
  head: RunHead
  rehearsals: readonly Rehearsal[]
  /** Token units before any of the payments; 0 where the token tells none. */
  payerBalances: readonly bigint[]
}

/** Nodes allow 50 million and more; the rest is for what is asked but once. */
const gasPerRequest = 44_000_000

/**
 * Plays the captures of many payments one after another on one state and undoes
 * them, about 250 a request: two that together exceed what their payer has are
 * not both fine. What the token's words leave open is rehearsed again alone, as
 * is a capture that takes more gas than most. One payment takes one request.
 *
 * A node that cannot play them together judges each for itself. The gas told of
 * a capture among others is a bound, not a measure.
 *
 * @throws {@link InvalidFieldError} when they are not of one kind, or malformed.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function rehearsePayments(
  client: Client,
  { payments, ...options }: RehearsePaymentsParameters,
): Promise<RehearsedPayments> {
  const plays = payments.map((payment) => planPlay(payment, options.maxGas))
  checkKind(payments)
  const played = new Map(
    (
      await Promise.all(
        chunkByPayer(plays).map((chunk) => playAll(client, chunk, options)),
      )
    ).flat(),
  )
  const all = await Promise.all(
    plays.map((play) => settle(client, play, options, played.get(play))),
  )
  const heads = all.map(({ rehearsal }) => rehearsal.head)
  return {
    head: heads.reduce((one, other) =>
      other.number < one.number ? other : one,
    ),
    rehearsals: refuseOverdrawn(plays, all),
    payerBalances: all.map(({ payerBalance }) => payerBalance),
  }
}

function checkKind(payments: readonly SignedPayment[]): void {
  const [first] = payments
  const isOdd = ({ domain, message, primaryType }: SignedPayment) =>
    domain.verifyingContract !== first?.domain.verifyingContract ||
    primaryType !== first.primaryType ||
    (primaryType === 'ReceiveWithAuthorization' &&
      message.to !== first.message.to)
  if (!first || payments.some(isOdd))
    throw new InvalidFieldError(
      'payments',
      payments.length,
      'payments of one token, type and recipient',
    )
}

/** Chunks that fit a request, where there are several a payer's in one row. */
function chunkByPayer(plays: readonly Play[]): readonly (readonly Play[])[] {
  if (weigh(plays) <= gasPerRequest) return [plays]
  const byPayer = new Map<Address, Play[]>()
  for (const play of plays) {
    const { payer } = play.act
    const group = byPayer.get(payer) ?? []
    byPayer.set(payer, group)
    group.push(play)
  }
  const chunks: Play[][] = []
  for (const play of [...byPayer.values()].flat()) {
    const chunk = chunks.at(-1)
    if (chunk && weigh([...chunk, play]) <= gasPerRequest) chunk.push(play)
    else chunks.push([play])
  }
  return chunks
}

function weigh(plays: readonly Play[]): number {
  return plays.reduce((sum, play) => sum + weightOf(play), 0)
}

/** A run is what was played on one state. */
type Settled = Heard & { run: object | undefined }

type Told = readonly (readonly [Play, Played])[]

/** Plays a chunk together, or where that fails as much of it as goes. */
async function playAll(
  client: Client,
  plays: readonly Play[],
  options: RehearsalOptions,
): Promise<Told> {
  const [first, second, ...others] = plays
  if (!first || !second) return []
  try {
    return await playTogether(client, [first, second, ...others], options)
  } catch (error) {
    if (!(error instanceof NodeAnswerError)) throw error
    const alone = await playAlone(client, first, options)
    const told: Told = [[first, { ...alone, run: undefined }]]
    // Without overrides none can be played together.
    if (alone.rehearsal.head.via === 'calls') return told
    const half = Math.ceil(plays.length / 2)
    const halves = [plays.slice(1, half), plays.slice(half)]
    const rest = halves.map((half) => playAll(client, half, options))
    return [...told, ...(await Promise.all(rest)).flat()]
  }
}

async function settle(
  client: Client,
  play: Play,
  options: RehearsalOptions,
  { rehearsal, otherwise, payerBalance, run }: Partial<Played> = {},
): Promise<Settled> {
  if (rehearsal && payerBalance !== undefined)
    return { rehearsal, payerBalance, run }
  const alone = await playAlone(client, play, options)
  return {
    run: undefined,
    rehearsal: (alone.rehearsal.ok && otherwise) || alone.rehearsal,
    payerBalance: payerBalance ?? alone.payerBalance,
  }
}

/** Refuses what a payer cannot pay beside what was played on another state. */
function refuseOverdrawn(
  plays: readonly Play[],
  all: readonly Settled[],
): readonly Rehearsal[] {
  const recipients = new Set(plays.map(({ act }) => act.transfer.to))
  const spent = new Map<Address, { total: bigint; run: object | undefined }>()
  return all.map(({ rehearsal, payerBalance, run }, index) => {
    const transfer = plays[index]?.act.transfer
    if (!transfer || !rehearsal.ok || recipients.has(transfer.from))
      return rehearsal
    const { from, value } = transfer
    const before = spent.get(from)
    const total = (before?.total ?? 0n) + value
    const apart = before && (!run || run !== before.run)
    if (apart && total > payerBalance) {
      const { head, at } = rehearsal
      return { ok: false, head, at, reason: 'insufficientFunds' }
    }
    spent.set(from, { total, run: apart ? undefined : run })
    return rehearsal
  })
}
