import type { Finality } from 'countersign'
import type { OrderState } from 'countersign/store'

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

export type StateWords = {
  label: string
  tone: Tone
  /** One sentence for a merchant. */
  text: string
  isBusy?: boolean | undefined
}

export const stateWords: Record<OrderState, StateWords> = {
  drafted: {
    label: 'Awaiting signature',
    tone: 'neutral',
    text: 'The buyer has not signed yet.',
  },
  stored: {
    label: 'Authorized',
    tone: 'accent',
    text: 'The signed payment is checked and kept. No money has moved.',
  },
  capturing: {
    label: 'Capturing',
    tone: 'accent',
    text: 'The capture is on its way to the chain.',
    isBusy: true,
  },
  canceling: {
    label: 'Canceling',
    tone: 'warn',
    text: 'The buyer’s cancellation is on its way to the chain.',
    isBusy: true,
  },
  captured: {
    label: 'Captured',
    tone: 'good',
    text: 'The money arrived; the chain proves it.',
  },
  voided: {
    label: 'Voided',
    tone: 'warn',
    text: 'The shop gave up on this payment.',
  },
  canceled: {
    label: 'Canceled',
    tone: 'neutral',
    text: 'The chain made this payment unusable.',
  },
  expired: {
    label: 'Expired',
    tone: 'neutral',
    text: 'The window closed and no money moved.',
  },
  consumed: {
    label: 'Needs a look',
    tone: 'bad',
    text: 'The payer spent the nonce on something else. Somebody has to decide.',
  },
}

/** How sure the chain is, in words. */
export const finalityWords: Record<Finality, string> = {
  preconfirmed: 'pre-confirmed',
  included: 'in a block',
  safe: 'safe',
  finalized: 'final',
}
