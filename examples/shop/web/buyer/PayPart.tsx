import { type ReactNode, useState } from 'react'
import { developmentChainId } from '../api/chain.js'
import { Button } from '../ui/Button.js'
import { useNow } from '../ui/clock.js'
import { Money } from '../ui/Money.js'
import { Notice } from '../ui/Notice.js'
import type { AnnouncedWallet } from '../wallet/types.js'
import { authorizePayment, type PayPhase } from './authorizePayment.js'
import { ConnectedWallet } from './ConnectedWallet.js'
import { type Connection, connect, useConnection } from './connection.js'
import { FailureNotice } from './FailureNotice.js'
import type { OrderPartProps } from './OrderPanel.js'
import type { Paying } from './usePaying.js'
import { WalletDialog } from './WalletDialog.js'

const phaseWords: Record<PayPhase, string> = {
  checking: 'Checking',
  signing: 'Confirm in your wallet',
  sending: 'Handing it to the shop',
}

/** What is paid, and the button. */
export function PayPart({
  access,
  config,
  kept,
  followed,
  paying,
}: OrderPartProps & { paying: Paying }): ReactNode {
  const connection = useConnection()
  const { isRunning, error, run, phase, onPhase, isOpen } = paying
  const [isChoosing, setChoosing] = useState(false)
  const [isLost, setLost] = useState(false)
  const isOver = useNow() >= Number(followed.order.window.validBefore)
  const purchase = { ...config, amount: kept.amount }

  if (config.chainId !== developmentChainId)
    return (
      <Notice tone="bad" title="Nothing is signed here">
        This shop is set up for chain {config.chainId}. The page is a
        demonstration and signs for the development chain ({developmentChainId})
        only.
      </Notice>
    )
  if (config.contradicted.length > 0)
    return (
      <Notice tone="bad" title="Nothing is signed here">
        The shop’s server names other terms than this page was built with:{' '}
        {config.contradicted.join(', ')}. Load the page again. If this message
        stays, do not pay, and tell the shop.
      </Notice>
    )

  function pay(getConnection: () => Promise<Connection>): void {
    run(async (signal) => {
      try {
        const connection = await getConnection()
        const order = await authorizePayment({
          access,
          connection,
          kept,
          onPhase,
          onReachable: (isReachable) => setLost(!isReachable),
          isOpen,
          signal,
        })
        followed.show(order, 'drafted')
      } finally {
        onPhase(undefined)
      }
    })
  }
  function choose(wallet: AnnouncedWallet): void {
    setChoosing(false)
    pay(() => connect(wallet))
  }
  return (
    <>
      <Money amount={kept.amount} symbol={config.symbol} large />
      {connection && (
        <ConnectedWallet
          connection={connection}
          run={run}
          disabled={isRunning}
        />
      )}
      {error !== undefined && (
        <FailureNotice
          error={error}
          purchase={purchase}
          connection={connection}
          run={run}
          onHelped={pay}
        />
      )}
      {isLost && isRunning && (
        <p role="status">
          The shop does not answer; trying again until it does. Leave this page
          open: your signature is kept in it and nowhere else.
        </p>
      )}
      <Button
        variant="primary"
        wide
        busy={isRunning}
        disabled={isOver}
        onClick={() =>
          connection ? pay(async () => connection) : setChoosing(true)
        }
      >
        {isRunning
          ? phase
            ? phaseWords[phase]
            : 'Waiting for your wallet'
          : 'Authorize payment'}
      </Button>
      <WalletDialog
        open={isChoosing}
        onChoose={choose}
        onClose={() => setChoosing(false)}
      />
    </>
  )
}
