import { formatAmount } from '../../core/amount.js'
import type { PaymentWords } from '../words/types.js'
import { h } from './dom.js'
import type { Model } from './model.js'
import { factList } from './parts.js'
import { money, networkName, type Words } from './words.js'

type SignedModel = Pick<Model, 'draft' | 'connection' | 'showsDetails'>

type Row = readonly [label: keyof PaymentWords, value: string | undefined]

/** Everything that the wallet is asked to sign, in words. */
export function detailsPart(
  model: SignedModel,
  words: Words,
  onToggle: (isOpen: boolean) => void,
): HTMLElement | undefined {
  const { draft, showsDetails } = model
  if (!draft) return undefined
  const { say } = words.format
  return h(
    'details',
    {
      class: 'card details',
      open: showsDetails,
      toggle: ({ currentTarget }) =>
        onToggle((currentTarget as HTMLDetailsElement).open),
    },
    h('summary', { 'data-key': 'details' }, say('details')),
    h('p', { class: 'quiet' }, say('detailsText')),
    factList(
      rowsOf(model, words).flatMap(([label, value]) =>
        value === undefined ? [] : [[say(label), value] as const],
      ),
    ),
  )
}

function rowsOf({ draft, connection }: SignedModel, words: Words): Row[] {
  if (!draft) return []
  const { say, time } = words.format
  const { primaryType, domain, message, checkout } = draft
  const { from, to, value, validAfter, validBefore, nonce } = message
  const amount = formatAmount(BigInt(value ?? 0), words.token?.decimals)
  return [
    ['message', isKnownType(primaryType) ? say(primaryType) : primaryType],
    ['token', domain.name],
    ['contract', domain.verifyingContract],
    ['network', `${networkName(words)} (${domain.chainId})`],
    ['from', from || connection?.account || say('yourAccount')],
    ['to', to],
    ['value', money(amount, words)],
    ['validAfter', time(Number(validAfter))],
    ['validBefore', time(Number(validBefore))],
    ['nonce', nonce],
    ['recipient', checkout?.recipient],
    ['operator', checkout?.operator],
    ['salt', checkout?.salt],
  ]
}

function isKnownType(
  type: string,
): type is 'ReceiveWithAuthorization' | 'TransferWithAuthorization' | 'Permit' {
  return (
    type === 'ReceiveWithAuthorization' ||
    type === 'TransferWithAuthorization' ||
    type === 'Permit'
  )
}
