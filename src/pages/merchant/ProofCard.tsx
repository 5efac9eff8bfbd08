import { type ReactNode, useCallback, useEffect } from 'react'
import type { MerchantOrder } from '../../client/MerchantClient.js'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { EmptyState } from '../ui/EmptyState.js'
import { Icon } from '../ui/Icon.js'
import { Notice } from '../ui/Notice.js'
import { Skeleton } from '../ui/Skeleton.js'
import { checkProof, type ProofCheck } from './checkProof.js'
import type { MerchantApi } from './merchantApi.js'
import { useToken } from './shop.js'
import { useRequest } from './useRequest.js'

/**
 * Compares the record with the receipt from the shop's node, in this browser.
 */
export function ProofCard({
  api,
  order,
}: {
  api: MerchantApi
  order: MerchantOrder
}): ReactNode {
  const { symbol } = useToken(order)
  const { chainId } = order
  const hash = (order.capture ?? order.cancellation)?.transactionHash
  const ask = useCallback(
    () =>
      hash
        ? api.receipt(chainId, hash)
        : Promise.resolve({ receipt: null, canonical: null }),
    [api, chainId, hash],
  )
  const { answer, problem, isBusy, run } = useRequest(ask)
  useEffect(() => {
    if (hash) void run()
  }, [hash, run])
  if (!hash)
    return (
      <Card title="Proof">
        <EmptyState level={3} title="Nothing to prove yet" icon="info">
          When this order has settled on the chain, your browser reads the proof
          from the chain and checks it here.
        </EmptyState>
      </Card>
    )
  const checks =
    answer?.receipt === undefined ? [] : checkProof(order, answer, symbol)
  return (
    <Card
      title="Proof"
      actions={
        <Button size="small" busy={isBusy} onClick={run}>
          Check again
        </Button>
      }
    >
      <div className="stack">
        {problem && (
          <Notice tone="bad" title="The chain does not answer.">
            The proof can be checked when it answers again.
          </Notice>
        )}
        {!answer && !problem && (
          <Skeleton lines={4} label="Reading the chain" />
        )}
        {checks.length > 0 && <Verdict checks={checks} />}
        <ul className="checks">
          {checks.map(({ key, ok, title, found }) => (
            <li key={key} data-ok={ok}>
              <span className="check-mark">
                <Icon name={ok ? 'check' : 'cross'} size={14} />
              </span>
              <span className="visually-hidden">
                {ok ? 'Passed: ' : 'Failed: '}
              </span>
              <span>{title}</span>
              <span className="muted check-found">{found}</span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}

function Verdict({ checks }: { checks: readonly ProofCheck[] }): ReactNode {
  const failed = checks.filter(({ ok }) => !ok)
  return failed.length === 0 ? (
    <Notice tone="good" title="The proof is valid">
      The blockchain confirms this payment: every detail matches your records.
    </Notice>
  ) : (
    <Notice tone="bad" title="The proof is not valid.">
      {`These checks failed: ${failed.map(({ title }) => title).join('; ')}.`}
    </Notice>
  )
}
