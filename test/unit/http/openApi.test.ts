import type { Subscriptions } from 'countersign/subscriptions'
import { expect, test } from 'vitest'
import { createRoutes } from '../../../src/http/routes/routes.js'
import { openStub } from '../support/httpStub.js'

type Json = Record<string, unknown>
type Document = {
  openapi: string
  servers?: { url: string }[]
  paths: Record<string, Record<string, Json & { operationId: string }>>
}

// No route is run here, so a verb is enough.
const subscriptions = {
  charge: () => Promise.reject(),
} as Partial<Subscriptions> as Subscriptions

async function readDocument(basePath?: string): Promise<Document> {
  const ask = openStub({}, { basePath, subscriptions })
  return (await ask(`${basePath ?? ''}/openapi.json`)).json()
}

const document = await readDocument('/payments')

/** What a pointer of the document leads to. */
const follow = (pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((at, name) => (at as Json | undefined)?.[name], document)

test('the document is of OpenAPI 3.1, and says where it stands', async () => {
  expect(document.openapi).toMatch(/^3\.1\./)
  expect(document.servers).toEqual([{ url: '/payments' }])
  expect((await readDocument()).servers).toBeUndefined()
})

test('every route is in the document, and nothing else', () => {
  const written = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = createRoutes('', subscriptions).map(
    ({ method, path }) => `${method} ${path}`,
  )
  expect(written.sort()).toEqual(served.sort())
  expect(served).toHaveLength(41)
  expect(createRoutes('')).toHaveLength(29)
})

test('every reference leads somewhere, and every schema is led to', () => {
  const text = JSON.stringify(document)
  const pointers = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, pointer = '']) => pointer,
  )
  expect(pointers.length).toBeGreaterThan(40)
  for (const pointer of new Set(pointers))
    expect([pointer, typeof follow(pointer)]).toEqual([pointer, 'object'])
  const schemas = Object.keys(follow('#/components/schemas') as Json)
  for (const name of schemas)
    expect(pointers).toContain(`#/components/schemas/${name}`)
})

test('operations have names of their own, security and a problem', () => {
  const operations = Object.values(document.paths).flatMap(Object.values)
  const names = operations.map(({ operationId }) => operationId)
  expect(new Set(names).size).toBe(names.length)
  for (const { operationId, security, responses } of operations) {
    expect([operationId, Array.isArray(security)]).toEqual([operationId, true])
    expect(responses).toHaveProperty('default')
  }
})

test('what a buyer must send is required, what a merchant may is not', () => {
  const bodyOf = (path: string) =>
    document.paths[path]?.post?.requestBody as Json
  expect(bodyOf('/orders/{orderId}/payment').required).toBe(true)
  expect(bodyOf('/merchant/orders').required).toBe(true)
  expect(bodyOf('/merchant/reconcile').required).toBe(false)
  expect(bodyOf('/merchant/orders/{orderId}/capture').required).toBe(false)
})

const parametersOf = (operation: Json = {}) => operation.parameters as Json[]

test('path, query and header parameters are told', () => {
  const namesOf = (path: string, method: string) =>
    parametersOf(document.paths[path]?.[method]).map(
      ({ name, in: place }) => `${place} ${name}`,
    )
  expect(namesOf('/merchant/orders', 'get')).toEqual(
    [
      'state',
      'payer',
      'chainId',
      'token',
      'recipient',
      'transaction',
      'before',
      'limit',
    ].map((name) => `query ${name}`),
  )
  expect(namesOf('/orders/{orderId}/events', 'get')).toEqual([
    'path orderId',
    'header Last-Event-ID',
  ])
  expect(namesOf('/merchant/events', 'get')).toEqual([
    'query after',
    'query orderId',
    'header Last-Event-ID',
  ])
})
