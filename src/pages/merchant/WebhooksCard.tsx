import { type ReactNode, useState } from 'react'
import { Badge } from '../ui/Badge.js'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { Facts } from '../ui/Facts.js'
import { shortHex } from '../ui/format.js'
import { Link } from '../ui/Link.js'
import { Notice } from '../ui/Notice.js'
import { RelativeTime } from '../ui/RelativeTime.js'
import type { MerchantApi, TargetLag } from './merchantApi.js'
import { ReplayDialog } from './ReplayDialog.js'
import { orderPath, useShop } from './shop.js'
import { useRepeated } from './useRepeated.js'
import { useRequest } from './useRequest.js'
import { wordsOf } from './wordsOf.js'

type Result = { tone: 'good' | 'bad'; title: string; text: string }

/**
 * Shows how far the deliveries to each webhook target are, and lets a merchant
 * replay events. Shows nothing if there is no target.
 */
export function WebhooksCard({ api }: { api: MerchantApi }): ReactNode {
  const { canWrite } = useShop()
  const { answer, problem, run } = useRequest(api.webhooks)
  useRepeated(run)
  const [asked, setAsked] = useState<string>()
  const [result, setResult] = useState<Result>()
  const { targets = [], mayReplay } = answer ?? {}
  if (targets.length === 0 && !problem) return null
  async function replay(target: string, since: number): Promise<void> {
    setAsked(undefined)
    setResult(undefined)
    try {
      await api.replayWebhooks(target, since)
      setResult({
        tone: 'good',
        title: `Replay to ${target} requested.`,
        text: `Every event since ${new Date(since).toLocaleString()} is delivered once more. It begins within ten seconds if your webhooks are running.`,
      })
    } catch (error) {
      setResult({
        tone: 'bad',
        title: `Nothing is replayed to ${target}.`,
        text: wordsOf(error),
      })
    }
    await run()
  }
  return (
    <Card title="Webhooks">
      <div className="stack">
        {problem && <Notice tone="bad" title={problem} />}
        {result && (
          <Notice tone={result.tone} title={result.title}>
            {result.text}
          </Notice>
        )}
        <div className="grid">
          {targets.map((target) => (
            <Target
              key={target.name}
              target={target}
              onReplay={
                canWrite && mayReplay ? () => setAsked(target.name) : undefined
              }
            />
          ))}
        </div>
      </div>
      <ReplayDialog
        target={asked}
        onConfirm={replay}
        onClose={() => setAsked(undefined)}
      />
    </Card>
  )
}

function Target({
  target,
  onReplay,
}: {
  target: TargetLag
  /** Absent if the merchant may not replay events. */
  onReplay: (() => void) | undefined
}): ReactNode {
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
          ['Replay', target.isReplayRequested && 'requested, not begun'],
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
      {onReplay && (
        <div className="row target-actions">
          <Button
            size="small"
            aria-label={`Replay events to ${name}`}
            onClick={onReplay}
          >
            Replay events
          </Button>
        </div>
      )}
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
