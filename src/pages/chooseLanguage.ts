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
