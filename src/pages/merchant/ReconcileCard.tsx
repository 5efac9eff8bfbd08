import type { ReactNode } from 'react'
import type { Wire } from '../../http/schemas/answerTypes.js'
import type { ReconciliationReport } from '../../orders/index.js'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { Facts } from '../ui/Facts.js'
import { Notice } from '../ui/Notice.js'
import { RelativeTime } from '../ui/RelativeTime.js'
import type { MerchantApi } from './merchantApi.js'
import { useShop } from './shop.js'
import { useRequest } from './useRequest.js'

type Destination = Wire<ReconciliationReport>['destinations'][number]

/** Reads the chain again and writes entries that the record lacks. */
export function ReconcileCard({ api }: { api: MerchantApi }): ReactNode {
  const { canWrite } = useShop()
  const { answer, at, problem, isBusy, run } = useRequest(api.reconcile)
  const found = (answer?.destinations ?? []).reduce(
    (all, destination) => all + countOf(destination),
    0,
  )
  return (
    <Card
      title="Reconciliation"
      actions={
        canWrite && (
          <Button size="small" busy={isBusy} onClick={run}>
            {isBusy ? 'Reading the chain' : 'Reconcile now'}
          </Button>
        )
      }
    >
      <div className="stack">
        <p className="muted small">
          Reads the chain since the last final block and records everything the
          shop missed. The worker does the same all the time.
        </p>
        {problem && <Notice tone="bad" title={problem} />}
        {answer && (
          <Notice
            tone="good"
            title={
              found === 0
                ? 'Nothing was missing.'
                : `${found} ${found === 1 ? 'change was' : 'changes were'} written.`
            }
          >
            {at !== undefined && <RelativeTime at={Math.floor(at)} />}
          </Notice>
        )}
        {answer?.destinations.map((destination) => (
          <DestinationFacts
            key={
              destination.destination.recipient + destination.destination.token
            }
            destination={destination}
          />
        ))}
      </div>
    </Card>
  )
}

function DestinationFacts({
  destination,
}: {
  destination: Destination
}): ReactNode {
  return (
    <Facts
      items={[
        ['Blocks read', `${destination.fromBlock} to ${destination.toBlock}`],
        ['Captured', destination.captured > 0 && destination.captured],
        ['Canceled', destination.canceled > 0 && destination.canceled],
        ['Refund due', destination.unexpected > 0 && destination.unexpected],
        ['Overpaid', destination.overpaid > 0 && destination.overpaid],
        [
          'Without an order',
          destination.unmatched > 0 && destination.unmatched,
        ],
        [
          'Nonce used elsewhere',
          destination.consumed > 0 && destination.consumed,
        ],
      ]}
    />
  )
}

function countOf(destination: Destination): number {
  const { captured, canceled, consumed, unmatched } = destination
  return captured + canceled + consumed + unmatched
}
