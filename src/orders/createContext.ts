import type { Address, Client } from 'viem'
import { parseTrusted } from '../batches/delegates/getDelegation.js'
import { type Permission, readPermission } from '../batches/keys/permission.js'
import { askAgain } from '../chain/rpc/askAgain.js'
import { checkMembers } from '../core/checkMembers.js'
import { drawNonce } from '../core/drawNonce.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { checkKeccak, viemKeccak256 } from '../core/keccak.js'
import { parseCheckedAddress } from '../core/parseCheckedAddress.js'
import { parseAccount } from '../payments/capture/planTransaction.js'
import { type AnyKind, eip3009 } from '../payments/kind.js'
import { limitSealer } from '../store/limitSealer.js'
import { noSeal } from '../store/noSeal.js'
import type { Destination, Sealer, Submitter } from '../store/types.js'
import { openRehearsalMemory } from './account/rehearsalMemory.js'
import type {
  CaptureWallet,
  CreateOrdersParameters,
  OrdersContext,
  OrderToken,
  OrderWallet,
} from './context/types.js'
import { checkRelayed } from './model/checkRelayed.js'
import { OrdersSetupError } from './model/errors.js'
import { openShop } from './model/openShop.js'
import { paidBy } from './model/sendersOf.js'
import { settlePolicy } from './settlePolicy.js'
import { orderLoader } from './verbs/orderLoader.js'
import { nameWatches } from './watcher/watchKeys.js'

/**
 * Checks the parameters of `createOrders` and fills in defaults.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 * @throws {@link AccountError} when a wallet has no account.
 * @throws {@link OrdersSetupError} when `seal` is neither a sealer nor
 * `'none'`; when no wallet would send for a recipient.
 */
export function createContext(
  parameters: CreateOrdersParameters,
): OrdersContext {
  checkShape(parameters)
  const { store, observe, keccak256 = viemKeccak256 } = parameters
  checkKeccak(keccak256)
  const name = parseShopName(parameters.shop)
  const policy = settlePolicy(parameters.policy)
  const sealer = limitSealer(parseSealer(parameters.seal), policy.sealTimeout)
  const tokens = parseTokens(parameters.tokens)
  const wallets = parseWallets(parameters.wallets, tokens)
  const others = (parameters.recipients ?? []).map((address, index) =>
    parseCheckedAddress(address, `recipients[${index}]`),
  )
  const relayers = parseRelayers(parameters.relayers, wallets)
  for (const token of tokens)
    checkRelayed(token.chainId, { wallets, relayers, others })
  const destinations = Object.freeze(
    tokens.flatMap((token) => destinationsOf(token, wallets, others)),
  )
  const kinds = parseKinds(parameters.kinds)
  const shop = openShop({
    store,
    name,
    chainIds: new Set(tokens.map(({ chainId }) => chainId)),
    configured: {
      destinations,
      recipients: others,
      fulfilAt: parameters.policy?.fulfilAt,
      kinds: parameters.kinds && [...kinds.keys()].sort(),
    },
    policy,
  })
  return {
    store,
    loader: orderLoader(store),
    sealer,
    kinds,
    get policy() {
      return shop.policy
    },
    tokens,
    wallets,
    relayers,
    delegates: parseTrusted(parameters.delegates ?? [], 'delegates'),
    shop,
    get recipients() {
      return shop.recipients
    },
    get destinations() {
      return shop.destinations
    },
    watches: nameWatches(shop, keccak256),
    owner: drawNonce().slice(2, 34),
    rehearsals: openRehearsalMemory(),
    accepting: new Set(),
    observe: (observation) => {
      // An observer that throws must not stop the work, and its rejected
      // promise must not end the process.
      const tell = async () => observe?.(observation)
      tell().catch(() => undefined)
    },
    keccak256,
    now: () => BigInt(Date.now()),
  }
}

/**
 * Limits a context to these recipients: methods that get it read and write no
 * data of other recipients.
 */
export function narrowContext(
  context: OrdersContext,
  recipients: readonly Address[],
): OrdersContext {
  if (!Array.isArray(recipients))
    throw new InvalidFieldError(
      'recipients',
      shown(recipients),
      'a list of addresses',
    )
  const wanted = new Set(
    recipients.map((address, index) =>
      parseCheckedAddress(address, `recipients[${index}]`),
    ),
  )
  const ownRecipients = keepFiltered(
    () => context.recipients,
    (address) => wanted.has(address),
  )
  const ownDestinations = keepFiltered(
    () => context.destinations,
    ({ recipient }) => wanted.has(recipient),
  )
  return {
    ...context,
    get policy() {
      return context.policy
    },
    get recipients() {
      return ownRecipients()
    },
    get destinations() {
      return ownDestinations()
    },
  }
}

/**
 * Filters a list and keeps the result until another list has replaced the
 * source, because callers read it often.
 */
function keepFiltered<item>(
  list: () => readonly item[],
  isKept: (item: item) => boolean,
): () => readonly item[] {
  let from: readonly item[] | undefined
  let kept: readonly item[] = []
  return () => {
    const now = list()
    if (now !== from) kept = Object.freeze(now.filter(isKept))
    from = now
    return kept
  }
}

/**
 * Checks the parameters at run time, because callers may use plain JavaScript.
 */
function checkShape(parameters: CreateOrdersParameters): void {
  checkMembers(parameters, [
    'store',
    'shop',
    'tokens',
    'wallets',
    'seal',
    'recipients',
    'relayers',
    'delegates',
    'policy',
    'observe',
    'keccak256',
    'kinds',
  ])
  const { store, observe, recipients = [], relayers = [] } = Object(parameters)
  if (!hasMethods(store, ['open', 'read', 'write', 'takeLease']))
    throw new InvalidFieldError(
      'store',
      store,
      'a store, such as sqliteStore() returns',
    )
  if (observe !== undefined && typeof observe !== 'function')
    throw new InvalidFieldError('observe', observe, 'a function')
  if (!Array.isArray(recipients))
    throw new InvalidFieldError(
      'recipients',
      shown(recipients),
      'a list of addresses',
    )
  if (!Array.isArray(relayers))
    throw new InvalidFieldError(
      'relayers',
      shown(relayers),
      'a list of addresses',
    )
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof Object(value)[name] === 'function')
}

/**
 * Pattern of a shop name. The store builds keys of names joined by colons, so a
 * name contains no colon.
 */
const shopName = /^[a-z][a-z\d-]{0,62}$/i

function parseShopName(shop: string | undefined): string | undefined {
  if (shop === undefined) return undefined
  if (typeof shop === 'string' && shopName.test(shop)) return shop
  throw new InvalidFieldError(
    'shop',
    shown(shop),
    'a letter, then up to 62 letters, digits and hyphens',
  )
}

function parseSealer(seal: CreateOrdersParameters['seal'] | undefined): Sealer {
  if (seal === 'none') return noSeal
  // Check the sealer now: otherwise a broken one would fail only when the first
  // buyer drafts or pays.
  const { current, keyNames } = Object(seal)
  const hasNames = typeof current === 'string' && Array.isArray(keyNames)
  if (!seal || !hasNames || !hasMethods(seal, ['seal', 'open']))
    throw new OrdersSetupError(
      "would store credentials unencrypted: give seal a sealer, or 'none'",
    )
  return seal
}

function parseKinds(
  given: CreateOrdersParameters['kinds'] = [],
): OrdersContext['kinds'] {
  if (!Array.isArray(given))
    throw new InvalidFieldError('kinds', given, 'a list such as [checkout]')
  const kinds = new Map<string, AnyKind>([[eip3009.name, eip3009]])
  for (const [index, kind] of given.entries()) {
    const field = `kinds[${index}]`
    const { name } = Object(kind)
    if (typeof name !== 'string' || !hasMethods(kind, ['build', 'prove']))
      throw new InvalidFieldError(field, kind, 'a kind such as checkout')
    if (kinds.has(name))
      throw new InvalidFieldError(
        field,
        shown(name),
        'the only kind of this name',
      )
    kinds.set(name, kind)
  }
  return kinds
}

function parseTokens(given: readonly OrderToken[]): OrdersContext['tokens'] {
  if (!Array.isArray(given) || !given.length)
    throw new InvalidFieldError(
      'tokens',
      given,
      'a list with at least one token',
    )
  const tokens = given.map((one: OrderToken, index) => {
    checkMembers(one, ['client', 'token'], `tokens[${index}]`)
    const { client, token } = Object(one)
    return {
      token: parseCheckedAddress(token, `tokens[${index}].token`),
      chainId: chainOf(client, `tokens[${index}].client`),
      client: askAgain(client),
    }
  })
  for (const [index, { token, chainId }] of tokens.entries()) {
    const isTwice = tokens
      .slice(0, index)
      .some((other) => other.token === token && other.chainId === chainId)
    if (isTwice)
      throw new InvalidFieldError(
        `tokens[${index}].token`,
        shown(token),
        'the only entry for this token on its chain',
      )
  }
  return tokens
}

function parseWallets(
  given: CreateOrdersParameters['wallets'],
  tokens: OrdersContext['tokens'],
): OrderWallet[] {
  if (!Array.isArray(given))
    throw new InvalidFieldError(
      'wallets',
      given,
      'a list of clients, one for each account that sends',
    )
  const wallets: OrderWallet[] = []
  for (const [index, one] of given.entries()) {
    const field = `wallets[${index}]`
    const { capturesFor, permission } = Object(one)
    const isKey = capturesFor !== undefined || permission !== undefined
    const client = isKey ? (one as CaptureWallet).client : (one as Client)
    const chainId = chainOf(client, isKey ? `${field}.client` : field)
    const account = parseAccount(client, client.account)
    const address = account.address.toLowerCase() as Address
    const isTwice = wallets.some(
      ({ submitter }) =>
        submitter.chainId === chainId && submitter.account === address,
    )
    if (isTwice)
      throw new InvalidFieldError(
        field,
        shown(address),
        'the only wallet of this account on its chain',
      )
    const submitter = { chainId, account: address }
    const wallet = { client: askAgain(client), account, submitter }
    if (!isKey) wallets.push(wallet)
    else {
      const key = parseKey(one as CaptureWallet, submitter, { field, tokens })
      wallets.push({ ...wallet, key })
    }
  }
  for (const [index, { chainId }] of tokens.entries())
    if (!wallets.some(({ submitter }) => submitter.chainId === chainId))
      throw new InvalidFieldError(
        `tokens[${index}].client`,
        shown(chainId),
        'on the chain of a wallet',
        `Add a client for chain ${chainId} to wallets.`,
      )
  return wallets
}

/** Parses the permission of a capture key. Who signed it is checked later. */
function parseKey(
  given: CaptureWallet,
  { chainId, account }: Submitter,
  { field, tokens }: { field: string; tokens: OrdersContext['tokens'] },
): Permission {
  checkMembers(given, ['client', 'capturesFor', 'permission'], field)
  const treasury = parseCheckedAddress(
    given.capturesFor,
    `${field}.capturesFor`,
  )
  const named = { chainId, field: `${field}.permission` }
  const key = readPermission(given.permission, named)
  const missing = tokens.find(
    (one) => one.chainId === chainId && !key.tokens.includes(one.token),
  )
  const rule =
    key.treasury !== treasury
      ? `a permission of ${treasury}`
      : key.key !== account
        ? `a permission for the key ${account}`
        : missing && `a permission for the token ${missing.token}`
  if (!rule) return key
  throw new InvalidFieldError(named.field, given.permission, rule)
}

/**
 * Returns the submitters that send for recipients without a wallet. On a chain
 * with a single wallet, that wallet is the default, unless it captures for
 * another account.
 */
function parseRelayers(
  given: CreateOrdersParameters['relayers'],
  wallets: readonly OrderWallet[],
): Submitter[] {
  const submitters = wallets.map(({ submitter }) => submitter)
  if (given === undefined)
    return wallets.flatMap(({ submitter, key }) => {
      const { chainId } = submitter
      const here = submitters.filter((other) => other.chainId === chainId)
      return here.length === 1 && !key ? [submitter] : []
    })
  const accounts = given.map((address, index) => {
    const field = `relayers[${index}]`
    const account = parseCheckedAddress(address, field)
    if (submitters.some((submitter) => submitter.account === account))
      return account
    throw new InvalidFieldError(
      field,
      shown(account),
      'the account of one of the wallets',
    )
  })
  return submitters.filter(({ account }) => accounts.includes(account))
}

/**
 * Returns the id of a client's chain. Windows, destinations and submitters each
 * belong to one chain, so a client without a chain is refused.
 */
function chainOf(client: Client, field: string): number {
  const { chain } = Object(client)
  if (!chain)
    throw new InvalidFieldError(field, client, 'a viem client with a chain')
  return chain.id
}

function destinationsOf(
  { chainId, token }: { chainId: number; token: Address },
  wallets: readonly OrderWallet[],
  others: readonly Address[],
): Destination[] {
  const own = wallets
    .filter(({ submitter }) => submitter.chainId === chainId)
    .map(paidBy)
  return [...new Set([...own, ...others])].map((recipient) => ({
    chainId,
    token,
    recipient,
  }))
}
