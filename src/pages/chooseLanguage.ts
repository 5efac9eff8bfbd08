import { InvalidFieldError, shown } from '../core/errors.js'
import type { SettledPaywall } from './parsePages.js'
import type { PageWords } from './words/types.js'

/** Returns the language of an answer, and its texts. */
export function findWords(
  { headers }: Pick<Request, 'headers'>,
  { language: only, languages }: SettledPaywall,
): { language: string; words: PageWords } {
  const accepted = headers.get('accept-language')
  const language = only ?? chooseLanguage(accepted, [...languages.keys()])
  const words = languages.get(language)
  if (!words) throw new InvalidFieldError('language', shown(language), 'known')
  return { language, words }
}

/**
 * Chooses the language that a browser prefers, by its `Accept-Language` header.
 * `de-AT` also takes `de`. Without one, the first language.
 */
export function chooseLanguage(
  header: string | null,
  languages: readonly string[],
): string {
  const wanted = (header ?? '')
    .split(',')
    .map((part) => {
      const [name = '', ...parameters] = part.trim().split(/\s*;\s*/)
      const q = parameters.find((one) => /^q=/i.test(one))?.slice(2)
      return { name: name.toLowerCase(), q: q === undefined ? 1 : Number(q) }
    })
    .filter(({ name, q }) => name && q > 0)
    .sort((a, b) => b.q - a.q)
  for (const { name } of wanted)
    for (const asked of [name, name.split('-')[0]]) {
      const found = languages.find((one) => one.toLowerCase() === asked)
      if (found) return found
    }
  return languages[0] ?? ''
}
