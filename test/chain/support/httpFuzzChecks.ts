import { toJson } from '../../../src/core/toJson.js'
import { problemTable } from '../../../src/http/schemas/problemTable.js'
import { type Plan, requestOf } from './httpFuzzRequests.js'
import { buyerSite, type FuzzWorld } from './httpFuzzWorld.js'
import { findSecrets, secretForms } from './secretForms.js'

type Answered = { status: number; reason: string | undefined }

/** What was told in all, and what of it nobody may be told. */
export type Ear = {
  /** Answers a plan and holds the answer to the rules; nothing if unsendable. */
  ask(plan: Plan): Promise<Answered | undefined>
  /** Secrets that were told, with the text they stand in. */
  leaks(): string[]
  /** How often each status was answered. */
  counts: Map<string, number>
}

export function openEar(world: FuzzWorld): Ear {
  const told = new Set<string>()
  const drawn: string[] = []
  const counts = new Map<string, number>()
  return {
    counts,
    ask: async (plan) => {
      const request = requestOf(plan)
      if (!request) return undefined
      const response = await world.handle(request)
      const { text, token } = await textOf(plan, response)
      if (token) drawn.push(token)
      told.add(JSON.stringify([...response.headers]))
      told.add(text)
      const answered = checkAnswer(plan, response, text)
      const label = `${answered.status} ${answered.reason ?? ''}`
      counts.set(label, (counts.get(label) ?? 0) + 1)
      return answered
    },
    leaks: () => {
      const content = [...told, ...world.observed.map(toJson)].join('\n')
      return findSecretsIn(world, content, drawn)
    },
  }
}

/** Signatures in any form, and what buyers prove themselves with. */
export function findSecretsIn(
  { known }: FuzzWorld,
  content: string,
  drawn: readonly string[] = [],
): string[] {
  const forms = known.flatMap(({ signed, cancellation }) => [
    ...secretForms(signed.signature),
    ...secretForms(cancellation.signature),
  ])
  const text = content.toLowerCase()
  const tokens = [...known.map(({ token }) => token), ...drawn]
  return [
    ...findSecrets(Buffer.from(content), forms),
    ...tokens.filter((token) => text.includes(token)).map(() => 'a token'),
  ]
}

/** What an answer says, without what only the one who asked is given. */
async function textOf(
  { method, path }: Plan,
  response: Response,
): Promise<{ text: string; token?: string }> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) {
    const reader = response.body?.getReader()
    const first = await reader?.read()
    await reader?.cancel()
    return { text: new TextDecoder().decode(first?.value) }
  }
  const text = await response.text()
  const isCreate =
    response.status === 201 &&
    method.toUpperCase() === 'POST' &&
    path.startsWith('/merchant/orders')
  const isCancellation =
    response.status === 200 && /\/cancellation(\/approve)?$/.test(path)
  if (!isCreate && !isCancellation) return { text }
  const { buyerToken, call, ...rest } = JSON.parse(text)
  return { text: JSON.stringify(rest), token: buyerToken }
}

/** Holds an answer to what every answer is. */
function checkAnswer(
  { method, path }: Plan,
  { status, headers }: Response,
  text: string,
): Answered {
  const type = headers.get('content-type')
  const cache = headers.get('cache-control')
  const cors = headers.get('access-control-allow-origin')
  const isDocument = path.startsWith('/openapi.json') && status === 200
  const fail = (what: string): never => {
    throw new Error(
      `${what}: ${method} ${path} was answered ${status} ${text.slice(0, 500)}`,
    )
  }
  const isKept = !/^no-store(, no-transform)?$/.test(cache ?? '')
  if (!isDocument && isKept) fail(`cache-control ${cache}`)
  if (cors !== null && cors !== buyerSite) fail(`open to ${cors}`)
  if (cors !== null && /^\/merchant/.test(path))
    fail('a merchant’s route is open')
  if (headers.has('set-cookie')) fail('a cookie')
  if (status < 400) return { status, reason: undefined }
  if (type !== 'application/problem+json') fail(`type ${type}`)
  const body = JSON.parse(text)
  const { reason } = body
  if (!Object.hasOwn(problemTable, reason)) fail('no known reason')
  if (body.status !== status) fail('another status')
  if (body.type !== `urn:countersign:problem:${reason}`) fail('another type')
  const names = Object.keys(body).filter((name) => name !== 'field')
  if (names.join() !== 'type,title,status,detail,reason') fail('other members')
  if (status >= 500) fail('a fault')
  if (text.length > 1_000) fail('a long answer')
  return { status, reason }
}
