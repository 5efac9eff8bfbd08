import { type ReactNode, useState } from 'react'
import { Button } from '../../../../src/pages/ui/Button.js'
import { useNow } from '../../../../src/pages/ui/clock.js'
import { Money } from '../../../../src/pages/ui/Money.js'
import { Notice } from '../../../../src/pages/ui/Notice.js'
import { developmentChainId } from '../api/chain.js'
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
  sending: 'Sending to the shop',
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
      <Notice tone="bad" title="You cannot pay here">
        This shop uses chain {config.chainId}. This demonstration takes payments
        on the development chain ({developmentChainId}) only.
      </Notice>
    )
  if (config.contradicted.length > 0)
    return (
      <Notice tone="bad" title="You cannot pay here">
        The shop’s server and this page disagree about:{' '}
        {config.contradicted.join(', ')}. Reload the page. If you see this
        message again, do not pay, and contact the shop.
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
      <Money
        amount={kept.amount}
        symbol={config.symbol}
        isCeiling={kept.total === 'atMost'}
        large
      />
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
          The shop does not answer. This page keeps trying. Leave it open: only
          this page has your signature.
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
