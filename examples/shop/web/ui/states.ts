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
    text: 'The shop has the signed payment. No money has moved.',
  },
  capturing: {
    label: 'Capturing',
    tone: 'accent',
    text: 'The capture was sent to the network.',
    isBusy: true,
  },
  canceling: {
    label: 'Canceling',
    tone: 'warn',
    text: 'The buyer’s cancellation was sent to the network.',
    isBusy: true,
  },
  captured: {
    label: 'Captured',
    tone: 'good',
    text: 'The money arrived. The chain proves it.',
  },
  voided: {
    label: 'Voided',
    tone: 'warn',
    text: 'The shop gave up on this payment.',
  },
  canceled: {
    label: 'Canceled',
    tone: 'neutral',
    text: 'The payment is canceled on the chain and can never be captured.',
  },
  expired: {
    label: 'Expired',
    tone: 'neutral',
    text: 'The window closed and no money moved.',
  },
  consumed: {
    label: 'Nonce used elsewhere',
    tone: 'bad',
    text: 'The payment’s nonce was used for something else. Decide what to do with the order.',
  },
}

/** How sure the chain is, in words. */
export const finalityWords: Record<Finality, string> = {
  preconfirmed: 'pre-confirmed',
  included: 'in a block',
  safe: 'safe',
  finalized: 'final',
}
