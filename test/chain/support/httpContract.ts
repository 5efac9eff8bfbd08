import type { PaymentHandler } from 'countersign/http'
import * as z from 'zod'

type Json = Record<string, unknown>

type Operation = {
  operationId: string
  responses: Record<string, { $ref?: string; content?: Content }>
}

type Content = Record<string, { schema: Json }>

export type Contract = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json>; responses: Json }
}

/** The document a handler serves of itself. */
export async function readContract(
  handle: PaymentHandler,
  base: string,
): Promise<Contract> {
  const response = await handle(new Request(`${base}/openapi.json`))
  return response.json()
}

/** What in an answer is not as the document says, if anything. */
export function checkAnswer(
  contract: Contract,
  asked: { method: string; path: string },
  answer: { status: number; type: string | null; body: unknown },
): unknown {
  const { status, type } = answer
  const operation = findOperation(contract, asked)
  if (!operation || status >= 400)
    return type === 'application/problem+json'
      ? misfits(contract, { $ref: '#/components/schemas/Problem' }, answer.body)
      : `${status} as ${type}`
  const content = operation.responses[status]?.content?.[type ?? '']
  return content
    ? misfits(contract, content.schema, answer.body)
    : `${operation.operationId} answers ${status} as ${type}`
}

function findOperation(
  { paths }: Contract,
  { method, path }: { method: string; path: string },
): Operation | undefined {
  const [pathname = ''] = path.split('?')
  const name = Object.keys(paths).find((template) =>
    RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )
  return name === undefined ? undefined : paths[name]?.[method.toLowerCase()]
}

/** By the JSON Schema in the document, not by what it was made of. */
function misfits(
  { components }: Contract,
  schema: Json,
  body: unknown,
): unknown {
  const text = JSON.stringify({ ...schema, $defs: components.schemas })
  const whole = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'))
  return z.fromJSONSchema(whole).safeParse(body).error?.issues
}
