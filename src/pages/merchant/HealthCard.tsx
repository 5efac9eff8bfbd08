import type { ReactNode } from 'react'
import type { Answers } from '../../http/schemas/answerTypes.js'
import { AddressText } from '../ui/AddressText.js'
import { Badge } from '../ui/Badge.js'
import { Card } from '../ui/Card.js'
import { Facts } from '../ui/Facts.js'
import { Link } from '../ui/Link.js'
import { Notice } from '../ui/Notice.js'
import { RelativeTime } from '../ui/RelativeTime.js'
import { Skeleton } from '../ui/Skeleton.js'
import { Ether } from './Ether.js'
import { findHealthProblems } from './healthProblems.js'
import type { MerchantApi } from './merchantApi.js'
import { orderPath, subscriptionPath, useShop } from './shop.js'
import { useRepeated } from './useRepeated.js'
import { useRequest } from './useRequest.js'

type Health = Answers['Health']

/** Warn if a submitter has money for fewer captures than this. */
const fewCaptures = 100n

/** Approximate gas of one capture. */
const captureGas = 90_000n

/**
 * Shows submitters, chains and the progress of the record. Updates every few
 * seconds.
 */
export function HealthCard({ api }: { api: MerchantApi }): ReactNode {
  const shop = useShop()
  const { answer, problem, run } = useRequest(api.health)
  useRepeated(run)
  return (
    <Card
      title="Health"
      actions={answer && <Verdict health={answer} problem={problem} />}
    >
      <div className="stack">
        {problem && <Notice tone="bad" title={problem} />}
        {!answer && !problem && <Skeleton lines={4} />}
        {answer &&
          findHealthProblems(answer).map(
            ({ key, title, advice, orderId, subscriptionId }) => (
              <Notice key={key} tone="bad" title={title}>
                {advice}{' '}
                {orderId && (
                  <Link href={orderPath(shop, orderId)}>Open the order</Link>
                )}
                {subscriptionId && shop.hasSubscriptions && (
                  <Link href={subscriptionPath(shop, subscriptionId)}>
                    Open the subscription
                  </Link>
                )}
              </Notice>
            ),
          )}
        {answer && (
          <div className="grid">
            {answer.chains.map((chain) => (
              <ChainFacts key={chain.chainId} chain={chain} />
            ))}
            {answer.destinations.map((destination) => (
              <DestinationFacts
                key={`${destination.chainId}${destination.token}${destination.recipient}`}
                destination={destination}
              />
            ))}
            {answer.submitters.map((submitter) => (
              <SubmitterFacts
                key={`${submitter.chainId}${submitter.account}`}
                submitter={submitter}
              />
            ))}
          </div>
        )}
      </div>
    </Card>
  )
}

function Verdict({
  health,
  problem,
}: {
  health: Health
  problem: string | undefined
}): ReactNode {
  const isWell = !problem && findHealthProblems(health).length === 0
  return isWell ? (
    <Badge tone="good">All well</Badge>
  ) : (
    <Badge tone="bad">Needs attention</Badge>
  )
}

function ChainFacts({ chain }: { chain: Health['chains'][number] }): ReactNode {
  const { chainId, block, time } = chain
  return (
    <div className="stack stack-tight">
      <h3>Chain {chainId}</h3>
      <Facts
        items={[
          ['Newest block', block],
          ['Block time', time && <RelativeTime key="t" at={time} />],
        ]}
      />
    </div>
  )
}

function DestinationFacts({
  destination,
}: {
  destination: Health['destinations'][number]
}): ReactNode {
  const { recipient, reconciledTo, lag, counts } = destination
  const total = Object.values(counts).reduce((all, count) => all + count, 0)
  return (
    <div className="stack stack-tight">
      <h3>Your records</h3>
      <Facts
        items={[
          [
            'Recipient',
            <AddressText
              key="r"
              address={recipient}
              label="recipient’s address"
            />,
          ],
          ['Reconciled to', reconciledTo ?? 'not yet'],
          ['Behind', lag === undefined ? '–' : blocks(lag)],
          ['Orders', total],
        ]}
      />
    </div>
  )
}

function SubmitterFacts({
  submitter,
}: {
  submitter: Health['submitters'][number]
}): ReactNode {
  const { account, balance, gasPrice, openTransactions, nextNonce } = submitter
  const cost = captureGas * BigInt(gasPrice ?? '0')
  const left = balance && cost > 0n ? BigInt(balance) / cost : undefined
  return (
    <div className="stack stack-tight">
      <h3>Sending account</h3>
      <Facts
        items={[
          [
            'Account',
            <AddressText key="a" address={account} label="sending account" />,
          ],
          ['Gas balance', balance && <Ether key="g" wei={balance} />],
          [
            'Enough for',
            left !== undefined && <Supply key="s" captures={left} />,
          ],
          ['In flight', `${openTransactions}`],
          ['Next nonce', nextNonce],
          ['Used by', workerOf(submitter.lease)],
        ]}
      />
    </div>
  )
}

/**
 * Names the server that uses the account. Between captures there may be none.
 */
function workerOf(lease: Health['submitters'][number]['lease']): string {
  if (!lease) return 'nobody now'
  const { thisInstance, owner } = lease
  return thisInstance ? 'this server' : `server ${owner.slice(0, 8)}`
}

function Supply({ captures }: { captures: bigint }): ReactNode {
  return captures < fewCaptures ? (
    <Badge tone="warn">about {String(captures)} captures</Badge>
  ) : (
    'more than 100 captures'
  )
}

function blocks(lag: string): string {
  return lag === '1' ? '1 block' : `${lag} blocks`
}
