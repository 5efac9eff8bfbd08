import type { Address } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { RecipientRecord } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { checkRelayed } from '../model/checkRelayed.js'
import { OrdersSetupError } from '../model/errors.js'
import { parseShopValue, shopKey } from '../model/openShop.js'
import {
  belongsElsewhere,
  moveAbandoned,
  shopsLock,
  sortOthers,
} from './registerShop.js'

/** Parameters of `changeRecipients`: recipients to add and remove. */
export type ChangeRecipientsParameters = {
  /** Accounts to add as recipients, in every token of this instance. */
  add?: readonly Address[] | undefined
  /** Recipients to remove: they get no new orders from now on. */
  remove?: readonly Address[] | undefined
}

/** Implements `changeRecipients` of `Orders`. */
export async function changeRecipients(
  context: OrdersContext,
  parameters: ChangeRecipientsParameters,
): Promise<void> {
  checkMembers(parameters, ['add', 'remove'])
  const { shop, tokens } = context
  const add = parseRecipients(parameters.add, 'add')
  const remove = parseRecipients(parameters.remove, 'remove')
  if (add.size + remove.size === 0)
    throw new InvalidFieldError(
      'add',
      shown(parameters.add),
      'a list with at least one address, or left out if you pass remove',
    )
  for (const recipient of remove)
    if (add.has(recipient))
      throw new InvalidFieldError(
        'remove',
        shown(recipient),
        'a list without the addresses in add',
      )
  const { name } = shop
  if (name === undefined)
    throw new OrdersSetupError(
      'have no shop in the store: give createOrders a shop, the same name in all its processes, to change recipients while they run',
    )
  for (const { chainId } of tokens)
    checkRelayed(chainId, { ...context, others: [...add] })
  await writeAgain(context, async (tables) => {
    await tables.lock(shopsLock)
    const rows = await tables.recipients.find({ shop: name })
    const known = new Map(rows.map((row) => [wordOf(row), row]))
    const added = tokens
      .flatMap(({ chainId, token }) =>
        [...add].map((recipient) => ({ chainId, token, recipient })),
      )
      .filter((one) => !known.has(wordOf(one)))
    const taken = await tables.recipients.find({ destinations: added })
    const { others, abandoned } = await sortOthers(tables, name, taken)
    if (others[0]) throw belongsElsewhere(others[0], name)
    const moved = new Set(abandoned.map(wordOf))
    const fresh = added
      .filter((one) => !moved.has(wordOf(one)))
      .map((one) => ({ ...one, shop: name, removed: false }))
    const changed = changeRemoved(rows, { add, remove })
    if (fresh.length + changed.length + abandoned.length === 0) return
    if (fresh.length > 0) await tables.recipients.insert(fresh)
    if (changed.length > 0) await tables.recipients.update(changed)
    await moveAbandoned(tables, abandoned, name)
    const value = parseShopValue(await tables.getValue(shopKey(name)))
    const changes = value.changes + 1
    await tables.setValue(shopKey(name), { ...value, changes })
  })
  await shop.refresh()
}

/**
 * Returns the shop's recipient rows that change.
 * @throws {@link InvalidFieldError} when the shop lacks a recipient to remove.
 */
function changeRemoved(
  rows: readonly RecipientRecord[],
  { add, remove }: Record<'add' | 'remove', ReadonlySet<Address>>,
): RecipientRecord[] {
  const known = new Set(rows.map(({ recipient }) => recipient))
  for (const recipient of remove)
    if (!known.has(recipient))
      throw new InvalidFieldError(
        'remove',
        shown(recipient),
        'addresses of recipients of the shop',
      )
  return rows.flatMap((row) => {
    const removed = row.removed
      ? !add.has(row.recipient)
      : remove.has(row.recipient)
    return removed === row.removed ? [] : [{ ...row, removed }]
  })
}

function parseRecipients(
  given: readonly Address[] | undefined,
  field: string,
): ReadonlySet<Address> {
  if (given !== undefined && !Array.isArray(given))
    throw new InvalidFieldError(field, shown(given), 'a list of addresses')
  const list: readonly Address[] = given ?? []
  return new Set(
    list.map((address, index) =>
      parseCheckedAddress(address, `${field}[${index}]`),
    ),
  )
}

const wordOf = ({
  chainId,
  token,
  recipient,
}: Omit<RecipientRecord, 'version' | 'shop' | 'removed'>): string =>
  `${chainId} ${token} ${recipient}`
