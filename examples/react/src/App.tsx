import { describeOrder } from 'countersign/client'
import { useOrder } from 'countersign/wagmi'
import { useConnect, useConnection, useConnectors } from 'wagmi'
import { offer } from './offer.js'
import { PayButton } from './PayButton.js'

// A fragment stays in the browser, so the token reaches no log.
const [orderId = '', buyerToken = ''] = location.hash.slice(1).split('.')
const order = { url: '/payments', orderId, buyerToken }

export function App() {
  const { data, error, refetch } = useOrder(order)
  const { isConnected } = useConnection()
  const connectors = useConnectors()
  const { mutate: connect } = useConnect()
  const words = data && describeOrder(data, { for: 'buyer', symbol: 'USDC' })

  return (
    <main>
      <h1>{offer.amount} USDC</h1>
      <p role="status">{words?.state ?? error?.message ?? 'Loading'}</p>
      <p>{words?.detail}</p>
      {data?.state === 'drafted' && isConnected && (
        <PayButton order={order} onPaid={() => refetch()} />
      )}
      {data?.state === 'drafted' &&
        !isConnected &&
        connectors.map((connector) => (
          <button
            key={connector.uid}
            type="button"
            onClick={() => connect({ connector })}
          >
            {connector.name}
          </button>
        ))}
    </main>
  )
}
