/**
 * The error code, HTTP status and text with which a provider refuses
 * `eth_getLogs`.
 */
export type ProviderWording = {
  /** What the provider's limit is about. */
  kind: 'range' | 'results' | 'timeout' | 'head' | 'rateLimit' | 'unavailable'
  code: number
  /** HTTP status. Default: 200. */
  status?: number | undefined
  /**
   * The error text, with placeholders. `{limit}` and `{requested}` are numbers
   * of blocks or logs, written `{limit,}` with separated thousands and
   * `{limitK}` as `10k`. `{from}` to `{to}` is a range that would be accepted,
   * `{fromHex}` and `{toHex}` the same in hex. `{head}` is the newest block.
   */
  text: string
}

/** Name of a provider's error text in {@link providerWordings}. */
export type ProviderWordingName =
  | 'publicBase'
  | 'publicBaseOlder'
  | 'quickNode'
  | 'quickNodeNewer'
  | 'quickNodeRateLimit'
  | 'alchemyFree'
  | 'alchemySize'
  | 'alchemyTimeout'
  | 'alchemyRateLimit'
  | 'infuraResults'
  | 'infuraRange'
  | 'coinbase'
  | 'chainstack'
  | 'chainstackDistance'
  | 'chainstackResults'
  | 'drpcOlder'
  | 'drpc'
  | 'ankr'
  | 'ankrOlder'
  | 'ankrResults'
  | 'publicNode'
  | 'rethRange'
  | 'rethResults'
  | 'rethHead'
  | 'blockPi'
  | 'merkle'
  | 'blockRange'
  | 'baseRateLimit'

/**
 * Error texts with which providers on Base refuse `eth_getLogs`, to test a
 * client with each of them. They come from documentation and issues, not from
 * live endpoints. Providers change them without notice.
 */
export const providerWordings: Readonly<
  Record<ProviderWordingName, ProviderWording>
> = {
  publicBase: {
    kind: 'range',
    code: -32614,
    text: 'eth_getLogs is limited to a {limit,} range',
  },
  publicBaseOlder: {
    kind: 'unavailable',
    code: -32011,
    status: 503,
    text: 'no backend is currently healthy to serve traffic',
  },
  quickNode: {
    kind: 'range',
    code: -32614,
    status: 413,
    text: 'eth_getLogs is limited to a {limit,} range',
  },
  quickNodeNewer: {
    kind: 'range',
    code: -32614,
    status: 413,
    text: 'eth_getLogs and eth_newFilter are limited to a {limit,} blocks range',
  },
  quickNodeRateLimit: {
    kind: 'rateLimit',
    code: -32007,
    status: 429,
    text: '{limit}/second request limit reached - reduce calls per second or upgrade your account at quicknode.com',
  },
  alchemyFree: {
    kind: 'range',
    code: -32600,
    status: 400,
    text: 'Under the Free tier plan, you can make eth_getLogs requests with up to a {limit} block range. Based on your parameters, this block range should work: [{fromHex}, {toHex}]. Upgrade to PAYG for expanded block range.',
  },
  alchemySize: {
    kind: 'results',
    code: -32602,
    status: 400,
    text: 'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of {limit} logs in the response.',
  },
  alchemyTimeout: {
    kind: 'timeout',
    code: -32000,
    text: 'Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [{fromHex}, {toHex}]',
  },
  alchemyRateLimit: {
    kind: 'rateLimit',
    code: 429,
    status: 429,
    text: 'Your app has exceeded its compute units per second capacity.',
  },
  infuraResults: {
    kind: 'results',
    code: -32005,
    text: 'query returned more than {limit} results. Try with this block range [{fromHex}, {toHex}].',
  },
  infuraRange: {
    kind: 'range',
    code: -32602,
    text: 'range {requested} exceeds limit of {limit}',
  },
  coinbase: {
    kind: 'range',
    code: -32005,
    text: 'please limit the query to at most {limit} blocks',
  },
  chainstack: {
    kind: 'range',
    code: -32602,
    text: 'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits',
  },
  chainstackDistance: {
    kind: 'range',
    code: -32000,
    text: 'maximum [from, to] blocks distance: {limit}',
  },
  chainstackResults: {
    kind: 'results',
    code: -32000,
    text: 'query returned more than {limit} results',
  },
  drpcOlder: {
    kind: 'range',
    code: 35,
    status: 400,
    text: 'ranges over {limit} blocks are not supported on freetier',
  },
  drpc: {
    kind: 'range',
    code: 35,
    status: 400,
    text: 'ranges over {limit} blocks are not supported on free plan',
  },
  ankr: { kind: 'range', code: -32602, text: 'block range is too wide' },
  ankrOlder: { kind: 'range', code: -32600, text: 'block range is too wide' },
  ankrResults: {
    kind: 'results',
    code: -32600,
    text: 'query exceeds max results {limit}',
  },
  publicNode: {
    kind: 'range',
    code: -32701,
    text: 'exceed maximum block range: {limit}',
  },
  rethRange: {
    kind: 'range',
    code: -32602,
    text: 'query exceeds max block range {limit}',
  },
  rethResults: {
    kind: 'results',
    code: -32602,
    text: 'query exceeds max results {limit}, retry with the range {from}-{to}',
  },
  rethHead: {
    kind: 'head',
    code: -32602,
    text: 'block range extends beyond current head block: requested {requested}, head {head}',
  },
  blockPi: {
    kind: 'range',
    code: -32602,
    text: 'eth_getLogs is limited to {limit} block range',
  },
  merkle: {
    kind: 'range',
    code: -32603,
    text: 'eth_getLogs range is too large, max is {limitK} blocks',
  },
  blockRange: {
    kind: 'range',
    code: -32600,
    text: 'Query exceeds max block range of {limit}',
  },
  baseRateLimit: {
    kind: 'rateLimit',
    code: -32016,
    status: 429,
    text: 'over rate limit',
  },
}

/** Numbers to put into the placeholders of an error text. */
export type WordingFacts = {
  limit?: number | undefined
  requested?: number | undefined
  from?: number | undefined
  to?: number | undefined
  head?: number | undefined
}

/**
 * Replaces the placeholders in a text by numbers. A placeholder without a
 * number stays.
 */
export function fillWording(text: string, facts: WordingFacts): string {
  return text.replace(
    /\{(limit|requested|from|to|head)(,|Hex|K)?\}/g,
    (place, name: keyof WordingFacts, form: string | undefined) => {
      const value = facts[name]
      if (value === undefined) return place
      if (form === 'K' && value % 1000 === 0) return `${value / 1000}k`
      if (form === 'Hex') return `0x${value.toString(16)}`
      return form === ',' ? value.toLocaleString('en-US') : String(value)
    },
  )
}
