import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { parseParameters } from '../http/parseParameters.js'
import type { MerchantPagesParameters } from './merchantTypes.js'
import type { PagesParameters, PaywallParameters } from './types.js'
import { englishWords } from './words/englishWords.js'
import { germanWords } from './words/germanWords.js'
import type { PageWords } from './words/types.js'

/** The checked parameters of `createPaywall`. */
export type SettledPaywall = {
  name: string
  logo: string | undefined
  accent: string
  terms: string | undefined
  /** The only language, if one is set. */
  language: string | undefined
  languages: ReadonlyMap<string, PageWords>
  frameAncestors: readonly string[]
}

/** The checked parameters of `createPages`. */
export type SettledPages = SettledPaywall & {
  payments: string
  basePath: string
  url: string
  returnUrls: readonly URL[]
  merchant: MerchantPagesParameters | undefined
}

/**
 * Checks the parameters of `createPages`.
 *
 * @throws {@link InvalidFieldError}
 */
export function parsePages(parameters: PagesParameters): SettledPages {
  checkMembers(parameters, [
    'payments',
    'name',
    'basePath',
    'url',
    'logo',
    'accent',
    'returnUrls',
    'terms',
    'language',
    'languages',
    'frameAncestors',
    'merchant',
  ])
  const given: PagesParameters = Object(parameters)
  const { payments, basePath = '', url = basePath } = given
  const looks = parseLooks(given)
  if (!isPath(basePath))
    throw new InvalidFieldError(
      'basePath',
      shown(basePath),
      'empty or a path such as /checkout, without a slash at the end',
    )
  if (!isPath(payments) && !isSite(payments))
    throw new InvalidFieldError(
      'payments',
      payments,
      'a path such as /payments, or an address such as https://pay.example/payments',
    )
  if (!isPath(url) && !isSite(url))
    throw new InvalidFieldError(
      'url',
      url,
      'an address such as https://shop.example/checkout',
    )
  return {
    ...looks,
    payments: trimSite(payments),
    basePath,
    url: trimSite(url),
    returnUrls: parseList(given.returnUrls, 'returnUrls', (text) =>
      parseSite(text),
    ),
    merchant: parseMerchant(given.merchant),
  }
}

/**
 * Checks the parameters of `createPaywall`.
 *
 * @throws {@link InvalidFieldError}
 */
export function parsePaywall(parameters: PaywallParameters): SettledPaywall {
  checkMembers(parameters, [
    'name',
    'logo',
    'accent',
    'terms',
    'language',
    'languages',
    'frameAncestors',
  ])
  return parseLooks(Object(parameters))
}

function parseLooks(given: PaywallParameters): SettledPaywall {
  const { name, logo, accent = '#3b3fc2', terms, language } = given
  if (typeof name !== 'string' || !name.trim())
    throw new InvalidFieldError('name', name, 'a text that is not empty')
  if (logo !== undefined && !isLogo(logo))
    throw new InvalidFieldError(
      'logo',
      logo,
      'a path such as /logo.svg, or a data URL of an image',
    )
  if (!/^#[\da-f]{6}$/i.test(accent))
    throw new InvalidFieldError(
      'accent',
      shown(accent),
      'a colour such as #3b3fc2',
    )
  if (terms !== undefined && !isPath(terms) && !parseSite(terms))
    throw new InvalidFieldError(
      'terms',
      terms,
      'a path such as /terms, or an address such as https://shop.example/terms',
    )
  const languages = parseLanguages(given.languages)
  if (language !== undefined && !languages.has(language))
    throw new InvalidFieldError('language', shown(language), [
      ...languages.keys(),
    ])
  return {
    name,
    logo,
    accent,
    terms,
    language,
    languages,
    frameAncestors: parseList(given.frameAncestors, 'frameAncestors', (text) =>
      parseSite(text)?.origin === text ? text : undefined,
    ),
  }
}

function parseMerchant(
  merchant: PagesParameters['merchant'],
): PagesParameters['merchant'] {
  if (merchant === undefined) return undefined
  checkMembers(
    merchant,
    ['authorize', 'origins', 'subscriptions', 'write'],
    'merchant',
  )
  const { write = false, ...access } = merchant
  parseParameters(access)
  if (typeof write !== 'boolean')
    throw new InvalidFieldError('merchant.write', write, 'true or false')
  return merchant
}

/** True for an empty path, or one in the spelling that a URL has. */
function isPath(path: unknown): path is string {
  return (
    path === '' ||
    (typeof path === 'string' &&
      /^(\/[^/?#]+)+$/.test(path) &&
      new URL(path, 'http://localhost').pathname === path)
  )
}

/** The address of a page of the web, without a password in it. */
function parseSite(text: unknown): URL | undefined {
  try {
    const url = new URL(String(text))
    const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
    return isWeb && !url.username && !url.password ? url : undefined
  } catch {
    return undefined
  }
}

function isSite(text: unknown): boolean {
  const url = parseSite(text)
  return url !== undefined && !url.search && !url.hash
}

/** Returns an address in its usual spelling, without slashes at its end. */
function trimSite(path: string): string {
  const whole = isPath(path) ? path : parseSite(path)?.href
  return (whole ?? path).replace(/\/+$/, '')
}

/** A picture of another site would tell it about each buyer. */
function isLogo(logo: unknown): boolean {
  return (
    typeof logo === 'string' &&
    (/^data:image\/[\w.+-]+[;,]/.test(logo) || (isPath(logo) && logo !== ''))
  )
}

function parseList<item>(
  list: readonly string[] = [],
  field: string,
  parse: (text: string) => item | undefined,
): readonly item[] {
  if (!Array.isArray(list))
    throw new InvalidFieldError(field, list, 'a list of addresses')
  return list.map((text, index) => {
    const parsed = parse(text)
    if (parsed === undefined)
      throw new InvalidFieldError(
        `${field}[${index}]`,
        shown(text),
        'an address such as https://shop.example',
      )
    return parsed
  })
}

function parseLanguages(
  given: PagesParameters['languages'] = {},
): ReadonlyMap<string, PageWords> {
  if (typeof given !== 'object' || !given)
    throw new InvalidFieldError('languages', given, 'an object of texts')
  for (const [language, words] of Object.entries(given)) {
    const field = `languages.${language}`
    if (!isLanguage(language))
      throw new InvalidFieldError(
        'languages',
        shown(language),
        'named like fr or pt-BR',
      )
    checkMembers<object>(words, englishWords, field)
    for (const name of Object.keys(englishWords)) {
      const text = Object(words)[name]
      if (typeof text !== 'string' || !text)
        throw new InvalidFieldError(
          `${field}.${name}`,
          text,
          'a text that is not empty',
        )
    }
  }
  return new Map<string, PageWords>(
    Object.entries({ en: englishWords, de: germanWords, ...given }),
  )
}

function isLanguage(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name)[0] === name
  } catch {
    return false
  }
}
