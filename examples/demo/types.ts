import type {
  CaptureProof,
  PaymentOutcome,
  SignPaymentExpectation,
} from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type { Order } from 'countersign/orders'
import type { Shop } from './openShop.js'

export type Hash = CaptureProof['transactionHash']

type Actor = 'payer' | 'merchant' | 'worker' | 'token' | 'chain'

/** Token units by who holds them. */
export type Balances = { payer: bigint; merchant: bigint; savings: bigint }

/** One order, and what has to become of it. */
export type Story = {
  id: string
  title: string
  play(scene: Scene): Promise<Ending>
  /** How chain and record have to see it in the end. */
  ends: { chain: PaymentOutcome['status']; order: Order['state'] }
  /** Who has how much more, or less, in the end; nobody where left out. */
  moves?(units: { amount: bigint; purse: bigint }): Partial<Balances>
}

/** What the chain made of the payment, and what the merchant has on record. */
export type Ending = { outcome: PaymentOutcome; order: Order }

/** What a story has to play with. */
export type Scene = {
  chain: DevChain
  shop: Shop
  /** What the payer's page knows of the payment without being told. */
  expect: SignPaymentExpectation
  /** Adds a line to the timeline, with what a transaction cost. */
  tell(actor: Actor, step: string, hash?: Hash): Promise<void>
}

/** One line of the timeline. */
export type Step = {
  /** Seconds of chain time since the first story began. */
  time: number
  actor: Actor
  step: string
  transaction?: { hash: Hash; reverted: boolean; gasUsed: bigint }
}

/** A story as it went. */
export type Played = {
  id: string
  title: string
  asTold: boolean
  /** What was otherwise than told. */
  problem?: string | undefined
  outcome?: PaymentOutcome | undefined
  order?: Order | undefined
  steps: readonly Step[]
  balances: { before: Balances; after: Balances }
}

/** All stories as they went. */
export type Run = {
  asTold: boolean
  /** A decimal, in whole tokens. */
  amount: string
  /** Where the chain listened while the stories were played. */
  url: string
  token: DevChain['token']
  chainId: number
  /** Of this machine's time. */
  seconds: number
  stories: readonly Played[]
}

/** Tells an audience what happens while it happens. */
export type Narrator = {
  open(run: Omit<Run, 'asTold' | 'seconds' | 'stories'>): void
  begin(story: Story): void
  tell(step: Step): void
  end(played: Played): void
  close(run: Run): void
}
