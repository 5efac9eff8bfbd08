import { memoryStore } from 'countersign/store'
import { storeCases } from 'countersign/testing'
import { expect, test } from 'vitest'
import { brokenStores } from '../support/brokenStores.js'

const runs = brokenStores.flatMap(({ defect, make, fails }) =>
  fails.map((name) => ({ defect, make, name })),
)

test.each(runs)('when $defect, it fails: $name', async ({ make, name }) => {
  const run = storeCases.find((it) => it.name === name)?.run
  const error = await run?.(make()).catch((it: unknown) => it)
  expect(error).toBeInstanceOf(Error)
  expect(Object(error).message).toMatch(/\.$|the write failed|near "where"/)
})

test('each case is failed by a store that breaks its rule', () => {
  const failing = new Set(brokenStores.flatMap(({ fails }) => fails))
  expect(
    storeCases.map(({ name }) => name).filter((it) => !failing.has(it)),
  ).toEqual([])
})

test('a case says which rule was broken, and by what', async () => {
  const store = memoryStore({ volatile: true })
  const broken = { ...store, releaseLease: async () => undefined }
  const [fenced] = storeCases.filter(({ name }) =>
    /released lease is/.test(name),
  )
  await expect(fenced?.run(() => broken)).rejects.toThrow(
    'A free lease was not given to two.',
  )
  const forgetful = { ...store, open: async () => ({ identity: '' }) }
  const [named] = storeCases.filter(({ name }) => /^every handle/.test(name))
  await expect(named?.run(() => forgetful)).rejects.toThrow(
    'An identity has letters: expected true, got false.',
  )
})

test('case names are sentences, and each is there once', () => {
  const names = storeCases.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z\d].*[^.]$/)
})
