import type { ReactNode } from 'react'
import { Badge } from '../ui/Badge.js'
import { Card } from '../ui/Card.js'
import { Facts } from '../ui/Facts.js'
import { shortHex } from '../ui/format.js'
import { Link } from '../ui/Link.js'
import { Notice } from '../ui/Notice.js'
import { RelativeTime } from '../ui/RelativeTime.js'
import type { MerchantApi, TargetLag } from './merchantApi.js'
import { orderPath, useShop } from './shop.js'
import { useRepeated } from './useRepeated.js'
import { useRequest } from './useRequest.js'

/**
 * Shows how far the deliveries to each webhook target are. Shows nothing if
 * there is no target.
 */
export function WebhooksCard({ api }: { api: MerchantApi }): ReactNode {
  const { answer, problem, run } = useRequest(api.webhooks)
  useRepeated(run)
  const targets = answer?.targets ?? []
  if (targets.length === 0 && !problem) return null
  return (
    <Card title="Webhooks">
      <div className="stack">
        {problem && <Notice tone="bad" title={problem} />}
        <div className="grid">
          {targets.map((target) => (
            <Target key={target.name} target={target} />
          ))}
        </div>
      </div>
    </Card>
  )
}

function Target({ target }: { target: TargetLag }): ReactNode {
  const { name, cursor, newest, waitingSince, lastFailure } = target
  return (
    <div className="stack stack-tight">
      <h3>{name}</h3>
      <Facts
        items={[
          [
            'Waiting',
            waitingSince ? (
              <Badge key="w" tone="warn">
                since <At milliseconds={waitingSince} />
              </Badge>
            ) : (
              'nothing'
            ),
          ],
          ['Delivered to', `event ${cursor} of ${newest}`],
          [
            'Held up',
            target.putAsideCount > 0 && <HeldUp key="h" target={target} />,
          ],
          [
            'Last failure',
            lastFailure && (
              <span key="f">
                {lastFailure.status
                  ? `status ${lastFailure.status}`
                  : lastFailure.reason}
                , <At milliseconds={lastFailure.at} />
              </span>
            ),
          ],
        ]}
      />
    </div>
  )
}

/** The orders whose next event the receiver refuses. */
function HeldUp({
  target: { putAside, putAsideCount },
}: {
  target: TargetLag
}): ReactNode {
  const shop = useShop()
  const rest = putAsideCount - putAside.length
  return (
    <ul>
      {putAside.map(({ orderId, type, cursor, since }) => (
        <li key={cursor}>
          {type}
          {orderId !== undefined && (
            <>
              {' of '}
              <Link href={orderPath(shop, orderId)}>{shortHex(orderId)}</Link>
            </>
          )}
          , <At milliseconds={since} />
        </li>
      ))}
      {rest > 0 && <li>and {rest} more</li>}
    </ul>
  )
}

function At({ milliseconds }: { milliseconds: string }): ReactNode {
  return <RelativeTime at={Math.floor(Number(milliseconds) / 1000)} />
}
