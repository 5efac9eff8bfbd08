import * as z from 'zod'
import { createAnswerSchemas } from '../schemas/answerSchemas.js'
import { type BodySchemas, createBodySchemas } from '../schemas/bodySchemas.js'
import { createEventSchemas } from '../schemas/eventSchemas.js'
import { pathParameters } from './findRoute.js'
import type { BodyName, Route } from './route.js'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of these routes. */
export function openApi(routes: readonly Route[], basePath: string): Json {
  const bodies = createBodySchemas()
  const paths: Record<string, Json> = {}
  for (const route of routes)
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(route, bodies),
    }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Payments',
      version: '1',
      description:
        'Integers are decimal strings, addresses lower case. Buyers send the buyerToken of their order or subscription, merchants the sign-in of their shop.',
    },
    ...(basePath === '' ? {} : { servers: [{ url: basePath }] }),
    paths,
    components: {
      schemas: componentSchemas({
        ...createAnswerSchemas(),
        ...createEventSchemas(),
        ...bodies,
      }),
      securitySchemes: {
        buyerToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'The buyerToken of the order or subscription.',
        },
        merchant: {
          type: 'http',
          scheme: 'bearer',
          description: 'The sign-in that the shop gives its merchants.',
        },
      },
      responses: { Problem: problemResponse() },
    },
  }
}

function operation(route: Route, bodies: BodySchemas): Json {
  const { name, who, path, summary, body } = route
  const security = {
    buyer: 'buyerToken',
    subscriber: 'buyerToken',
    merchant: 'merchant',
  } as const
  return {
    operationId: name,
    summary,
    tags: [who],
    security:
      who === 'public' || who === 'prober' ? [] : [{ [security[who]]: [] }],
    ...(path.includes('{') || route.query || route.headers
      ? { parameters: parametersOf(route) }
      : {}),
    ...(body === undefined
      ? {}
      : { requestBody: requestBody(body, bodies[body]) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, name]) => [
          status,
          response(name),
        ]),
      ),
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

function requestBody(name: BodyName, schema: z.ZodType): Json {
  return {
    required: !schema.safeParse(undefined).success,
    content: { 'application/json': { schema: refTo(name) } },
  }
}

function response(name: Route['answers'][number]): Json {
  switch (name) {
    case 'BuyerEventStream':
      return eventStream('BuyerEvent')
    case 'OrderEventStream':
      return eventStream('OrderEvent', 'StreamStatus')
    case 'ledgerFile':
      return ledgerFile()
    case 'openApi':
      return {
        description: 'OpenAPI 3.1',
        content: { 'application/json': { schema: { type: 'object' } } },
      }
    default:
      return {
        description: name,
        content: { 'application/json': { schema: refTo(name) } },
      }
  }
}

/**
 * Describes a stream of server-sent events. OpenAPI 3.2 has `itemSchema` for
 * that; 3.1 does not, so `x-itemSchema` carries it.
 */
function eventStream(name: string, ...others: string[]): Json {
  const text = { type: 'string' }
  const data = {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: others.length
      ? { oneOf: [name, ...others].map(refTo) }
      : refTo(name),
  }
  return {
    description: `Server-sent events; the data of each is a ${[name, ...others].join(' or ')} as JSON`,
    content: {
      'text/event-stream': {
        schema: text,
        'x-itemSchema': {
          type: 'object',
          properties: { id: text, event: text, data },
        },
      },
    },
  }
}

function ledgerFile(): Json {
  const content = { schema: { type: 'string' } }
  return {
    description: 'A file; `format` decides its type',
    content: {
      'text/csv': content,
      'application/x-ndjson': content,
      'text/plain': content,
    },
  }
}

function problemResponse(): Json {
  return {
    description: 'A problem (RFC 9457)',
    content: { 'application/problem+json': { schema: refTo('Problem') } },
  }
}

function parametersOf({ path, query, headers = {} }: Route): Json[] {
  const text = { type: 'string' }
  const inPath = pathParameters
    .filter((name) => path.includes(`{${name}}`))
    .map((name) => ({ name, in: 'path', required: true, schema: text }))
  const { properties = {} } = query ? z.toJSONSchema(query) : {}
  return [
    ...inPath,
    ...Object.entries(properties).map(([name, schema]) => ({
      name,
      in: 'query',
      schema,
    })),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      description,
      schema: text,
    })),
  ]
}

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

function componentSchemas(
  named: Record<string, z.ZodType>,
): Record<string, Json> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [
      name,
      schema,
    ]),
  )
}
