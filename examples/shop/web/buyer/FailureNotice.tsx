import type { ReactNode } from 'react'
import { Button } from '../../../../src/pages/ui/Button.js'
import { Notice } from '../../../../src/pages/ui/Notice.js'
import { developmentChainId } from '../api/chain.js'
import { visitFaucet } from '../api/shop.js'
import { type Connection, changeAccount } from './connection.js'
import { explainFailure, type Purchase } from './explainFailure.js'
import type { Task } from './useTask.js'

/** What went wrong, with a button for what helps. */
export function FailureNotice({
  error,
  purchase,
  connection,
  run,
  onHelped,
}: {
  error: unknown
  purchase: Purchase
  connection: Connection | undefined
  run: Task['run']
  /** Goes on with what failed. */
  onHelped: (getConnection: () => Promise<Connection>) => void
}): ReactNode {
  const { title, text, tone, help } = explainFailure(error, purchase)
  const action = connection && help && (
    <span className="row">
      {help === 'switchNetwork' && (
        <Button
          size="small"
          onClick={() =>
            onHelped(async () => {
              await switchNetwork(connection)
              return connection
            })
          }
        >
          Switch network
        </Button>
      )}
      {help === 'testMoney' && (
        <Button
          size="small"
          onClick={() =>
            onHelped(async () => {
              await visitFaucet(connection.account)
              return connection
            })
          }
        >
          Get test money
        </Button>
      )}
      {help !== 'switchNetwork' && (
        <Button
          size="small"
          onClick={() => run(() => changeAccount(connection))}
        >
          Choose another account
        </Button>
      )}
    </span>
  )
  return (
    <Notice tone={tone} title={title} action={action}>
      {text}
    </Notice>
  )
}

function switchNetwork({ provider }: Connection): Promise<unknown> {
  return provider.request({
    method: 'wallet_switchEthereumChain',
    params: [{ chainId: `0x${developmentChainId.toString(16)}` }],
  })
}
