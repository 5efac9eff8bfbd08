// Runs in the pages of the site, in front of the theme's script, which asks it
// how to rank and to show what the index finds.
globalThis.siteSearch = (() => {
  const shownBefore = 40
  const shownAfter = 110

  const isGuide = ({ sections }) => sections !== undefined
  const nameOf = ({ title, name }) => title ?? name

  /** Guides named for the words, then names, guides that say them, the rest. */
  function rank(row, words, score) {
    const name = nameOf(row).toLowerCase()
    const word = words.toLowerCase()
    const last = name.split('.').at(-1)
    const rest = Math.min(score, 99)
    if (row.isLast) return rest
    if (isGuide(row) && name.includes(word)) return 5000 - name.indexOf(word)
    if (last === word) return row.title ? 4000 : 3000 + rest
    if (isGuide(row) && isHeading(sectionOf(row, word), word)) return 2500
    if (last.startsWith(word)) return (row.title ? 2200 : 2000) - name.length
    if (isGuide(row)) return 1000 + countOf(row, word)
    return name.includes(word) ? 500 - name.length : rest
  }

  /** `Windows` for `window`, but not `Window is over`. */
  const isHeading = ({ heading }, word) =>
    heading.toLowerCase().startsWith(word) && heading.length < word.length + 3

  const countOf = ({ sections }, word) =>
    sections.reduce(
      (sum, { text }) => sum + text.toLowerCase().split(word).length - 1,
      0,
    )

  /** The part of a guide that says the words, at best in its heading. */
  function sectionOf({ name, sections }, words) {
    const word = words.toLowerCase()
    const has = (text) => text.toLowerCase().includes(word)
    if (has(name)) return sections[0]
    return (
      sections.find(({ heading }) => has(heading)) ??
      sections.find(({ text }) => has(text)) ??
      sections[0]
    )
  }

  function urlOf(row, words) {
    const anchor = isGuide(row) ? sectionOf(row, words)?.anchor : ''
    return anchor ? `${row.url}#${anchor}` : row.url
  }

  /** The words with what stands around them, or the beginning. */
  function excerptOf(text, words) {
    const at = text.toLowerCase().indexOf(words.toLowerCase())
    const from = Math.max(0, at - shownBefore)
    const limit = Math.max(0, at) + shownAfter
    const start = from > 0 ? text.indexOf(' ', from) + 1 : 0
    // End at a space, so that no word is cut.
    const space = text.lastIndexOf(' ', limit)
    const to = limit < text.length && space > at ? space : limit
    return `${start > 0 ? '… ' : ''}${text.slice(start, to)}${to < text.length ? ' …' : ''}`
  }

  const encode = (text) =>
    text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)

  function mark(text, words) {
    const at = text.toLowerCase().indexOf(words.toLowerCase())
    if (!words || at < 0) return encode(text)
    const end = at + words.length
    return `${encode(text.slice(0, at))}<mark>${encode(text.slice(at, end))}</mark>${mark(text.slice(end), words)}`
  }

  function show(row, words) {
    const section = isGuide(row) ? sectionOf(row, words) : undefined
    const parts = [
      ['name', nameOf(row)],
      ['parent', section ? section.heading || 'Guide' : row.parent],
      ['snippet', excerptOf(section?.text ?? row.text ?? '', words)],
    ]
    const spans = parts
      .filter(([, text]) => text)
      .map(
        ([kind, text]) => `<span class="${kind}">${mark(text, words)}</span>`,
      )
    return `<span class="text">${spans.join(' ')}</span>`
  }

  return { rank, urlOf, show }
})()
