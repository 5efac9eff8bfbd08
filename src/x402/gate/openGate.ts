import { getToken } from '../../chain/state/getToken.js'
import { writeAgain } from '../../store/writeAgain.js'
import { channelRequirementsOf, requirementsOf } from '../wire/requirements.js'
import { checkAmount } from './checkAmount.js'
import { X402SetupError } from './errors.js'
import type { GateContext, SettledOffer, Terms } from './types.js'

/**
 * Opens the store, checks each token on chain, and records that this database
 * takes the x402 payments to the recipients of the offers.
 *
 * Two databases do not see each other's records. If both served a recipient,
 * each would sell once for the same payment.
 *
 * @throws {@link X402SetupError} when a recipient is open in another database.
 */
export async function openGate(gate: GateContext): Promise<void> {
  const { context, instance, offers, takeOverFrom } = gate
  await instance.open()
  const { identity } = await context.store.open()
  await Promise.all([...offers.values()].map((offer) => getTerms(offer)))
  await writeAgain(context, async (tables) => {
    for (const { chainId, token, recipient } of offers.values()) {
      const key = `x402:recipient:${chainId}:${token}:${recipient}`
      const known = await tables.getValue(key)
      const other = known?.identity
      if (other === identity) continue
      if (other !== undefined && other !== takeOverFrom)
        throw new X402SetupError(
          `cannot take payments to ${recipient}: they are open in the database ${other}. If nothing uses that one any more, pass it as takeOverFrom`,
          { chainId, token, recipient, identity, other },
        )
      await tables.setValue(key, { identity })
    }
  })
}

/**
 * Requests that the least deposit pays for, by default: as many as a stock client
 * deposits for that may spend just the price on one payment.
 */
const usualPrices = 5n

/**
 * Returns the terms of an offer, with the token's name, version and decimals
 * from the chain.
 *
 * @throws {@link InvalidFieldError} when its amount has more places than the
 * token.
 */
export async function getTerms(offer: SettledOffer): Promise<Terms> {
  const { client, flow, recipient, maxTimeoutSeconds } = offer
  const field = `offers.${offer.name}`
  const token = await getToken(client, { token: offer.token })
  const { domain, decimals } = token
  const { channel } = offer
  const member = channel ? 'atMost' : 'amount'
  const value = checkAmount(`${field}.${member}`, offer.amount, decimals)
  const terms = { domain, recipient, value, maxTimeoutSeconds }
  const priced = { offer, token, value }
  if (!channel) {
    const requirements = requirementsOf({ ...terms, flow })
    return { ...priced, channel, requirements }
  }
  const { deposit, leastDeposit, withdrawDelay, mostUnclaimed } = channel
  const units = (name: string, amount: string) =>
    checkAmount(`${field}.${name}`, amount, decimals)
  const loaded = await channel.loadFlow()
  const minDeposit = units('deposit', deposit)
  const usual = usualPrices * value
  const own = {
    flow: loaded,
    receiverAuthorizer: await loaded.desk.getAuthorizer(),
    withdrawDelay,
    minDeposit,
    leastDeposit:
      leastDeposit === undefined
        ? usual < minDeposit
          ? usual
          : minDeposit
        : units('leastDeposit', leastDeposit),
    mostUnclaimed:
      mostUnclaimed === undefined
        ? undefined
        : units('mostUnclaimed', mostUnclaimed),
  }
  const requirements = channelRequirementsOf({ ...terms, ...own })
  return { ...priced, channel: own, requirements }
}
