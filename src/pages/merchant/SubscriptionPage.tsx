import { type ReactNode, useCallback } from 'react'
import { BackLink } from '../ui/BackLink.js'
import { Card } from '../ui/Card.js'
import { Notice } from '../ui/Notice.js'
import { Skeleton } from '../ui/Skeleton.js'
import type { MerchantApi } from './merchantApi.js'
import { ChargesCard, SubscriptionsTable } from './SubscriptionsPage.js'
import { useShop } from './shop.js'
import { useRepeated } from './useRepeated.js'
import { useRequest } from './useRequest.js'

/** Shows one subscription and its charges. */
export function SubscriptionPage({
  api,
  subscriptionId,
}: {
  api: MerchantApi
  subscriptionId: string
}): ReactNode {
  const { root } = useShop()
  const ask = useCallback(
    () => api.subscription(subscriptionId),
    [api, subscriptionId],
  )
  const { answer, problem, run } = useRequest(ask)
  useRepeated(run)
  return (
    <div className="stack stack-wide">
      <p>
        <BackLink href={`${root}subscriptions`}>All subscriptions</BackLink>
      </p>
      <div className="page-head">
        <div>
          <h1>Subscription</h1>
          <p className="mono">{subscriptionId}</p>
        </div>
      </div>
      {problem && <Notice tone="bad" title={problem} />}
      {!answer && !problem && (
        <Skeleton lines={4} label="Loading the subscription" />
      )}
      {answer && (
        <>
          <Card flush title="State">
            <SubscriptionsTable rows={[answer]} />
          </Card>
          <ChargesCard api={api} of={answer} />
        </>
      )}
    </div>
  )
}
