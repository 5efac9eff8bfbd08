import { InvalidFieldError } from 'countersign'
import {
  germanWords as de,
  englishWords as en,
  type PageWords,
} from 'countersign/pages'
import { expect, test } from 'vitest'
import { dataOf, openPages } from '../support/openPages.js'

const namesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()

test('German has every text of English, with the same values in it', () => {
  expect(Object.keys(de)).toEqual(Object.keys(en))
  for (const [name, text] of Object.entries(en)) {
    const german = de[name as keyof PageWords]
    expect([name, namesIn(german)]).toEqual([name, namesIn(text)])
    expect(german, name).not.toBe('')
  }
})

test('a text is German only if it is not the English one', () => {
  const same = Object.entries(en)
    .filter(([name, text]) => de[name as keyof PageWords] === text)
    .map(([name]) => name)
  expect(same).toEqual(['salt'])
})

const french: PageWords = { ...en, loading: 'Chargement' }

test.each([
  [null, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['de-AT, en;q=0.5', 'de'],
  ['en;q=0.5, de', 'de'],
  ['es, de;q=0.3', 'de'],
  ['fr-CA', 'fr'],
  ['de;q=0, fr;q=0.1', 'fr'],
  ['es', 'en'],
  ['*', 'en'],
  ['x'.repeat(5_000), 'en'],
])('a browser that wants %j gets %s', async (accepted, language) => {
  const { ask } = openPages({ languages: { fr: french } })
  const headers: HeadersInit =
    accepted === null ? {} : { 'accept-language': accepted }
  const answer = await ask('/pay/one', { headers })
  expect(answer.headers.get('content-language')).toBe(language)
  expect(answer.headers.get('vary')).toBe('accept-language')
  expect(await answer.text()).toContain(`<html lang="${language}">`)
})

test('a shop of one language speaks it to everybody', async () => {
  const { ask } = openPages({ language: 'de' })
  const headers = { 'accept-language': 'en' }
  const data = await dataOf(ask('/pay/one', { headers }))
  expect(data).toMatchObject({ language: 'de', words: de })
})

test('texts of a shop stand in for those that are shipped', async () => {
  const languages = { en: { ...en, sign: 'Give your word for {amount}' } }
  const { ask } = openPages({ languages })
  const { words } = await dataOf(ask('/pay/one'))
  expect(words).toEqual(languages.en)
})

test.each([
  [{ ...en, loading: undefined }, 'languages.fr.loading'],
  [{ ...en, loading: '' }, 'languages.fr.loading'],
  [{ ...en, extra: 'text' }, 'languages.fr'],
  [{}, 'languages.fr.payTo'],
  [undefined, 'languages.fr.payTo'],
])('texts that are not complete are refused by their name', (fr, field) => {
  let thrown: unknown
  try {
    openPages({ languages: { fr: fr as PageWords } })
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(InvalidFieldError)
  expect(Object(thrown).details.field).toBe(field)
})
