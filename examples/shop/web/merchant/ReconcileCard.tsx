import type { ReconciliationReport } from 'countersign/orders'
import type { ReactNode } from 'react'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { Facts } from '../ui/Facts.js'
import { Notice } from '../ui/Notice.js'
import { RelativeTime } from '../ui/RelativeTime.js'
import type { MerchantApi } from './merchantApi.js'
import { useRequest } from './useRequest.js'
import type { Wire } from './wire.js'

type Scope = Wire<ReconciliationReport>['scopes'][number]

/** Reads the chain again and writes what the record lacks. */
export function ReconcileCard({ api }: { api: MerchantApi }): ReactNode {
  const { answer, at, problem, isBusy, run } = useRequest(api.reconcile)
  const found = (answer?.scopes ?? []).reduce(
    (all, scope) => all + countOf(scope),
    0,
  )
  return (
    <Card
      title="Reconciliation"
      actions={
        <Button size="small" busy={isBusy} onClick={run}>
          {isBusy ? 'Reading the chain' : 'Reconcile now'}
        </Button>
      }
    >
      <div className="stack">
        <p className="muted small">
          Reads the chain from the last final block on, and writes what nobody
          told the shop about. The worker does the same all the time.
        </p>
        {problem && <Notice tone="bad" title={problem} />}
        {answer && (
          <Notice
            tone="good"
            title={
              found === 0
                ? 'Nothing was missing.'
                : `${found} ${found === 1 ? 'thing was' : 'things were'} written.`
            }
          >
            {at !== undefined && <RelativeTime at={Math.floor(at)} />}
          </Notice>
        )}
        {answer?.scopes.map((scope) => (
          <ScopeFacts
            key={scope.scope.recipient + scope.scope.token}
            scope={scope}
          />
        ))}
      </div>
    </Card>
  )
}

function ScopeFacts({ scope }: { scope: Scope }): ReactNode {
  return (
    <Facts
      items={[
        ['Blocks read', `${scope.fromBlock} to ${scope.toBlock}`],
        ['Captured', scope.captured > 0 && scope.captured],
        ['Canceled', scope.canceled > 0 && scope.canceled],
        ['Refund due', scope.unexpected > 0 && scope.unexpected],
        ['Overpaid', scope.overpaid > 0 && scope.overpaid],
        ['Without an order', scope.unmatched > 0 && scope.unmatched],
        ['Spent elsewhere', scope.consumed > 0 && scope.consumed],
      ]}
    />
  )
}

function countOf(scope: Scope): number {
  const { captured, canceled, consumed, unmatched } = scope
  return captured + canceled + consumed + unmatched
}
