import type { ReactNode } from 'react'
import { Button } from '../../../../src/pages/ui/Button.js'
import { Dialog } from '../../../../src/pages/ui/Dialog.js'
import { Icon } from '../../../../src/pages/ui/Icon.js'
import './wallet.css'

/** A question of the wallet’s, so that nobody takes it for the page’s. */
export function WalletFrame({
  title,
  approve,
  onApprove,
  onReject,
  children,
}: {
  title: string
  /** What the button says that agrees. */
  approve: string
  onApprove: () => void
  onReject: () => void
  children: ReactNode
}): ReactNode {
  return (
    <Dialog
      open
      title={title}
      onClose={onReject}
      actions={
        <>
          <Button onClick={onReject}>Reject</Button>
          <Button variant="primary" onClick={onApprove}>
            {approve}
          </Button>
        </>
      }
    >
      <p className="wallet-mark">
        <Icon name="wallet" size={16} />
        Development wallet: real signatures, test money
      </p>
      {children}
    </Dialog>
  )
}
