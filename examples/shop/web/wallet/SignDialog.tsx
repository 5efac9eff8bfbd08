import type { ReactNode } from 'react'
import { AddressText } from '../../../../src/pages/ui/AddressText.js'
import { Countdown } from '../../../../src/pages/ui/Countdown.js'
import { Facts } from '../../../../src/pages/ui/Facts.js'
import { groupAmount, shortHex } from '../../../../src/pages/ui/format.js'
import { Money } from '../../../../src/pages/ui/Money.js'
import { developmentChainId } from '../api/chain.js'
import { formatClock } from '../api/formatClock.js'
import { networkName } from './networks.js'
import type { SigningRequest } from './readSigningRequest.js'
import type { WalletDialogProps } from './WalletDialogs.js'
import { WalletFrame } from './WalletFrame.js'

/** Says in words what is about to be signed. */
export function SignDialog({
  question,
  memory,
}: Omit<WalletDialogProps<'sign'>, 'funded'>): ReactNode {
  const { request } = question
  const { selected: account, chainId, signed } = memory
  const isPayment = request.kind === 'payment'
  return (
    <WalletFrame
      title={isPayment ? 'Sign this payment?' : 'Sign this cancellation?'}
      approve={isPayment ? 'Sign payment' : 'Sign cancellation'}
      onApprove={() => question.answer({ account, chainId })}
      onReject={() => question.answer(undefined)}
    >
      {request.kind === 'payment' ? (
        <PaymentWords request={request} />
      ) : (
        <CancellationWords request={request} ended={signed[request.nonce]} />
      )}
    </WalletFrame>
  )
}

type PaymentRequest = Extract<SigningRequest, { kind: 'payment' }>

function PaymentWords({ request }: { request: PaymentRequest }): ReactNode {
  const { amount, symbol, to, until, isCeiling } = request
  const label = isCeiling ? 'checkout contract' : 'recipient'
  return (
    <>
      <p className="wallet-amount">
        <Money amount={amount} symbol={symbol} isCeiling={isCeiling} large />
      </p>
      {isCeiling ? (
        <CeilingSentence request={request} />
      ) : (
        <ExactSentence request={request} />
      )}
      <Facts
        items={[
          ['To', <AddressText key="to" address={to} label={label} whole />],
          [
            'Until',
            <span key="until">
              {formatClock(until)} (<Countdown until={until} />)
            </span>,
          ],
        ]}
      />
      <Fields request={request} />
      <p className="muted small">
        Signing moves no money. You can cancel the payment until it is
        collected.
      </p>
    </>
  )
}

function ExactSentence({ request }: { request: PaymentRequest }): ReactNode {
  const { amount, symbol, to, until, isForAnyone } = request
  return (
    <p>
      You allow{' '}
      <strong>
        {isForAnyone ? 'anyone who has this signature to send' : shortHex(to)}
      </strong>{' '}
      {isForAnyone ? '' : 'to collect '}
      exactly{' '}
      <strong>
        {groupAmount(amount)} {symbol}
      </strong>{' '}
      from your account
      {isForAnyone ? ` to ${shortHex(to)}` : ''}, once, until{' '}
      <strong>{formatClock(until)}</strong>.
    </p>
  )
}

function CeilingSentence({ request }: { request: PaymentRequest }): ReactNode {
  const { amount, symbol, until } = request
  return (
    <p>
      You allow the <strong>checkout contract</strong> to charge you{' '}
      <strong>
        at most {groupAmount(amount)} {symbol}
      </strong>
      , once, until <strong>{formatClock(until)}</strong>. It returns the rest
      in the same transaction.
    </p>
  )
}

type CancellationToSignVerdict = Extract<
  SigningRequest,
  { kind: 'cancellation' }
>

function CancellationWords({
  request,
  ended,
}: {
  request: CancellationToSignVerdict
  ended: WalletDialogProps<'sign'>['memory']['signed'][string] | undefined
}): ReactNode {
  const words =
    ended &&
    `${ended.isCeiling ? 'at most ' : ''}${groupAmount(ended.amount)} ${ended.symbol}`
  return (
    <>
      <p>
        This cancels{' '}
        {ended ? (
          <>
            your payment of <strong>{words}</strong> to{' '}
            <strong>{shortHex(ended.to)}</strong>, valid until{' '}
            {formatClock(ended.until)}
          </>
        ) : (
          'a payment that this wallet does not know'
        )}
        . Once the cancellation is on the chain, nobody can collect that
        payment.
      </p>
      <Fields request={request} />
      <p className="muted small">
        If the payment is collected first, the cancellation does nothing.
      </p>
    </>
  )
}

/** The rest of what is signed, for who wants to see it. */
function Fields({ request }: { request: SigningRequest }): ReactNode {
  const { from, token, symbol, nonce } = request
  return (
    <details className="wallet-fields">
      <summary>Everything you sign</summary>
      <Facts
        items={[
          [
            'From',
            <AddressText key="from" address={from} label="your address" />,
          ],
          [
            'Token',
            <span key="token">
              {symbol} <AddressText address={token} label="token" />
            </span>,
          ],
          [
            'Network',
            `${networkName(developmentChainId)} (${developmentChainId})`,
          ],
          ['Nonce', <AddressText key="nonce" address={nonce} label="nonce" />],
        ]}
      />
    </details>
  )
}
