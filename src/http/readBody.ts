import type * as z from 'zod'
import { readBytes } from '../core/readBytes.js'
import { checkShape } from './checkShape.js'
import { RequestRefusedError } from './routes/errors.js'

const mostBytes = 65_536

const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * Reads and checks the JSON body of a request. Stops reading after 64 KiB.
 * Returns `undefined` if the body is empty and the schema allows that.
 *
 * @throws {@link RequestRefusedError}
 */
export async function readBody<body>(
  request: Request,
  schema: z.ZodType<body>,
): Promise<body> {
  const type = request.headers.get('content-type')
  if (type !== null && !jsonType.test(type))
    throw new RequestRefusedError('wrongContentType')
  const text = await readText(request)
  if (type === null && text !== '')
    throw new RequestRefusedError('wrongContentType')
  const isLeftOut = text === '' && schema.safeParse(undefined).success
  if (type === null && !isLeftOut)
    throw new RequestRefusedError('wrongContentType')
  if (isReadBefore(request, text))
    throw malformed(
      'was read before it came here: give the handler the raw request, ahead of express.json() and other body parsers',
    )
  return checkShape(schema, isLeftOut ? undefined : parse(text), 'body')
}

/**
 * True when a body parser, such as express.json(), has already consumed the
 * body, or has put an object in its place (which reads as `[object Object]`).
 */
function isReadBefore({ headers }: Request, text: string): boolean {
  const isGone = text === '' && Number(headers.get('content-length')) > 0
  return isGone || text === '[object Object]'
}

async function readText(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length')) > mostBytes)
    throw new RequestRefusedError('tooLarge')
  const bytes = await readBytes(request.body, mostBytes).catch(() => {
    throw malformed('could not be read to its end')
  })
  if (!bytes) throw new RequestRefusedError('tooLarge')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw malformed('is not text in UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('is not JSON')
  }
}

function malformed(problem: string): RequestRefusedError {
  return new RequestRefusedError('invalidField', {
    field: 'body',
    detail: `The body ${problem}.`,
  })
}
