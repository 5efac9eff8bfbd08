import { type ReactNode, useSyncExternalStore } from 'react'
import { getQuestion, type OpenQuestion, watchQuestion } from './askUser.js'
import { ConnectDialog } from './ConnectDialog.js'
import { SignDialog } from './SignDialog.js'
import { SwitchDialog } from './SwitchDialog.js'
import type { WalletMemory } from './walletMemory.js'

export type WalletDialogProps<ask extends OpenQuestion['ask']> = {
  question: Extract<OpenQuestion, { ask: ask }>
  memory: WalletMemory
  /** Resolves once the everyday account holds test money. */
  funded: Promise<unknown>
}

/** The wallet's own windows, apart from the page's. */
export function WalletDialogs({
  memory,
  funded,
}: Omit<WalletDialogProps<never>, 'question'>): ReactNode {
  const question = useSyncExternalStore(watchQuestion, getQuestion)
  switch (question?.ask) {
    case 'connect':
      return (
        <ConnectDialog question={question} memory={memory} funded={funded} />
      )
    case 'switch':
      return <SwitchDialog question={question} memory={memory} />
    case 'sign':
      return <SignDialog question={question} memory={memory} />
    default:
      return null
  }
}
