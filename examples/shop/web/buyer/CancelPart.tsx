import { type ReactNode, useState } from 'react'
import { Button, ButtonLink } from '../../../../src/pages/ui/Button.js'
import { Notice } from '../../../../src/pages/ui/Notice.js'
import { cancelPayment } from './cancelPayment.js'
import { type Connection, connect, useConnection } from './connection.js'
import { FailureNotice } from './FailureNotice.js'
import type { OrderPartProps } from './OrderPanel.js'
import { useTask } from './useTask.js'
import { WalletDialog } from './WalletDialog.js'

const cancelable = ['stored', 'capturing', 'voided']
const over = ['canceled', 'expired', 'voided']

/** The way back, while there is one, and a new beginning after it. */
export function CancelPart({
  access,
  config,
  kept,
  followed,
}: OrderPartProps): ReactNode {
  const { state } = followed.order
  const connection = useConnection()
  const { isRunning, error, run } = useTask()
  const [isChoosing, setChoosing] = useState(false)
  const wasSigned = followed.times.accepted !== undefined
  const canCancel = cancelable.includes(state) && wasSigned
  const isOver = over.includes(state)
  const isKept =
    followed.newest === 'cancellationAccepted' && state === 'capturing'

  function cancel(getConnection: () => Promise<Connection>): void {
    run(async (signal) => {
      const connection = await getConnection()
      const order = await cancelPayment({ access, connection, signal })
      followed.show(order, state)
    })
  }
  return (
    <>
      {isKept && (
        <Notice tone="warn" title="The shop is charging this payment">
          The shop keeps your cancellation and sends it if the charge fails. If
          the charge succeeds, you have paid.
        </Notice>
      )}
      {error !== undefined && canCancel && !isKept && (
        <FailureNotice
          error={error}
          purchase={{ ...config, amount: kept.amount }}
          connection={connection}
          run={run}
          onHelped={cancel}
        />
      )}
      {(canCancel || isOver) && (
        <div className="row">
          {canCancel && (
            <Button
              busy={isRunning}
              onClick={() =>
                connection ? cancel(async () => connection) : setChoosing(true)
              }
            >
              {isRunning ? 'Canceling' : 'Cancel payment'}
            </Button>
          )}
          {isOver && (
            <ButtonLink href="/" variant={canCancel ? 'quiet' : 'primary'}>
              Order again
            </ButtonLink>
          )}
        </div>
      )}
      <WalletDialog
        open={isChoosing}
        onChoose={(wallet) => {
          setChoosing(false)
          cancel(() => connect(wallet))
        }}
        onClose={() => setChoosing(false)}
      />
    </>
  )
}
