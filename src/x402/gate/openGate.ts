import { getToken } from '../../chain/state/getToken.js'
import { writeAgain } from '../../store/writeAgain.js'
import { requirementsOf } from '../wire/requirements.js'
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
 * Returns the terms of an offer, with the token's name, version and decimals
 * from the chain.
 *
 * @throws {@link InvalidFieldError} when its amount has more places than the
 * token.
 */
export async function getTerms(offer: SettledOffer): Promise<Terms> {
  const { client, flow, recipient, maxTimeoutSeconds } = offer
  const token = await getToken(client, { token: offer.token })
  const value = checkAmount(offer.name, offer.amount, token.decimals)
  const { domain } = token
  const terms = { domain, recipient, value, flow, maxTimeoutSeconds }
  return { offer, token, value, requirements: requirementsOf(terms) }
}
