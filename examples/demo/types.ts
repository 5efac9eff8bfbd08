import type {
  CaptureProof,
  PaymentOutcome,
  PreparePaymentParameters,
  SignPaymentExpectation,
} from 'countersign'
import type { DevChain } from 'countersign/devchain'

export type Hash = CaptureProof['transactionHash']

type Actor = 'payer' | 'merchant' | 'relayer' | 'token' | 'chain'

/** Token units by who holds them. */
export type Balances = { payer: bigint; merchant: bigint; savings: bigint }

/** One payment, and what has to become of it. */
export type Story = {
  id: string
  title: string
  play(scene: Scene): Promise<PaymentOutcome>
  /** How the chain has to see the payment in the end. */
  ends: PaymentOutcome['status']
  /** Who has how much more, or less, in the end; nobody where left out. */
  moves?(units: { amount: bigint; purse: bigint }): Partial<Balances>
}

/** What a story has to play with. */
export type Scene = {
  chain: DevChain
  /** What the merchant asks for. */
  order: PreparePaymentParameters
  /** What the page and the merchant know of it without being told. */
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
