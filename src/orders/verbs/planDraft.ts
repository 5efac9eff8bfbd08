import type { Address } from 'viem'
import { UnsupportedTokenError } from '../../chain/rpc/errors.js'
import { getTokenAndHead } from '../../chain/state/getToken.js'
import { parseAmount } from '../../core/amount.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { eip3009 } from '../../payments/kind.js'
import { parseMetadata } from '../../store/parseMetadata.js'
import type { AttemptRecord, OrderRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { draftedOrder } from '../model/draftedRows.js'
import { drawSender, sendingOf } from '../model/sendersOf.js'
import {
  checkHead,
  chooseDestination,
  type DraftFacts,
  type DraftOrderParameters,
} from './draftFacts.js'
import { getCeilingFacts } from './getCeilingFacts.js'
import {
  newAttempt,
  parseWindow,
  windowFrom,
  withOwnNonce,
} from './newAttempt.js'

const primaryTypes: readonly string[] = [
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
]

/** The rows of a new order and its first attempt, ready to insert. */
export type Draft = {
  order: Omit<OrderRecord, 'version' | 'position'>
  attempt: Omit<AttemptRecord, 'version'>
}

export async function planDraft(
  context: OrdersContext,
  {
    parameters,
    ...row
  }: Pick<OrderRecord, 'id' | 'buyerTokenHash'> & {
    parameters: DraftOrderParameters
  },
): Promise<Draft> {
  const facts = await getAnyFacts(context, parameters)
  return fillDraft(context, { ...facts, ...row })
}

function getAnyFacts(
  context: OrdersContext,
  parameters: DraftOrderParameters,
): Promise<DraftFacts> {
  const { amount, atMost } = parameters
  if (atMost !== undefined && amount === undefined)
    return getCeilingFacts(context, { ...parameters, atMost })
  if (amount !== undefined && atMost === undefined)
    return getFacts(context, { ...parameters, amount })
  if (amount !== undefined)
    throw new InvalidFieldError(
      'atMost',
      shown(atMost),
      'left out if amount is given',
    )
  throw new InvalidFieldError('amount', amount, 'given, unless you pass atMost')
}

async function getFacts(
  context: OrdersContext,
  parameters: DraftOrderParameters & { amount: string },
): Promise<DraftFacts> {
  const { primaryType = 'ReceiveWithAuthorization' } = parameters
  if (!primaryTypes.includes(primaryType))
    throw new InvalidFieldError('primaryType', shown(primaryType), primaryTypes)
  const metadata = parseMetadata(parameters.metadata)
  const window = parseWindow(context.policy, parameters.window)
  const { client, recipient, ...chosen } = chooseDestination(context, {
    ...parameters,
    primaryType,
  })
  const payer =
    parameters.payer === undefined
      ? undefined
      : parseCheckedAddress(parameters.payer, 'payer')
  if (payer === recipient)
    throw new InvalidFieldError(
      'payer',
      shown(payer),
      'another account than the recipient',
    )
  const { token, head } = await getTokenAndHead(client, chosen.token)
  const time = checkHead(context, chosen, head)
  const { receive, transfer } = token.capabilities
  if (!(primaryType === 'ReceiveWithAuthorization' ? receive : transfer))
    throw new UnsupportedTokenError({
      token: chosen.token,
      problem: `cannot settle ${primaryType}`,
    })
  return {
    token,
    time,
    window,
    value: parseAmount(parameters.amount, token.decimals),
    recipient,
    payer,
    primaryType,
    metadata,
    kind: eip3009,
    permitNonce: undefined,
  }
}

/** Creates the rows of a new order, with a new payment nonce. */
export function fillDraft(
  context: OrdersContext,
  draft: DraftFacts & Pick<OrderRecord, 'id' | 'buyerTokenHash'>,
): Draft {
  const { token, time, window, ...fields } = draft
  const { chainId, name, version, verifyingContract } = token.domain
  const { validAfter, validBefore } = windowFrom(time, window)
  const { id, payer, value, recipient, kind } = fields
  const { permitNonce, ...common } = fields
  const submitter = chooseSubmitter(context, {
    recipient,
    chainId,
    primaryType: fields.primaryType,
    total: kind.total,
  })
  const order = {
    ...draftedOrder,
    ...common,
    chainId,
    token: verifyingContract,
    submitter,
    kind: kind.name,
    total: kind.total,
    decimals: token.decimals,
    tokenName: name,
    tokenVersion: version,
    createdAt: time,
    deadline: validBefore,
    lookDue: validBefore,
  }
  const attempt = newAttempt({
    orderId: id,
    number: 1,
    chainId,
    token: verifyingContract,
    payer,
    value,
    terms: kind.drawTerms({ operator: submitter, permitNonce }),
    validAfter,
    validBefore,
  })
  return { order, attempt: withOwnNonce(context, order, attempt) }
}

/**
 * Chooses the account that sends the capture: the recipient if its wallet is
 * configured, otherwise one of the relayers.
 */
export function chooseSubmitter(
  context: Pick<OrdersContext, 'wallets' | 'relayers'>,
  order: Pick<OrderRecord, 'chainId' | 'recipient' | 'primaryType' | 'total'>,
): Address {
  const sender = drawSender(context, order, sendingOf(order))
  return sender?.submitter.account ?? order.recipient
}
