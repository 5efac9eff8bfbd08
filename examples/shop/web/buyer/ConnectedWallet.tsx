import type { ReactNode } from 'react'
import { AddressText } from '../../../../src/pages/ui/AddressText.js'
import { Button } from '../../../../src/pages/ui/Button.js'
import { type Connection, changeAccount } from './connection.js'
import type { Task } from './useTask.js'

/** Whose signature it will be. */
export function ConnectedWallet({
  connection,
  run,
  disabled,
}: {
  connection: Connection
  run: Task['run']
  disabled: boolean
}): ReactNode {
  const { info, account } = connection
  return (
    <div className="connected">
      <img src={info.icon} alt="" width="28" height="28" />
      <span className="connected-words">
        <span>{info.name}</span>
        <AddressText address={account} label="your address" />
      </span>
      <Button
        size="small"
        variant="quiet"
        disabled={disabled}
        onClick={() => run(() => changeAccount(connection))}
      >
        Change account
      </Button>
    </div>
  )
}
