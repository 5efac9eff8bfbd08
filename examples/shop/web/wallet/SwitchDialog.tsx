import type { ReactNode } from 'react'
import { networkName } from './networks.js'
import type { WalletDialogProps } from './WalletDialogs.js'
import { WalletFrame } from './WalletFrame.js'

/** Whether to go to the chain the page asks for. */
export function SwitchDialog({
  question,
  memory,
}: Omit<WalletDialogProps<'switch'>, 'funded'>): ReactNode {
  const { selected: account } = memory
  const { chainId } = question
  return (
    <WalletFrame
      title="Switch the network?"
      approve="Switch network"
      onApprove={() => question.answer({ account, chainId })}
      onReject={() => question.answer(undefined)}
    >
      <p>
        The page asks to go from <strong>{networkName(memory.chainId)}</strong>{' '}
        to <strong>{networkName(chainId)}</strong>. This signs nothing.
      </p>
    </WalletFrame>
  )
}
