import { describeOrder } from '../../client/describeOrder.js'
import type { Finality } from '../../core/types.js'
import type { OrderState } from '../../store/types.js'

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

export type StateWords = {
  label: string
  tone: Tone
  /** Describes the state to a merchant in one sentence. */
  text: string
  isBusy?: boolean | undefined
}

/** The look of each state's badge. */
const looks: Record<OrderState, Pick<StateWords, 'tone' | 'isBusy'>> = {
  drafted: { tone: 'neutral' },
  stored: { tone: 'accent' },
  capturing: { tone: 'accent', isBusy: true },
  canceling: { tone: 'warn', isBusy: true },
  captured: { tone: 'good' },
  voided: { tone: 'warn' },
  canceled: { tone: 'neutral' },
  expired: { tone: 'neutral' },
  consumed: { tone: 'bad' },
}

export const shownStates = Object.keys(looks) as readonly OrderState[]

/** Describes a state to a merchant, without the rest of the order. */
export function stateWords(state: OrderState): StateWords {
  const { state: label, detail } = describeOrder({ state }, { for: 'merchant' })
  return { ...looks[state], label, text: detail }
}

/** The words for each finality. */
export const finalityWords: Record<Finality, string> = {
  preconfirmed: 'pre-confirmed',
  included: 'in a block',
  safe: 'safe',
  finalized: 'final',
}
