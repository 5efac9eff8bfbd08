import type { ReactNode } from 'react'
import { Button } from '../../../../src/pages/ui/Button.js'
import { Dialog } from '../../../../src/pages/ui/Dialog.js'
import { useWallets } from '../wallet/announcedWallets.js'
import type { AnnouncedWallet } from '../wallet/types.js'

/** Which of the browser’s wallets signs. */
export function WalletDialog({
  open,
  onChoose,
  onClose,
}: {
  open: boolean
  onChoose: (wallet: AnnouncedWallet) => void
  onClose: () => void
}): ReactNode {
  const wallets = useWallets()
  return (
    <Dialog
      open={open}
      title="Choose a wallet"
      onClose={onClose}
      actions={<Button onClick={onClose}>Not now</Button>}
    >
      <p className="muted">
        Your wallet will show the payment again before you sign. If you have no
        wallet extension, choose the development wallet.
      </p>
      <ul className="wallets" aria-label="Wallets">
        {wallets.map((wallet) => (
          <li key={wallet.info.rdns}>
            <button
              type="button"
              className="wallet"
              onClick={() => onChoose(wallet)}
            >
              <img src={wallet.info.icon} alt="" width="32" height="32" />
              <span>{wallet.info.name}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
